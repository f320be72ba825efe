/** Mining calls with impossible work, with a node that refuses a miner, and with a node without mining. */
import { describe, expect, it } from 'vitest'
import { isRetryable, MinersPoolFull, type NodeRefusal, UnauthorizedMiner } from '../../src/client/node/public.ts'
import { u256LE } from '../../src/ground/base/bytes.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import { encodeWork, type WorkFields } from '../../src/ground/chain/header.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { chainBytes } from '../../src/ground/chain/work.ts'
import { type Answer, BINARY, failureOf, json, pairInfo, type Reply, startFakeNode, text } from './fake-node.ts'

const account = { account: 'k:a', predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] }
const DAY_S = 86_400

const adjacent = (...chains: number[]) => new Map(chains.map((chain) => [chain, new Uint8Array(32).fill(chain)]))
const fields: WorkFields = {
  featureFlags: 0n,
  creationTime: 1_700_000_000_000_000n,
  parent: new Uint8Array(32).fill(1),
  adjacents: adjacent(1),
  target: MAX_TARGET,
  payloadHash: new Uint8Array(32).fill(2),
  chainId: 0,
  weight: 1n,
  height: 10n,
  version: 2,
  epochStart: 0n,
  nonce: 0n,
}
const workOf = (change: Partial<WorkFields>): Reply => {
  const changed = { ...fields, ...change }
  const body = Buffer.concat([chainBytes(changed.chainId), u256LE(changed.target), encodeWork(changed)])
  return { headers: { 'content-type': BINARY }, body }
}

/** Two chains that become three at height 20. */
const growing = {
  ...pairInfo,
  nodeGraphHistory: [
    [20, graphs.triangle.adjacents.map((others, chain) => [chain, others])],
    pairInfo.nodeGraphHistory[0],
  ],
}

describe('work', () => {
  const lies: readonly (readonly [string, Partial<WorkFields>, RegExp])[] = [
    ['a chain that the node does not have', { chainId: 2 }, /chain 2 at height 10, expected one of 0 to 1/],
    ['a chain of a billion', { chainId: 1e9 }, /chain 1000000000 at height 10, expected one of 0 to 1/],
    ['a chain of a later graph', { chainId: 2, height: 20n }, /chain 2 at height 20, expected one of 0 to 1/],
    ['no adjacent chains', { adjacents: adjacent() }, /no chains adjacent to chain 0 at height 10, expected 1/],
    ['too many adjacent chains', { adjacents: adjacent(1, 2, 3) }, /chains 1, 2, 3 adjacent to chain 0 .* expected 1/],
    ['another adjacent chain', { adjacents: adjacent(5) }, /chains 5 adjacent to chain 0 at height 10, expected 1/],
    ['the adjacent chains of the old graph', { height: 21n }, /chains 1 adjacent to chain 0 .* expected 1, 2/],
    ['height 0', { height: 0n }, /height 0, expected 1 to/],
    ['a height beyond 2^53', { height: 1n << 60n }, /height 1152921504606846976, expected 1 to 9007199254740991/],
  ]
  it.each(lies)('the client refuses work of %s, which may be right next time', async (_name, change, message) => {
    const { node, client } = await startFakeNode(growing)
    node.onNetwork('GET', '/mining/work', () => workOf(change))
    const error = await failureOf(client.work(account))
    expect(error).toMatchObject({
      name: 'NodeMisbehaved',
      operation: 'work',
      retryable: true,
      message: expect.stringMatching(message),
    })
    expect(isRetryable(error)).toBe(true)
    node.onNetwork('GET', '/mining/work', () => workOf({}))
    expect((await client.work(account)).work.fields.chainId).toBe(0)
  })

  it.each([10, 64, 65, 0xffff])('the client refuses work with a count of %i adjacents', async (count) => {
    const { node, client } = await startFakeNode()
    const body = Buffer.concat([workOf({}).body as Buffer, Buffer.alloc(36 * (count - 1))])
    body.writeUInt16LE(count, 36 + 48)
    node.onNetwork('GET', '/mining/work', () => ({ headers: { 'content-type': BINARY }, body }))
    expect(await failureOf(client.work(account))).toMatchObject({
      name: 'NodeMisbehaved',
      message: expect.stringContaining(`${count} adjacents, at most 9`),
    })
  })

  it('the client accepts the adjacents of the old graph in work at the first height of the new one', async () => {
    const { node, client } = await startFakeNode(growing)
    node.onNetwork('GET', '/mining/work', () => workOf({ height: 20n }))
    expect((await client.work(account)).work.fields.height).toBe(20n)
    node.onNetwork('GET', '/mining/work', () => workOf({ chainId: 2, height: 21n, adjacents: adjacent(0, 1) }))
    expect((await client.work(account)).work.fields.chainId).toBe(2)
  })

  it('the client sees no clock in work if the time of the node is impossible', async () => {
    const { node, client } = await startFakeNode()
    const clockOf = async (timestamp: string) => {
      const reply = workOf({})
      node.onNetwork('GET', '/mining/work', () => ({
        ...reply,
        headers: { ...reply.headers, 'x-server-timestamp': timestamp },
      }))
      return (await client.work(account)).clockAheadMs
    }
    for (const wrong of ['', '-1', '1e9', '253402300800', '9007199254740991', 'now', '0x10', '1.5']) {
      expect(await clockOf(wrong), wrong).toBe(null)
    }
    const tomorrow = String(Math.round(Date.now() / 1000) + DAY_S)
    expect(Math.round(((await clockOf(tomorrow)) ?? 0) / 1000 / DAY_S)).toBe(1)
  })
})

describe('a refusal of work', () => {
  const refusalFor = async (answer: Answer) => {
    const { node, client } = await startFakeNode()
    node.onNetwork('GET', '/mining/work', answer)
    return (await failureOf(client.work(account))) as NodeRefusal
  }

  it("a refusal of work is UnauthorizedMiner when it is the node's own 403 for this account", async () => {
    const error = await refusalFor(() => text('Unauthorized Miner: k:a', 403))
    expect(error).toBeInstanceOf(UnauthorizedMiner)
    expect(error).toMatchObject({
      code: 'NODE_REFUSED',
      status: 403,
      isNodesOwn: true,
      retryable: false,
      hint: expect.stringContaining('accounts in its configuration'),
    })
  })

  it('a refusal of work hints at the configuration of the node if it accepts listed miners only', async () => {
    const words = 'Unauthorized Miner/Unknown miners not allowed: k:a'
    const error = await refusalFor(() => text(words, 403))
    expect(error).toBeInstanceOf(UnauthorizedMiner)
    expect(error).toMatchObject({ isUnknown: true, isNodesOwn: true, retryable: false })
    expect(error.message).toContain(words)
    expect(error.hint).toContain('its operator has to list this one, or to set it to take unknown miners')
  })

  it('a refusal of work is temporary if the node accepts no more miners for now', async () => {
    const error = await refusalFor(() => text('Unauthorized Miner/Miners Pool Full: k:a', 403))
    expect(error).toBeInstanceOf(MinersPoolFull)
    expect(error).not.toBeInstanceOf(UnauthorizedMiner)
    expect(error).toMatchObject({ retryable: true, hint: expect.stringContaining('try later, or give another node') })
    expect(isRetryable(error)).toBe(true)
  })

  it('a refusal of work is an ordinary one if a proxy says 403, whatever its words', async () => {
    for (const reply of [
      { ...text('Unauthorized Miner: k:a', 403), isProxy: true },
      { ...text('<html>Forbidden', 403), isProxy: true },
      text('Forbidden', 403),
    ]) {
      const error = await refusalFor(() => reply)
      expect(error).not.toBeInstanceOf(UnauthorizedMiner)
      expect(error).toMatchObject({ name: 'NodeRefusal', status: 403 })
    }
  })

  it("a refusal of work is the node's own for a 4xx with its header, except 408 and 429", async () => {
    for (const status of [301, 302, 307, 400, 401, 403, 404, 405, 408, 429, 451, 500, 502, 503]) {
      const isNodesOwn = status >= 400 && status < 500 && status !== 408 && status !== 429
      expect(await refusalFor(() => ({ status }))).toMatchObject({ status, isFromNode: true, isNodesOwn })
      expect(await refusalFor(() => ({ status, isProxy: true }))).toMatchObject({
        isFromNode: false,
        isNodesOwn: false,
      })
    }
  })

  it('a refusal of work is the same from a node that calls itself ledger', async () => {
    const headers = { 'x-ledger-node-version': '1' }
    expect(await refusalFor(() => ({ status: 404, headers, isProxy: true }))).toMatchObject({ isNodesOwn: true })
  })
})

describe('handing in solved work', () => {
  const solvedBy = async (reply: Reply) => {
    const { node, client } = await startFakeNode()
    node.onNetwork('POST', '/mining/solved', () => reply)
    return client.solved(new Uint8Array(214))
  }

  it.each<[string, Reply]>([
    ['200 with an empty body', {}],
    ['204', { status: 204 }],
    ['200 with a JSON body', json('""')],
  ])('the client accepts %s as success of submitted work', async (_name, reply) => {
    await expect(solvedBy(reply)).resolves.toBeUndefined()
  })

  it('the client refuses an empty 200 for submitted work from a proxy that is being set up', async () => {
    expect(await failureOf(solvedBy({ isProxy: true }))).toMatchObject({ name: 'NodeMisbehaved', retryable: true })
  })

  it('the client refuses a page that another server returns for submitted work', async () => {
    const page = { headers: { 'content-type': 'text/html' }, body: '<html>We are back soon.', isProxy: true }
    expect(await failureOf(solvedBy(page))).toMatchObject({
      name: 'NodeMisbehaved',
      operation: 'solved',
      retryable: true,
      excerpt: '<html>We are back soon.',
    })
  })
})

describe('mining is', () => {
  const healthy = text('Health check OK.')
  const off: Reply = { status: 404 }

  async function isDisabled(answers: { health?: Reply; info?: Reply; work: Reply }): Promise<boolean> {
    const { node, client } = await startFakeNode()
    node.on('GET', '/health-check', () => answers.health ?? healthy)
    node.on('GET', '/info', () => answers.info ?? json(pairInfo))
    node.onNetwork('GET', '/mining/work', () => answers.work)
    return client.isMiningDisabled(account)
  }

  it('mining is disabled in a healthy node that has no work endpoint', async () => {
    expect(await isDisabled({ work: off })).toBe(true)
    expect(await isDisabled({ work: text('there is no such endpoint', 404) })).toBe(true)
  })

  it.each<[string, Parameters<typeof isDisabled>[0]]>([
    ['a node that gives work', { work: workOf({}) }],
    ['a node that gives wrong work', { work: workOf({ chainId: 9 }) }],
    ['a node that refuses this account', { work: text('Unauthorized Miner: k:a', 403) }],
    ['a node without work for now', { work: text('no work', 503) }],
    ['a 404 of a proxy', { work: { ...off, isProxy: true } }],
    ['a redirection', { work: { status: 302, headers: { location: '/login' } } }],
    ['a node that is going down', { health: text('drain', 503), work: off }],
    ['a proxy that answers the health check', { health: { ...healthy, isProxy: true }, work: off }],
    ['a proxy that answers /info', { info: { ...json(pairInfo), isProxy: true }, work: off }],
    ['a node without /info', { info: { status: 404 }, work: off }],
    ['a node of another network', { info: json({ ...pairInfo, nodeVersion: 'mainnet01' }), work: off }],
    ['a node that lies about itself', { info: json({ ...pairInfo, nodeGraphHistory: [] }), work: off }],
  ])('mining is not known to be disabled behind %s', async (_name, answers) => {
    expect(await isDisabled(answers)).toBe(false)
  })

  it('mining is not known to be disabled if nobody answers', async () => {
    const { node, client } = await startFakeNode()
    node.on('GET', '/health-check', (_seen, response) => void response.destroy())
    expect(await client.isMiningDisabled(account)).toBe(false)
  })

  it('isMiningDisabled throws the reason of its signal when it aborts', async () => {
    const { client } = await startFakeNode()
    const reason = new Error('enough')
    await expect(client.isMiningDisabled(account, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})
