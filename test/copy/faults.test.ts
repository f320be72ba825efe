/** A forked node that is slow, busy, gone, cuts its answers, lies, reorganises or has forgotten its old blocks. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../cli/run.ts'
import { exec, local, makeBlocks, spv } from '../devnet/commands-common.ts'
import { jsonOf, PREFIX, type Started } from '../devnet/common.ts'
import { folder, inBlock, remoteOfFile, reorganise, startFork, startRemote } from './network.ts'
import { honest, type Manner, type NodeProxy, proxyTo } from './proxy.ts'

const remote = remoteOfFile()

const FILE = '(expect "balance" 100.5 (free.fork-token.balance "alice"))'

interface Contract {
  readonly proxy: NodeProxy
  /** Runs a test file on a fork at this height, or at a height below all heads. */
  readonly test: (options?: readonly string[], text?: string) => ReturnType<typeof run>
}

async function contractOn({ devnet }: Pick<Started, 'devnet'>, manner: Manner = honest): Promise<Contract> {
  const proxy = await proxyTo(devnet.url)
  proxy.manner = manner
  const file = join(folder(), 'test.repl')
  const height = Math.min(...[...devnet.cut.values()].map((head) => Number(head.height)))
  return {
    proxy,
    test: (options = [], text = FILE) => {
      writeFileSync(file, text)
      const args = ['--fork', proxy.url, '--fork-cache', 'off', '--fork-limit', '1000/s']
      const cut = options.includes('--fork-cut') ? [] : ['--fork-cut', String(height)]
      return run(['test', file, ...args, ...cut, ...options])
    },
  }
}

const isCall = ({ url }: { readonly url: string }) => url.includes('/local')

/** Changes the JSON of answers to calls. */
const changed =
  (change: (answer: { metaData: { blockHeight: number; prevBlockHash: string } | null }) => unknown): Manner =>
  async (request, forward) => {
    const answer = await forward()
    if (!isCall(request) || answer.status !== 200) return answer
    return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body))) }
  }

it('a fork repeats requests that were refused temporarily, cut, or not answered', async () => {
  const troubles: Manner[] = [
    async () => ({ status: 429, body: 'slow down', headers: { 'retry-after': '0' } }),
    async () => ({ status: 502, body: '<html>bad gateway</html>' }),
    async () => ({ status: 503, body: 'later' }),
    async (_, forward) => ({ ...(await forward()), isCut: true }),
    async (_, forward) => ({ status: 200, body: (await forward()).body.slice(0, 20) }),
    async () => null,
    () => new Promise(() => undefined),
  ]
  const contract = await contractOn(remote)
  let last = ''
  contract.proxy.manner = (request, forward) => {
    const key = `${request.url.replace(/\?.*/, '')} ${request.body.length}`
    // Each kind of request is in trouble once.
    const trouble = key === last ? undefined : troubles.shift()
    last = key
    return trouble === undefined ? forward() : trouble(request, forward)
  }
  const { code, err, out } = await contract.test(['--fork-timeout', '700ms'])
  expect(out, err).toContain('1 passed, 0 failed')
  expect(code, err).toBe(0)
  expect(troubles).toEqual([])
  expect(err).toContain('slow down; newcut tries again')
  expect(err).toContain('no answer within 700 ms (--fork-timeout)')
})

it('the error of a node that is gone contains a hint', async () => {
  const contract = await contractOn(remote)
  await contract.proxy.close()
  const { code, err } = await contract.test()
  expect(err).toContain('gave no answer in 6 attempts')
  expect(code).toEqual(expect.any(Number))
  expect(code).not.toBe(0)
  expect(err).toContain('ECONNREFUSED')
  expect(err).toContain('a cache that has all entries needs no node')
})

it.each([
  [
    'another block before the call',
    changed((answer) => ({
      ...answer,
      metaData: answer.metaData && { ...answer.metaData, prevBlockHash: 'x'.repeat(43) },
    })),
    'it was orphaned',
  ],
  ['no block', changed((answer) => ({ ...answer, metaData: null })), 'returned a success that names no block'],
  [
    'heights that never fit',
    changed((answer) => ({
      ...answer,
      metaData: answer.metaData && { ...answer.metaData, blockHeight: answer.metaData.blockHeight + 1_000_000 },
    })),
    'answers at other heights than',
  ],
  [
    'no result',
    changed(() => ({ gas: 12345678901234567000 })),
    'a result without a status: {"gas":12345678901234567000}',
  ],
  ['a text for a timeout', changed(() => 'Timeout'), 'ran out of its time: Timeout'],
])('a fork refuses a node that reports %s', async (_, manner, text) => {
  const contract = await contractOn(remote, manner)
  const { code, err } = await contract.test()
  expect(err).toContain(text)
  expect(code).not.toBe(0)
  expect(err).not.toContain('    at ')
})

it('a fork refuses a payload that is not that of the pinned block', async () => {
  const proxy = await proxyTo(remote.devnet.url)
  proxy.manner = async (request, forward) => {
    const answer = await forward()
    if (!request.url.endsWith('/outputs')) return answer
    return { ...answer, body: answer.body.replace('"transactions":[', '"transactions":[["e30","e30"],') }
  }
  const args = ['devnet', '--port', '0', '--fork', proxy.url, '--fork-cache', 'off', '--fork-limit', '1000/s']
  const { code, err } = await run(args)
  expect(err).toContain('that is not the one in its header')
  expect(code).not.toBe(0)
})

it('a fork serves no block below the pin whose content the forked node has changed', async () => {
  await inBlock(remote.peer, [exec('(+ 1 2)')])
  await makeBlocks(remote.peer, { 0: 1, 1: 3 })
  const page = `${PREFIX}/chain/0/header?minheight=3&maxheight=3`
  const accept = { headers: { accept: 'application/json;blockheader-encoding=object' } }
  const [{ hash, payloadHash }] = jsonOf(await remote.peer.request('GET', page, accept)).items
  const flipped = (text: string, at: number) =>
    `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
  const lies = [
    [`header/${hash}`, (body: string) => flipped(body, 200), 502],
    [`payload/${payloadHash}`, (body: string) => flipped(body, body.indexOf('"minerData":"') + 20), 404],
    [`payload/${payloadHash}/outputs`, (body: string) => flipped(body, body.indexOf('"coinbase":"') + 40), 404],
  ] as const
  for (const [path, lie, status] of lies) {
    const notices: string[] = []
    const forked = await startFork(remote, {}, { onNotice: (text) => notices.push(text) })
    const ask = async () => (await forked.peer.request('GET', `${PREFIX}/chain/0/${path}`)).status
    forked.proxy.manner = async (_, forward) => {
      const answer = await forward()
      return { ...answer, body: lie(answer.body) }
    }
    expect(await ask(), path).toBe(status)
    const [, asked] = path.split('/')
    if (status === 404) expect(notices).toContainEqual(expect.stringContaining(`gives no payload ${asked}: `))
    await forked.devnet.close()
  }
})

it('a fork serves no header above the pin', async () => {
  const forked = await startFork(remote)
  await makeBlocks(remote.peer, { 0: 1 })
  const path = `${PREFIX}/chain/0/header/${Buffer.from(remote.devnet.cut.get(0)?.hash ?? []).toString('base64url')}`
  expect((await remote.peer.request('GET', path)).status).toBe(200)
  expect((await forked.peer.request('GET', path)).status).toBe(404)
})

it('the error states that an answer is not valid JSON', async () => {
  const contract = await contractOn(remote, async () => ({ status: 200, body: '<h1>Welcome</h1>' }))
  const { code, err } = await contract.test(['--fork-timeout', '700ms'])
  expect(err).toContain('the answer is not valid JSON: <h1>Welcome</h1>')
  expect(code).toBe(20)
})

it('a fork starts without the payload of a pinned block if the node no longer has it', async () => {
  const manner: Manner = async ({ url }, forward) => {
    return url.includes('/payload/') ? { status: 404, body: 'pruned' } : forward()
  }
  const forked = await startFork(remote, {}, {}, {}, manner)
  const [{ result, txId }] = await inBlock(forked.peer, [exec('(coin.get-balance "sender01")')])
  expect(result.status).toBe('success')
  expect(txId).toBe(2)
})

it('the error states that a node has compacted its state', async () => {
  const contract = await contractOn(remote, async (request, forward) => {
    if (!isCall(request)) return forward()
    return { status: 500, body: 'Internal server error: missing block in checkpoint' }
  })
  const { code, err } = await contract.test()
  expect(err).toContain('cannot run code at height')
  expect(code).not.toBe(0)
  expect(err).toContain('compacted state')
  expect(contract.proxy.seen.filter(isCall)).toHaveLength(2)
})

it('a fork refuses a server that is not a node', async () => {
  const contract = await contractOn(remote, async () => ({ status: 200, body: '{"hello":"world"}' }))
  expect((await contract.test()).err).toContain('is not a chainweb node: GET /info answers {"hello":"world"}')
})

it('a fork follows a chain that grows and reorganises above the pin', async () => {
  const remote = await startRemote()
  await makeBlocks(remote.peer, { 0: 6, 1: 6 })
  const contract = await contractOn(remote)
  const pin = Number(remote.devnet.cut.get(0)?.height) - 5
  let calls = 0
  contract.proxy.manner = async (request, forward) => {
    if (isCall(request)) {
      calls++
      if (calls === 2) await makeBlocks(remote.peer, { 0: 2 })
      if (calls === 4) await reorganise(remote, 3)
    }
    return forward()
  }
  const { code, out, err } = await contract.test(['--fork-cut', String(pin)])
  expect(out, err).toContain('1 passed')
  expect(code, err).toBe(0)
  expect(calls).toBeGreaterThan(4)
})

it('a fork stops when the pinned block is orphaned', async () => {
  const remote = await startRemote()
  const forked = await startFork(remote)
  await reorganise(remote, 4)
  const { status, body } = await local(forked.peer, exec('(coin.details "somebody")'))
  expect(body.toString()).toContain('it was orphaned')
  expect(status).toBe(502)
})

it('a fork answers 502 while the forked node is gone, and serves what is in its cache', async () => {
  const forked = await startFork(remote)
  const known = await local(forked.peer, exec('(free.fork-token.balance "alice")'))
  await forked.proxy.close()
  const { status, body } = await local(forked.peer, exec('(coin.details "somebody")'))
  expect(body.toString()).toContain('gave no answer in 6 attempts')
  expect(status).toBe(502)
  // Clients must not take a transfer for one that does not exist.
  const transfer = { requestKey: 'tJQP7G5Z13SVLs9-7Qd_LtLoeCCrwwe8V1EBPrde_SQ', targetChainId: '1' }
  for (let i = 0; i < 2; i++) {
    const proof = await spv(forked.peer, transfer)
    expect(proof.body.toString()).toEqual(
      `Transaction hash not found: "${transfer.requestKey}"; below the fork nothing can be told: its node gives no answer`,
    )
    expect(proof.status).toBe(400)
  }
  const again = await local(forked.peer, exec('(free.fork-token.balance "alice")'))
  expect(JSON.parse(again.body.toString()).result).toEqual(JSON.parse(known.body.toString()).result)
})
