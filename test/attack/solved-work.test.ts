/** A miner stops searching work that it has already solved. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GraphName } from '../../src/ground/chain/graph.ts'
import { decodeWork, type WorkFields } from '../../src/ground/chain/header.ts'
import { until } from '../wait.ts'
import { Lane } from './lane.ts'
import type { Exchange, ProxyReply, Responder } from './proxy.ts'
import { altersWork, at, hangs, replays, says } from './responders.ts'

/** Equal hash counts in a row that show that the miner is idle. */
const STILL_LOOKS = 50

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const parentOf = ({ chainId, parent }: WorkFields) => `${chainId} ${hex(parent)}`

/** A running miner and the solutions that it submits after this call. */
async function mining(graph?: GraphName) {
  // With a single chain and the default delay, blocks would come too fast to measure anything between them.
  const lane = await Lane.open(graph, graph === undefined ? undefined : 100)
  onTestFinished(() => lane.close())
  const miner = await lane.mining()
  const solutions: WorkFields[] = []
  lane.proxy.onRequest = (endpoint, body) => {
    if (endpoint === 'solved') solutions.push(decodeWork(body))
  }
  return { lane, miner, solutions }
}

/** The most solutions for one parent. The miner resubmits a solution that got no answer. */
function mostForOneParent(solutions: readonly WorkFields[]): number {
  const found = new Map<string, Set<string>>()
  for (const solution of solutions) {
    const known = found.get(parentOf(solution)) ?? new Set()
    found.set(parentOf(solution), known.add(`${solution.creationTime} ${solution.nonce}`))
  }
  return Math.max(0, ...[...found.values()].map(({ size }) => size))
}

/** Expects that hashing stops once the current slices end, and that further polls do not resume it. */
async function expectNoHashing({ lane, miner }: Awaited<ReturnType<typeof mining>>): Promise<void> {
  let [before, looks] = [-1, 0]
  await lane.until('an end of hashing', async () => {
    const hashes = await miner.hashes()
    looks = hashes === before ? looks + 1 : 0
    before = hashes
    return looks >= STILL_LOOKS
  })
  const asked = lane.proxy.countOf('all')
  await lane.until('further questions', () => lane.proxy.countOf('all') >= asked + 2)
  const hashes = (await miner.hashes()) - before
  if (hashes > 0) throw lane.failure(`${hashes} hashes wasted`)
}

/** Ends the lie and expects the miner to resume. */
async function expectRecovery({ lane }: Awaited<ReturnType<typeof mining>>): Promise<void> {
  lane.proxy.end()
  lane.proxy.dropStreams()
  await lane.everyChainMoves()
  await lane.expectSane()
}

describe('a miner does not search solved work', () => {
  it('a miner submits one solution of work that the node replays', async () => {
    const run = await mining()
    run.lane.proxy.begin(at(['work'], replays()))
    const parents = new Set<string>()
    await run.lane.until('a solution of the replayed work', () => {
      for (const solution of run.solutions) parents.add(parentOf(solution))
      return parents.size > 0
    })
    const asked = run.lane.proxy.countOf(['work'])
    await run.lane.until('work that is replayed again', () => run.lane.proxy.countOf(['work']) >= asked + 3)
    if (mostForOneParent(run.solutions) > 1) throw run.lane.failure(`${mostForOneParent(run.solutions)} for one parent`)
    await expectRecovery(run)
  })

  it('a miner does not search solved work while the node replays nothing else, and says so', async () => {
    const run = await mining()
    const reported = run.miner.count('idle', 'complaint')
    run.lane.proxy.begin(at(['work'], replays()))
    await run.lane.until('503 on /healthz', async () => (await run.miner.fetchPath('/healthz'))?.status === 503)
    await run.lane.until('a line that says so', () => run.miner.count('idle', 'complaint') > reported)
    await expectNoHashing(run)
    await expectRecovery(run)
  })

  it('a miner does not search solved work while its accepted solution is not yet in the chain', async () => {
    const run = await mining()
    const takesLater: Responder = (exchange: Exchange): ProxyReply | Promise<ProxyReply> => {
      const blocks = run.lane.ground.blocks.size
      // Later means: once solutions of other chains were accepted, or the miner has requested work again.
      const asked = run.lane.proxy.countOf(['work'])
      const isLater = () => run.lane.ground.blocks.size >= blocks + 3 || run.lane.proxy.countOf(['work']) >= asked + 3
      void until(isLater).then(() => exchange.forward().catch(() => undefined))
      return says(200)(exchange)
    }
    run.lane.proxy.begin(at(['solved'], takesLater))
    const blocks = run.lane.ground.blocks.size
    await run.lane.until('twenty blocks', () => run.lane.ground.blocks.size >= blocks + 20)
    if (mostForOneParent(run.solutions) > 1) throw run.lane.failure(`${mostForOneParent(run.solutions)} for one parent`)
    await expectRecovery(run)
  })

  it('a miner searches other chains while the submission of a solution hangs', async () => {
    const run = await mining()
    run.lane.proxy.begin(at(['solved'], hangs))
    await run.lane.until(
      'solutions of three chains',
      () => new Set(run.solutions.map((each) => each.chainId)).size >= 3,
    )
    await run.lane.until('as many solutions again', () => new Set(run.solutions.map((each) => each.chainId)).size >= 6)
    if (mostForOneParent(run.solutions) > 1) throw run.lane.failure(`${mostForOneParent(run.solutions)} for one parent`)
    await expectRecovery(run)
  })

  it('a miner of one chain does not hash while the submission of a solution hangs, and says so', async () => {
    const run = await mining('singleton')
    const reported = run.miner.count('idle', 'complaint')
    run.lane.proxy.begin(at(['solved'], hangs))
    await run.lane.until('a solution', () => run.solutions.length > 0)
    await expectNoHashing(run)
    await run.lane.until('a line that says so', () => run.miner.count('idle', 'complaint') > reported)
    await expectRecovery(run)
  })

  it('a miner does not hash while work requests hang, and says so', async () => {
    const run = await mining()
    const reported = run.miner.count('idle', 'complaint')
    run.lane.proxy.begin(at(['work'], hangs))
    await run.lane.until('a solution', () => run.solutions.length > 0)
    await expectNoHashing(run)
    expect(run.miner.count('idle', 'complaint')).toBeGreaterThan(reported)
    expect((await run.miner.fetchPath('/healthz'))?.status).toBe(503)
    await expectRecovery(run)
  })
})

describe('a miner treats work with the same parent as new work', () => {
  it.each<[string, (fields: WorkFields) => WorkFields]>([
    ['with another target', (fields) => ({ ...fields, target: 1n })],
    [
      'with another length',
      (fields) => ({ ...fields, target: 1n, adjacents: new Map([...fields.adjacents].slice(1)) }),
    ],
    ['with another payload', (fields) => ({ ...fields, target: 1n, payloadHash: new Uint8Array(32) })],
    ['with other adjacent parents', (fields) => ({ ...fields, target: 1n, adjacents: withOtherHashes(fields) })],
  ])('a miner treats work with the same parent %s as new work', async (_title, change) => {
    const run = await mining('pair')
    run.lane.proxy.begin(at(['work'], altersWork(change)))
    const countWorkRequests = () => run.lane.proxy.countOf(['work'])
    const blocks = run.lane.ground.blocks.size
    await run.lane.until('requests for work', () => countWorkRequests() > 5)
    // At most the blocks of work from before the lie.
    expect(run.lane.ground.blocks.size).toBeLessThanOrEqual(blocks + 4)
    await expectRecovery(run)
  })
})

function withOtherHashes({ adjacents }: WorkFields): ReadonlyMap<number, Uint8Array> {
  return new Map([...adjacents].map(([chain]) => [chain, new Uint8Array(32)]))
}
