/** Clients with one defect each, and the rule or situation that must notice it. */
import http from 'node:http'
import { makeValue } from '../../src/client/conformance/makes.ts'
import { decodeBase64Url } from '../../src/ground/base/bytes.ts'
import { until } from '../wait.ts'

/** Sends requests to the served node as a client would. */
export interface Asker {
  readonly ask: (method: string, path: string, sent?: Sent) => Promise<Got>
  /** A command that `sender00` has signed, with these parts. */
  readonly command: (parts?: object) => { readonly cmd: string; readonly hash: string; readonly sigs: unknown }
  /** Moves the clock of the server, not that of the node. */
  readonly pass: (ms: number) => void
  readonly url: string
}

export interface Sent {
  readonly json?: unknown
  readonly bytes?: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** The target in the request line, if it is not the path. */
  readonly target?: string
}

export interface Got {
  /** 0 if the connection closed before the whole answer. */
  readonly status: number
  readonly body: Buffer
}

export interface ClientDefect {
  readonly name: string
  readonly client: (asker: Asker) => Promise<unknown>
  /** Group and name of the rule or situation that must fail. */
  readonly caughtBy: string
  /** Whether the client leaves a duty undone, instead of doing a wrong thing. */
  readonly givesUp?: true
}

export const BASE = '/chainweb/0.0/development'
export const PACT = `${BASE}/chain/0/pact/api/v1`
const MINER = { account: 'k:ab', predicate: 'keys-all', 'public-keys': ['ab'.repeat(32)] }
const UNKNOWN = `${'A'.repeat(42)}E`

export function askerOf(url: string, pass: (ms: number) => void): Asker {
  let count = 0
  const ask: Asker['ask'] = (method, path, { json, bytes, headers = {}, target } = {}) => {
    const body = json === undefined ? bytes : Buffer.from(JSON.stringify(json))
    const typed = json === undefined ? {} : { 'content-type': 'application/json' }
    const sized = body === undefined ? {} : { 'content-length': String(body.length) }
    return new Promise((resolve) => {
      const loseAnswer = () => resolve({ status: 0, body: Buffer.alloc(0) })
      const own = { method, headers: { ...typed, ...sized, ...headers }, agent: false as const }
      const request = http.request(url + path, target === undefined ? own : { ...own, path: target })
      request.on('error', loseAnswer)
      request.on('response', (answer) => {
        if (answer.headers['content-type']?.startsWith('text/event-stream')) {
          answer.on('error', () => undefined)
          resolve({ status: answer.statusCode ?? 0, body: Buffer.alloc(0) })
          return
        }
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', loseAnswer)
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }))
      })
      request.end(body)
    })
  }
  const command: Asker['command'] = (parts = {}) => {
    const input = { chain: 0, code: '(+ 1 1)', signers: [{ key: 'sender00' }], ...parts }
    const nonce = `${url} ${count++}`
    return makeValue('command', input, {
      network: 'development',
      nowS: Math.floor(Date.now() / 1000),
      nonce,
    }) as ReturnType<Asker['command']>
  }
  return { ask, command, pass, url }
}

const rule = (name: string, caughtBy: string, client: ClientDefect['client']): ClientDefect => ({
  name,
  client,
  caughtBy,
})
/** A client that ends before it does what it must. */
const quitter = (...of: Parameters<typeof rule>): ClientDefect => ({ ...rule(...of), givesUp: true })
const send = ({ ask }: Asker, cmds: readonly unknown[], path = PACT) => ask('POST', `${path}/send`, { json: { cmds } })
const poll = ({ ask }: Asker, key: string, path = PACT) => ask('POST', `${path}/poll`, { json: { requestKeys: [key] } })

/** Work of the node, and a solution of it. */
export async function solvedWork({ ask }: Asker): Promise<Uint8Array> {
  const { body } = await ask('GET', `${BASE}/mining/work?chain=0`, { json: MINER })
  const { bytes } = makeValue(
    'solution',
    { bytes: body.toString('base64url') },
    { network: '', nowS: 0, nonce: '' },
  ) as {
    readonly bytes: string
  }
  return decodeBase64Url(bytes)
}

/** Submits a solution, and closes the connection before there is an answer. */
export const lostAnswer = ({ url }: Asker, bytes: Uint8Array) =>
  new Promise<void>((resolve) => {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': String(bytes.length) }
    const request = http.request(`${url}${BASE}/mining/solved`, { method: 'POST', headers, agent: false })
    request.on('error', () => undefined)
    request.on('close', () => resolve())
    request.end(bytes, () => request.destroy())
  })

/** Polls until the command has a result. */
export async function resultOf(asker: Asker, key: string, path = PACT): Promise<void> {
  // The clock of the server goes on, so that these requests have pauses.
  await until(async () => {
    asker.pass(1000)
    const { body } = await poll(asker, key, path)
    return body.includes('"gas"')
  })
}

/** A request that its connection does not finish properly: a GET whose body has no length. */
const rawGet = ({ url }: Asker) =>
  new Promise<void>((resolve) => {
    const request = http.request(`${url}${BASE}/mining/work`, { method: 'GET', agent: false })
    request.on('socket', (socket) => {
      socket.on('close', () => resolve())
      socket.on('connect', () => {
        socket.write(`GET ${BASE}/mining/work HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\r\n`)
        socket.write(JSON.stringify(MINER))
      })
    })
    request.on('error', () => undefined)
  })

async function proofOf(asker: Asker): Promise<{ readonly key: string; readonly proof: string }> {
  const code = '(coin.transfer-crosschain "sender00" "sender01" (at "guard" (coin.details "sender01")) "1" 1.0)'
  const caps = ['(coin.GAS)', '(coin.TRANSFER_XCHAIN "sender00" "sender01" 1.0 "1")']
  const burn = asker.command({ code, signers: [{ key: 'sender00', caps }] })
  await send(asker, [burn])
  await resultOf(asker, burn.hash)
  let proof = ''
  await until(async () => {
    asker.pass(1000)
    const json = { requestKey: burn.hash, targetChainId: '1' }
    const { status, body } = await asker.ask('POST', `${BASE}/chain/0/pact/spv`, { json })
    if (status === 200) proof = JSON.parse(body.toString())
    return status === 200
  })
  return { key: burn.hash, proof }
}

export const ruleDefects: readonly ClientDefect[] = [
  rule('a path of another system', 'requests: the path is an endpoint of live nodes', ({ ask }) =>
    ask('GET', '/eth_call'),
  ),
  rule('the control of a development network', 'requests: the path is an endpoint of live nodes', ({ ask }) =>
    ask('POST', '/make-blocks', { json: { 0: 1 } }),
  ),
  rule('POST of the cut', 'requests: the method is that of the endpoint', ({ ask }) =>
    ask('POST', `${BASE}/cut`, { json: {} }),
  ),
  rule('another network in the path', 'requests: the path names the network of the node', ({ ask }) =>
    ask('GET', '/chainweb/0.0/mainnet01/cut'),
  ),
  rule('a chain that is too high', 'requests: the chain exists', ({ ask }) => ask('GET', `${BASE}/chain/19/hash`)),
  rule('JSON as text/plain', 'requests: a body has its content type', (asker) =>
    asker.ask('POST', `${PACT}/local`, { json: asker.command(), headers: { 'content-type': 'text/plain' } }),
  ),
  rule('poll with the field of listen', 'requests: a body has the fields of its endpoint', ({ ask }) =>
    ask('POST', `${PACT}/poll`, { json: { listen: UNKNOWN } }),
  ),
  rule('a misspelled parameter', 'requests: the query has only parameters of its endpoint', ({ ask }) =>
    ask('GET', `${BASE}/chain/0/header?minHeight=1`),
  ),
  rule('a type that is not offered', 'requests: the answer may have a type that the endpoint has', ({ ask }) =>
    ask('GET', `${BASE}/cut`, { headers: { accept: 'text/html' } }),
  ),
  rule('three megabytes of commands', 'requests: a body is no longer than 2 MiB', ({ ask }) =>
    ask('POST', `${PACT}/send`, { json: { cmds: ['a'.repeat(3_000_000)] } }),
  ),
  rule('a cursor of its own making', 'requests: a cursor is one that the node knows', ({ ask }) =>
    ask('GET', `${BASE}/chain/0/hash?next=inclusive:${UNKNOWN}`),
  ),
  rule('a height as a cursor', 'requests: a cursor is one that the node knows', ({ ask }) =>
    ask('GET', `${BASE}/chain/0/hash?next=7`),
  ),
  rule('heights in the wrong order', 'requests: heights of a list ascend', ({ ask }) =>
    ask('GET', `${BASE}/chain/0/hash?minheight=5&maxheight=1`),
  ),
  rule(
    'a batch of 1001 payloads',
    'requests: a batch has no more than 1000 payloads, and a branch no more than 32 bounds',
    ({ ask }) => ask('POST', `${BASE}/chain/0/payload/batch`, { json: Array(1001).fill(UNKNOWN) }),
  ),
  rule(
    'a branch of 33 bounds',
    'requests: a batch has no more than 1000 payloads, and a branch no more than 32 bounds',
    ({ ask }) => ask('POST', `${BASE}/chain/0/hash/branch`, { json: { upper: Array(33).fill(UNKNOWN), lower: [] } }),
  ),
  rule(
    'a loop without a pause',
    'requests: equal requests in a row come no more often than 10 times a second',
    async ({ ask }) => {
      for (let i = 0; i < 12; i++) await ask('GET', `${BASE}/cut`)
    },
  ),
  rule('a GET whose body has no length', 'requests: requests are HTTP, and their bodies have a length', rawGet),
  rule('a command without a payload', 'commands: the content of a command is JSON', (asker) =>
    send(asker, [{ ...asker.command(), cmd: '{"meta":{}}' }]),
  ),
  rule('a command that was changed after its hash', 'commands: a command has the hash of its content', (asker) => {
    const { cmd, ...rest } = asker.command()
    return send(asker, [{ ...rest, cmd: cmd.replace('(+ 1 1)', '(+ 1 2)') }])
  }),
  rule('a signature of something else', 'commands: every signer has signed the hash', (asker) =>
    send(asker, [{ ...asker.command(), sigs: asker.command().sigs }]),
  ),
  rule('no signature', 'commands: every signer has signed the hash', (asker) =>
    send(asker, [{ ...asker.command(), sigs: [] }]),
  ),
  rule('a command of chain 1 at chain 0', 'commands: a command names the network and the chain of its path', (asker) =>
    send(asker, [asker.command({ chain: 1 })]),
  ),
  rule('a command for mainnet01', 'commands: a command names the network and the chain of its path', (asker) =>
    send(asker, [asker.command({ network: 'mainnet01' })]),
  ),
  rule('a week to live', 'commands: times of a command are those that nodes take', (asker) =>
    send(asker, [asker.command({ ttl: 604_800 })]),
  ),
  rule('a clock that is an hour fast', 'commands: times of a command are those that nodes take', (asker) =>
    send(asker, [asker.command({ after: 3600 })]),
  ),
  rule('a gas limit of a million', 'commands: gas limit and gas price are those that nodes take', (asker) =>
    send(asker, [asker.command({ gasLimit: 1_000_000 })]),
  ),
  rule('a gas price of 13 places', 'commands: gas limit and gas price are those that nodes take', (asker) =>
    send(asker, [asker.command({ gasPrice: '0.0000100000001' })]),
  ),
  rule('poll on another chain', 'commands: a client asks the chain that it sent the command to', async (asker) => {
    const command = asker.command()
    await send(asker, [command])
    await poll(asker, command.hash, PACT.replace('chain/0', 'chain/1'))
  }),
  rule('one command to every chain', 'commands: a command is sent to one chain only', async (asker) => {
    const command = asker.command()
    await send(asker, [command])
    await send(asker, [command], PACT.replace('chain/0', 'chain/1'))
  }),
  rule('a proof for the own chain', 'commands: a proof is asked for another chain', ({ ask }) =>
    ask('POST', `${BASE}/chain/0/pact/spv`, { json: { requestKey: UNKNOWN, targetChainId: '0' } }),
  ),
  rule(
    'a proof with another pact',
    'commands: a proof goes to its chain, with the pact that it proves',
    async (asker) => {
      const { proof } = await proofOf(asker)
      const other = asker.command({ chain: 1, code: undefined, pact: UNKNOWN, step: 1, proof })
      await send(asker, [other], PACT.replace('chain/0', 'chain/1'))
    },
  ),
  rule('a request for work without a body', 'mining: a request for work has the account in its body', ({ ask }) =>
    ask('GET', `${BASE}/mining/work`),
  ),
  rule(
    'work with another parent',
    'mining: a solution is work that the node gave, changed only where miners may',
    async (asker) => {
      const solved = Uint8Array.from(await solvedWork(asker))
      solved[20] ^= 1
      await asker.ask('POST', `${BASE}/mining/solved`, { bytes: solved })
    },
  ),
  rule('a solution that was not checked', 'mining: the hash of a solution meets its target', async (asker) => {
    const solved = Uint8Array.from(await solvedWork(asker))
    // One of these nonces does not solve: a hash meets the target one time in a hundred.
    for (let i = 0; i < 5; i++) {
      solved[solved.length - 1] = 200 + i
      await asker.ask('POST', `${BASE}/mining/solved`, { bytes: solved })
    }
  }),
  rule('a solution once more', 'mining: a solution that the node took is not submitted again', async (asker) => {
    const bytes = await solvedWork(asker)
    await asker.ask('POST', `${BASE}/mining/solved`, { bytes })
    asker.pass(5000)
    await asker.ask('POST', `${BASE}/mining/solved`, { bytes })
  }),
  rule(
    'a stream about a chain without work',
    'mining: the stream of updates is about a chain of work that the client got',
    ({ ask }) => ask('GET', `${BASE}/mining/updates`, { bytes: Uint8Array.of(7, 0, 0, 0) }),
  ),
]

/** Defects that show in one situation. The client sends what the situation needs, then does the wrong thing. */
export const situationDefects: readonly ClientDefect[] = [
  rule('Retry-After is ignored', 'busy: a proxy answers the cut with 429 and Retry-After', async ({ ask, pass }) => {
    for (let i = 0; i < 4; i++) {
      await ask('GET', `${BASE}/cut`)
      pass(100)
    }
  }),
  rule('a busy node is asked again without a pause', 'busy: the cut is 503', async ({ ask }) => {
    for (let i = 0; i < 8; i++) await ask('GET', `${BASE}/cut`)
  }),
  quitter(
    'the end of listen is taken for a failure',
    'busy: listen is 504 without a body, because the result took long',
    async (asker) => {
      const command = asker.command()
      await send(asker, [command])
      await asker.ask('POST', `${PACT}/listen`, { json: { listen: command.hash } })
    },
  ),
  quitter('a busy poll is the last', 'busy: poll is 503 once', async (asker) => {
    const command = asker.command()
    await send(asker, [command])
    await poll(asker, command.hash)
  }),
  rule(
    'a lost answer makes a second command',
    'sending: the node takes a command, and the connection closes before the answer',
    async (asker) => {
      await send(asker, [asker.command()])
      await send(asker, [asker.command()])
    },
  ),
  quitter(
    'a lost command is forgotten',
    'sending: the connection closes before the node has the command',
    async (asker) => {
      await send(asker, [asker.command()])
      await asker.ask('GET', '/info')
    },
  ),
  rule('a refused command is sent again', 'sending: send is refused for good: no coins for gas', async (asker) => {
    const command = asker.command()
    await send(asker, [command])
    await asker.ask('GET', '/info')
    await send(asker, [command])
  }),
  quitter(
    'an empty poll means that the command is lost',
    'sending: poll has no result yet, three times',
    async (asker) => {
      const command = asker.command()
      await send(asker, [command])
      for (let i = 0; i < 3; i++) await poll(asker, command.hash)
    },
  ),
  rule(
    'a number that must be an integer',
    'answers: info of a later release: rules by fork number, new keys',
    async ({ ask }) => {
      for (let i = 0; i < 3; i++) await ask('GET', '/info')
    },
  ),
  rule(
    'an answer in pieces is read to its first piece',
    'answers: the cut in pieces without a length',
    async ({ ask }) => {
      for (let i = 0; i < 3; i++) await ask('GET', `${BASE}/cut`)
    },
  ),
  quitter('half of a solution is lost', 'miners: a solution is 503 once', async (asker) => {
    await asker.ask('POST', `${BASE}/mining/solved`, { bytes: await solvedWork(asker) })
  }),
  quitter('a miner that stays with solved work', 'miners: a solution is 404: no associated payload', async (asker) => {
    await asker.ask('POST', `${BASE}/mining/solved`, { bytes: await solvedWork(asker) })
  }),
  quitter('no new work when there was none', 'miners: work is 503: too many work requests', ({ ask }) =>
    ask('GET', `${BASE}/mining/work`, { json: MINER }),
  ),
  quitter('a stream that is not opened again', 'miners: the stream of updates ends', async (asker) => {
    const { body } = await asker.ask('GET', `${BASE}/mining/work?chain=0`, { json: MINER })
    await asker.ask('GET', `${BASE}/mining/updates`, { bytes: Uint8Array.from(body.subarray(0, 4)) })
  }),
  quitter(
    'a stream of headers that is not opened again',
    'streams: the connection closes before the stream begins',
    ({ ask }) => ask('GET', `${BASE}/header/updates`),
  ),
  quitter(
    'the end of a connection is taken for the end of a command',
    'connections: the connection closes before the answer of listen',
    async (asker) => {
      const command = asker.command()
      await send(asker, [command])
      await asker.ask('POST', `${PACT}/listen`, { json: { listen: command.hash } })
    },
  ),
  rule('payloads are asked for again without a pause', 'busy: payloads are 503 once', async ({ ask }) => {
    for (let i = 0; i < 8; i++) await ask('POST', `${BASE}/chain/0/payload/outputs/batch`, { json: [UNKNOWN] })
  }),
]
