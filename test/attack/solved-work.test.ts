/** Work that is solved already: searching it once more is wasted. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GraphName } from '../../src/core/graph.ts'
import { decodeWork, type WorkFields } from '../../src/core/header.ts'
import { Lane } from './lane.ts'
import type { Exchange, Tell, Told } from './proxy.ts'
import { TEST_TIMEOUT_MS } from './run-lies.ts'
import { altersWork, at, hangs, replays, says } from './tell.ts'

/** How long a request hangs, at least. */
const HANG_MS = 2_000
const SETTLE_MS = 250
/** A busy machine may let a slice of hashing take long. */
const MAX_WASTE_MS = 5_000

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const parentOf = ({ chainId, parent }: WorkFields) => `${chainId} ${hex(parent)}`

/** A miner that mines, and the solutions that it hands in from now on. */
async function mining(graph?: GraphName) {
  // On one chain alone blocks would come too fast to measure what happens between them.
  const lane = await Lane.open(graph, graph === undefined ? undefined : 100)
  onTestFinished(() => lane.close())
  const miner = await lane.mining()
  const solutions: WorkFields[] = []
  lane.proxy.onRequest = (endpoint, body) => {
    if (endpoint === 'solved') solutions.push(decodeWork(body))
  }
  return { lane, miner, solutions }
}

/** How many solutions there were for each parent, at most. One that is not answered is handed in again. */
function mostForOneParent(solutions: readonly WorkFields[]): number {
  const found = new Map<string, Set<string>>()
  for (const solution of solutions) {
    const known = found.get(parentOf(solution)) ?? new Set()
    found.set(parentOf(solution), known.add(`${solution.creationTime} ${solution.nonce}`))
  }
  return Math.max(0, ...[...found.values()].map(({ size }) => size))
}

/** Nothing is hashed, once the slices under way have ended. */
async function expectNoHashing({ lane, miner }: Awaited<ReturnType<typeof mining>>): Promise<void> {
  let before = -1
  const isStill = async () => {
    const last = before
    before = await miner.hashes()
    await delay(SETTLE_MS)
    return before === last
  }
  await lane.until('an end of hashing', isStill, MAX_WASTE_MS)
  await delay(HANG_MS)
  const hashes = (await miner.hashes()) - before
  if (miner.end !== null) throw lane.failure('the miner ended')
  if (hashes > 0) throw lane.failure(`${hashes} hashes wasted in ${HANG_MS / 1000} s`)
}

/** Ends the lie, and expects the miner to go on. */
async function expectRecovery({ lane }: Awaited<ReturnType<typeof mining>>): Promise<void> {
  lane.proxy.end()
  lane.proxy.dropStreams()
  await lane.everyChainMoves()
  await lane.expectSane()
}

describe('a miner does not search work that is solved', { timeout: TEST_TIMEOUT_MS }, () => {
  it('while the node replays it: it hands in one solution for it', async () => {
    const run = await mining()
    run.lane.proxy.begin(at(['work'], replays()))
    const parents = new Set<string>()
    await run.lane.until('a solution of the replayed work', () => {
      for (const solution of run.solutions) parents.add(parentOf(solution))
      return parents.size > 0
    })
    await delay(2_000)
    if (mostForOneParent(run.solutions) > 1) throw run.lane.failure(`${mostForOneParent(run.solutions)} for one parent`)
    await expectRecovery(run)
  })

  it('while the node replays it and nothing else: it says so, and does not hash', async () => {
    const run = await mining()
    const told = run.miner.count('idle', 'complaint')
    run.lane.proxy.begin(at(['work'], replays()))
    await run.lane.until('503 on /healthz', async () => (await run.miner.face('/healthz'))?.status === 503)
    await run.lane.until('a line that says so', () => run.miner.count('idle', 'complaint') > told)
    await expectNoHashing(run)
    await expectRecovery(run)
  })

  it('while the node has taken it, but its chain moves later', async () => {
    const run = await mining()
    const takesLater: Tell = (exchange: Exchange): Told | Promise<Told> => {
      setTimeout(() => exchange.forward().catch(() => undefined), 700)
      return says(200)(exchange)
    }
    run.lane.proxy.begin(at(['solved'], takesLater))
    const blocks = run.lane.ground.blocks.size
    await run.lane.until('twenty blocks', () => run.lane.ground.blocks.size >= blocks + 20)
    if (mostForOneParent(run.solutions) > 1) throw run.lane.failure(`${mostForOneParent(run.solutions)} for one parent`)
    await expectRecovery(run)
  })

  it('while the request that hands it in hangs: it searches other chains', async () => {
    const run = await mining()
    run.lane.proxy.begin(at(['solved'], hangs))
    await run.lane.until(
      'solutions of three chains',
      () => new Set(run.solutions.map((each) => each.chainId)).size >= 3,
    )
    await delay(HANG_MS)
    if (mostForOneParent(run.solutions) > 1) throw run.lane.failure(`${mostForOneParent(run.solutions)} for one parent`)
    await expectRecovery(run)
  })

  it('while the request that hands it in hangs, and there is no other chain: it says so, and does not hash', async () => {
    const run = await mining('singleton')
    const told = run.miner.count('idle', 'complaint')
    run.lane.proxy.begin(at(['solved'], hangs))
    await run.lane.until('a solution', () => run.solutions.length > 0)
    await expectNoHashing(run)
    await run.lane.until('a line that says so', () => run.miner.count('idle', 'complaint') > told)
    await expectRecovery(run)
  })

  it('while requests for work hang: it says so, and does not hash', async () => {
    const run = await mining()
    const told = run.miner.count('idle', 'complaint')
    run.lane.proxy.begin(at(['work'], hangs))
    await run.lane.until('a solution', () => run.solutions.length > 0)
    await expectNoHashing(run)
    expect(run.miner.count('idle', 'complaint')).toBeGreaterThan(told)
    expect((await run.miner.face('/healthz'))?.status).toBe(503)
    await expectRecovery(run)
  })
})

describe('a miner takes work of the same parent for other work', { timeout: TEST_TIMEOUT_MS }, () => {
  it.each<[string, (fields: WorkFields) => WorkFields]>([
    ['with another target', (fields) => ({ ...fields, target: 1n })],
    [
      'with another length',
      (fields) => ({ ...fields, target: 1n, adjacents: new Map([...fields.adjacents].slice(1)) }),
    ],
    ['with another payload', (fields) => ({ ...fields, target: 1n, payloadHash: new Uint8Array(32) })],
    ['with other adjacent parents', (fields) => ({ ...fields, target: 1n, adjacents: withOtherHashes(fields) })],
  ])('%s', async (_title, change) => {
    const run = await mining('pair')
    run.lane.proxy.begin(at(['work'], altersWork(change)))
    const asked = () => run.lane.proxy.countOf(['work'])
    const blocks = run.lane.ground.blocks.size
    await run.lane.until('requests for work', () => asked() > 0)
    await delay(1_000)
    // The work of before the lie, at most.
    expect(run.lane.ground.blocks.size).toBeLessThanOrEqual(blocks + 4)
    await expectRecovery(run)
  })
})

function withOtherHashes({ adjacents }: WorkFields): ReadonlyMap<number, Uint8Array> {
  return new Map([...adjacents].map(([chain]) => [chain, new Uint8Array(32)]))
}
