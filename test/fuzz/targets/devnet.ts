/** Requests of clients to the embedded node: bodies, keys, paths and queries, through its real routes. */
import { startNode } from '../../../src/devnet/devnet.ts'
import type { App } from '../../../src/devnet/http/app.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { commandPayload, funded, signed, signText } from '../../devnet/command.ts'
import { headers, payloads, proofs, works } from '../seeds.ts'
import { bytesOf, expect, jsonBytes, type Target, textOf } from '../target.ts'

const PREFIX = '/chainweb/0.0/development'
const CHAIN = `${PREFIX}/chain/0`
const JSON_BODY = { 'content-type': 'application/json' }
const BINARY = { 'content-type': 'application/octet-stream' }
/** Statuses that a node may give if it cannot serve a request now. */
const NOT_NOW = [503, 504]
const hash = 'A'.repeat(43)

/** A node of two chains, each with a block; requests need no connection. */
async function openNode() {
  let app: App | undefined
  const machine = {
    clock: systemClock,
    random: () => 0.5,
    packageVersion: '0.0.0',
    search: { search: () => Promise.reject(new Error('nothing is to be searched')), close: () => Promise.resolve() },
    maxConnections: 10,
  }
  const options = { port: 0, graph: 'pair', autoMine: { kind: 'on-demand' }, listenMs: 1, updateStreamMs: 1 } as const
  const { devnet } = await startNode(options, machine, (each) => {
    app = each
  })
  if (app === undefined) throw new Error('the node has no application')
  const node = new Node(app, Number(new URL(devnet.url).port), devnet.close)
  await node.request('POST', '/make-blocks', JSON_BODY, jsonBytes({ 0: 2, 1: 2 }))
  return node
}

class Node {
  readonly port: number
  readonly close: () => Promise<void>
  readonly #app: App

  constructor(app: App, port: number, close: () => Promise<void>) {
    this.#app = app
    this.port = port
    this.close = close
  }

  /** The answer. A failure of the node itself is a fault. */
  async request(method: 'GET' | 'POST' | 'PUT', url: string, headers: Record<string, string> = {}, body?: Uint8Array) {
    const payload = body === undefined ? {} : { payload: Buffer.from(body) }
    const answer = await this.#app.inject({ method, url, headers: { host: 'localhost', ...headers }, ...payload })
    const { statusCode } = answer
    const isServed = statusCode < 500 || NOT_NOW.includes(statusCode)
    expect(isServed, `${method} ${url.slice(0, 80)} is answered with ${statusCode}: ${answer.body.slice(0, 200)}`)
    return answer
  }
}

type Use = (node: Node, bytes: Uint8Array) => Promise<unknown>

/** @param make seeds that need the node */
function withNode(
  name: string,
  seeds: (node: Node) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>,
  use: Use,
  more: Partial<Target> = {},
): Target {
  return {
    name: `node is sent: ${name}`,
    share: 0.1,
    ...more,
    open: async () => {
      const node = await openNode()
      return { seeds: await seeds(node), read: (bytes) => use(node, bytes), close: node.close }
    },
  }
}

/** A target that sends JSON bodies to one path. */
function post(name: string, path: string, seeds: readonly unknown[], method: 'POST' | 'PUT' | 'GET' = 'POST'): Target {
  return withNode(
    name,
    () => seeds.map(jsonBytes),
    (node, bytes) => node.request(method, path, JSON_BODY, bytes),
  )
}

const command = () => signed()
const keys = [hash, `${'B'.repeat(42)}A`]
const webAuthn = {
  authenticatorData: 'AAAA',
  clientDataJSON: Buffer.from(JSON.stringify({ challenge: hash })).toString('base64'),
  signature: 'MEUCIQ',
}
/** COSE key of P-256: a map of five. */
const coseKey = `a5010203262001215820${'6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296'}225820${'4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5'}`
const exec = (code: string, data: unknown = {}) => ({ payload: { exec: { code, data } } })
const payloadTexts = () =>
  [
    commandPayload(),
    commandPayload({}, exec('(coin.get-balance "sender00")', { a: 1.5 })),
    commandPayload(
      {},
      { payload: { cont: { pactId: hash, step: 1, rollback: false, proof: proofs[0].slice(0, 400), data: {} } } },
    ),
    commandPayload(
      { gasPrice: '0.00000001', ttl: { int: 600 } },
      { verifiers: [{ name: 'a', proof: 'p', clist: [] }] },
    ),
  ].map((each) => JSON.stringify(each))

/** The cut of the node as a peer would send it, with headers and payloads. */
async function cutSeeds(node: Node): Promise<Uint8Array[]> {
  const origin = { id: null, address: { hostname: '127.0.0.1', port: node.port } }
  await node.request('PUT', `${PREFIX}/cut/peer`, JSON_BODY, jsonBytes(origin))
  const cut = JSON.parse((await node.request('GET', `${PREFIX}/cut`)).body)
  const blocks = JSON.parse((await node.request('GET', `${CHAIN}/block`)).body)
  const headersOf = Object.fromEntries(
    blocks.items.map(({ header }: { header: { hash: string } }) => [header.hash, header]),
  )
  const texts = JSON.parse((await node.request('GET', `${CHAIN}/header`)).body)
  const textsOf = Object.fromEntries(texts.items.map((text: string, i: number) => [blocks.items[i].header.hash, text]))
  return [
    jsonBytes({ ...cut, origin }),
    jsonBytes({ ...cut, origin, headers: headersOf, payloads: { [hash]: payloads[0] } }),
    jsonBytes({ ...cut, origin, headers: textsOf }),
  ]
}

/** Path segments and queries, with every character that a URL may contain. */
const urlSeeds = [
  ...[
    `${CHAIN}/header?limit=2&minheight=0`,
    `${CHAIN}/hash?next=inclusive:${hash}`,
    `${CHAIN}/payload/${hash}?height=1`,
  ],
  ...[
    `${CHAIN}/header/${hash}`,
    `${CHAIN}/block?maxheight=1`,
    `${PREFIX}/cut?maxheight=3`,
    `${PREFIX}/cut/peer?next=inclusive:1`,
  ],
  ...['/info', '/config', '/check-backup/abc', '/health-check', '/openapi.json', `${CHAIN}/payload/${hash}/outputs`],
]

/** The largest orders are legitimate, and slow. */
function isLargeOrder(bytes: Uint8Array): boolean {
  return /\d{3}|[eE]/.test(textOf(bytes).replaceAll(/"[^"]*"/g, ''))
}

export const devnetTargets: readonly Target[] = [
  post('commands', `${CHAIN}/pact/api/v1/send`, [{ cmds: [command()] }, { cmds: [command(), command()] }]),
  post('a command to execute', `${CHAIN}/pact/api/v1/local`, [command()]),
  post('a private command', `${CHAIN}/pact/api/v1/private`, [command()]),
  post('request keys to poll', `${CHAIN}/pact/api/v1/poll`, [{ requestKeys: keys }]),
  post('a request key to listen for', `${CHAIN}/pact/api/v1/listen`, [{ listen: hash }]),
  post('a request for a proof', `${CHAIN}/pact/spv`, [{ requestKey: hash, targetChainId: '1' }]),
  post('transactions of a peer', `${CHAIN}/mempool/insert`, [[JSON.stringify(command())]], 'PUT'),
  post('keys for the mempool', `${CHAIN}/mempool/member`, [keys]),
  post('keys to look up in the mempool', `${CHAIN}/mempool/lookup`, [keys]),
  post('bounds of a branch', `${CHAIN}/header/branch?limit=2`, [{ upper: keys, lower: [] }]),
  post('keys of payloads', `${CHAIN}/payload/outputs/batch`, [keys, { hashes: keys, heights: [1, 2] }]),
  post(
    'an account for work',
    `${PREFIX}/mining/work?chain=0`,
    [{ account: 'k:ab', predicate: 'keys-all', 'public-keys': ['ab'] }],
    'GET',
  ),
  withNode(
    'solved work',
    () => [...works, headers[0].subarray(0, 286)],
    (node, bytes) => node.request('POST', `${PREFIX}/mining/solved`, BINARY, bytes),
  ),
  withNode('a cut', cutSeeds, (node, bytes) => node.request('PUT', `${PREFIX}/cut`, JSON_BODY, bytes)),
  withNode(
    'a peer',
    ({ port }) => [jsonBytes({ id: null, address: { hostname: '127.0.0.1', port } })],
    (node, bytes) => node.request('PUT', `${PREFIX}/cut/peer`, JSON_BODY, bytes),
    { share: 0.03 },
  ),
  post('a difficulty', '/devnet/difficulty', [{ difficulty: 100 }, { difficulty: '1000' }]),
  post('a block delay', '/devnet/block-delay', [{ blockDelayMs: 100.5 }]),
  post('a chain to pause', '/devnet/pause', [{ chain: 1 }]),
  post('a chain to resume', '/devnet/resume', [{ chain: 1 }]),
  post('an action on streams', '/devnet/streams', [{ action: 'stall', stream: 'all' }]),
  post('a fault', '/devnet/faults', [
    { operation: 'work', count: 2, status: 500, body: 'x', contentType: 'text/plain' },
  ]),
  post('an advance of the clock', '/devnet/clock', [{ advanceMs: 1000 }]),
  ...(['/devnet/fork', '/make-blocks'] as const).map((path) =>
    withNode(
      path === '/make-blocks' ? 'an order of blocks' : 'an order of a fork',
      () => [path === '/make-blocks' ? { 0: 1, 1: 1 } : { chain: 0, depth: 1 }].map(jsonBytes),
      async (node, bytes) => (isLargeOrder(bytes) ? null : node.request('POST', path, JSON_BODY, bytes)),
      { share: 0.02, maxMs: 2_000 },
    ),
  ),
  withNode(
    'paths and queries',
    () => urlSeeds.map(bytesOf),
    (node, bytes) => {
      // Segments as clients write them: characters that a URL may not contain are escaped.
      const url = textOf(bytes).replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, (each) => encodeURIComponent(each))
      return node.request('GET', `/${url.replace(/^\/+/, '').replaceAll('#', '%23')}`)
    },
  ),
  withNode(
    'the text of a signed command',
    () => payloadTexts().map(bytesOf),
    async (node, bytes) => {
      const body = signText(textOf(bytes))
      await node.request('POST', `${CHAIN}/pact/api/v1/local?preflight=true`, JSON_BODY, jsonBytes(body))
      await node.request('POST', `${CHAIN}/pact/api/v1/send`, JSON_BODY, jsonBytes({ cmds: [body] }))
    },
  ),
  withNode(
    'code that is executed in a block',
    () =>
      [
        '(+ 1 2)',
        '(coin.transfer "sender00" "k:a" 1.5)',
        '(module m G (defcap G () true) (defpact p () (step (yield {"a": 1}))))',
      ].map(bytesOf),
    async (node, bytes) => {
      const body = signed({}, exec(textOf(bytes), { a: [1.5, { b: null }] }))
      const { statusCode } = await node.request(
        'POST',
        `${CHAIN}/pact/api/v1/send`,
        JSON_BODY,
        jsonBytes({ cmds: [body] }),
      )
      if (statusCode !== 200) return
      await node.request('POST', '/make-blocks', JSON_BODY, jsonBytes({ 0: 1, 1: 1 }))
      await node.request('POST', `${CHAIN}/pact/api/v1/poll`, JSON_BODY, jsonBytes({ requestKeys: [body.hash] }))
    },
    { share: 0.02, maxMs: 1_000 },
  ),
  withNode(
    'signatures of authenticators',
    () => [jsonBytes({ pubKey: `WEBAUTHN-${coseKey}`, sig: JSON.stringify(webAuthn) })],
    (node, bytes) => {
      const { pubKey, sig } = ownOrNone(textOf(bytes))
      const signers = [{ pubKey, scheme: 'WebAuthn', clist: [] }]
      const body = { ...signText(JSON.stringify(commandPayload({}, { signers })), [funded]), sigs: [{ sig }] }
      return node.request('POST', `${CHAIN}/pact/api/v1/send`, JSON_BODY, jsonBytes({ cmds: [body] }))
    },
  ),
]

function ownOrNone(text: string): { readonly pubKey: string; readonly sig: string } {
  try {
    const { pubKey, sig } = Object(JSON.parse(text))
    if (typeof pubKey === 'string' && typeof sig === 'string') return { pubKey, sig }
  } catch {
    // Not JSON: use the text for both.
  }
  return { pubKey: text, sig: text }
}
