/** Serves the miner a lie through its node, and checks its reaction. */
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../wait.ts'
import type { Lane } from './lane.ts'
import type { Lie, StartLie } from './lie.ts'
import type { Miner } from './miner.ts'

/**
 * How long a lie continues after its effect shows, in ms. The miner runs in another process and needs this time to err.
 */
const LIE_MS = 1_000
/** Blocks that prove that mining continues. */
const FURTHER_BLOCKS = 5
/** Log lines about one outage: its start and end, and those of the update streams. */
const MAX_COMPLAINTS = 4
/** Limit for any lie: the log must not flood its reader. */
const MAX_LINES_OF_LIE = 20

/** Lies to a running miner for a while, then serves the truth again. */
export async function lieForAWhile(lane: Lane, lie: Lie): Promise<void> {
  const miner = await lane.mining()
  const linesBefore = miner.count('complaint')
  await lieTo(lane, lie)
  const linesOfLie = miner.count('complaint') - linesBefore
  lane.proxy.end()
  if (lie.property === 'recovers') lane.proxy.dropStreams()
  await lane.everyChainMoves()
  await lane.expectSane()
  // This check comes last, since recovery matters more.
  if (lie.property === 'waits') expectFew(lane, linesOfLie, MAX_COMPLAINTS)
  expectFew(lane, miner.count('complaint') - linesBefore, MAX_LINES_OF_LIE)
}

/** Lies to a running miner until it has stopped. */
export async function lieUntilStopped(lane: Lane, lie: Lie): Promise<void> {
  const miner = await lane.mining()
  await lieTo(lane, lie)
  await lane.expectSane()
  await expectStop(lane, miner)
  lane.proxy.end()
}

/** Starts the lie and waits for its expected effect. */
async function lieTo(lane: Lane, lie: Lie): Promise<void> {
  const { proxy, ground, miner } = lane
  const blocks = ground.blocks.size
  proxy.begin(lie.createResponder(), lie.title)
  await lane.until(`a request to ${lie.at}`, () => proxy.countOf(lie.at) > 0)
  if (lie.property === 'keepsMining') {
    await lane.until('blocks while the node lies', () => ground.blocks.size >= blocks + FURTHER_BLOCKS)
    return
  }
  if (lie.property === 'waits' && miner !== null) {
    await lane.until('503 on /healthz while there is no work', async () => {
      return (await miner.fetchPath('/healthz'))?.status === 503
    })
    // On a busy machine this line may precede the lie.
    await lane.until('a line that says that there is no work', () => miner.newest('work', 'idle') === 'idle')
  }
  await delay(LIE_MS)
}

function expectFew(lane: Lane, lines: number, most: number): void {
  if (lines > most) throw lane.failure(`${lines} lines of complaint, at most ${most} expected`)
}

/** Lies to a miner from its first request. */
export async function lieAtStart(lane: Lane, lie: StartLie): Promise<void> {
  const { proxy } = lane
  if (lie.createResponder === null) await proxy.down()
  else proxy.begin(lie.createResponder(), lie.title)
  try {
    const miner = await lane.start(lie.args)
    const blocks = lane.ground.blocks.size
    const mines = () => lane.ground.blocks.size > blocks
    if (lie.property.kind !== 'waits' && (await endsSoon(miner, lie, mines))) {
      expectEnd(lane, miner, lie)
      await lane.expectSane()
      return
    }
    if (lie.property.kind === 'ends') throw lane.failure('the miner goes on; it should end')
    if (!mines()) await expectWaiting(lane, miner, lie)
    if (lie.createResponder === null) await proxy.up()
    proxy.end()
    await lane.everyChainMoves()
    await lane.expectSane()
    await expectStop(lane, miner)
  } finally {
    if (!proxy.isUp) await proxy.up()
    proxy.end()
  }
}

/** Resolves true if the miner exits, and false if it mines or reports a node that it waits for. */
async function endsSoon(miner: Miner, { property }: StartLie, mines: () => boolean): Promise<boolean> {
  const goesOn = () => property.kind === 'endsOrGoesOn' && (mines() || miner.count('complaint') > 0)
  const isDecided = () => miner.end !== null || goesOn()
  await until(isDecided)
  // The error that ends the miner may follow the complaint.
  if (miner.end === null) await delay(LIE_MS)
  if (miner.hasFatalError) await miner.ended
  return miner.end !== null
}

function expectEnd(lane: Lane, miner: Miner, { property }: StartLie): void {
  const said = `${miner.out}\n${miner.err}`
  // 2: an option is missing. 20, 21: the node does not answer, or not correctly.
  const codes = property.kind === 'ends' && property.code === 'BAD_OPTION' ? [2] : [20, 21]
  if (!codes.includes(miner.end?.code ?? -1)) throw lane.failure(`expected exit code ${codes.join(' or ')}`)
  const lines = said.split('\n').filter((line) => /newcut: |\b[A-Z]{3,}_[A-Z_]+\b/.test(line))
  if (lines.length !== 1) throw lane.failure(`expected one line with an error and its code, not ${lines.length}`)
  if (miner.err.trim().split('\n').length > 1) throw lane.failure('expected one line on standard error')
  if (property.kind !== 'ends') return
  if (!lines[0].includes(property.code)) throw lane.failure(`expected the code ${property.code}`)
  if (!property.text.test(lines[0])) throw lane.failure(`expected a text that matches ${property.text}`)
}

async function expectWaiting(lane: Lane, miner: Miner, { createResponder }: StartLie): Promise<void> {
  await lane.until('a line that says what the miner waits for', () => miner.count('complaint') > 0)
  if (createResponder !== null) await lane.until('a second attempt', () => lane.proxy.countOf('all') > 1)
  await delay(LIE_MS)
  if (miner.end !== null) throw lane.failure('the miner ended instead of waiting')
  expectFew(lane, miner.count('complaint'), MAX_COMPLAINTS)
}

/** Stops the miner, which must print its summary. */
async function expectStop(lane: Lane, miner: Miner): Promise<void> {
  const { code } = await miner.stop()
  if (code !== 0) throw lane.failure('expected exit code 0 at SIGTERM')
  if (!/summary/.test(miner.out)) throw lane.failure('expected a summary at SIGTERM')
  if (miner.err !== '') throw lane.failure('expected nothing on standard error')
}
