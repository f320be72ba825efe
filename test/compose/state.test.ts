/** A miner reads its journal at startup, on a real disk that fails when the test says so. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openState } from '../../src/compose/state.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { type Disk, systemDisk } from '../../src/mining/journal/disk.ts'
import { Journal } from '../../src/mining/journal/journal.ts'
import type { JournalLine } from '../../src/mining/journal/record.ts'
import type { MinerEvent, SolutionEvent } from '../../src/mining/mine/events.ts'
import { easyWork } from '../mine/by-hand.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { solve } from '../solve.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const NETWORK = 'testing'

/** A solution and its first journal line. */
function solution(height: bigint, clock: VirtualClock) {
  const bytes = solve(easyWork(height).bytes)
  const hash = encodeBase64Url(blockHash(bytes))
  const at = new Date(clock.wallMs()).toISOString()
  const found: JournalLine = {
    ...{
      at,
      hash,
      step: 'found',
      network: NETWORK,
      account: 'k:me',
      issuer: 'http://a',
      chain: 0,
      height: Number(height),
    },
    ...{ device: 'thread0', effort: 1, difficulty: 1, work: encodeBase64Url(bytes) },
  }
  return { bytes, hash, at, found }
}

/** A disk that skips fsync, so no write is pending when a test removes its folder. */
const unsynced: Disk = { ...systemDisk, open: (path) => ({ ...systemDisk.open(path), sync: (done) => done(null) }) }

/** A journal with these lines; while `isBroken`, its disk is unreadable until `mend` is called. */
async function started(lines: (clock: VirtualClock) => readonly JournalLine[], isBroken: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-state-'))
  folders.push(folder)
  const clock = new VirtualClock()
  const fail = () => {
    throw new Error('the disk is broken')
  }
  const journal = Journal.open(folder, { onTrouble: fail, onRecovered: fail }, unsynced)
  for (const line of lines(clock)) journal.append(line)
  let isFailing = isBroken
  const disk = { ...systemDisk, list: (path: string) => (isFailing ? fail() : systemDisk.list(path)) }
  const events: MinerEvent[] = []
  const earlier: string[] = []
  const onEarlier = ({ hash }: { readonly hash: string }) => void earlier.push(hash)
  const options = { network: NETWORK, account: 'k:me', confirmations: 6, clock, disk, onEarlier }
  const state = await openState({ folder, isRequired: false }, { ...options, onEvent: (event) => events.push(event) })
  const mend = () => {
    isFailing = false
  }
  const said = () => events.flatMap((event) => ('message' in event ? `${event.type}: ${event.message}` : []))
  return { clock, folder, state, mend, said, earlier }
}

describe('the journal of earlier runs', () => {
  it('the journal of earlier runs contains unsettled solutions with their earlier verdicts', async () => {
    const ways = [
      [{ step: 'handed-in' }],
      [{ step: 'acknowledged' }, { step: 'confirmed', depth: 2 }],
      [{ step: 'acknowledged' }, { step: 'stale', mayReturn: true }],
      [{ step: 'acknowledged' }, { step: 'orphaned', mayReturn: true }],
      [{ step: 'acknowledged' }, { step: 'orphaned', mayReturn: true }, { step: 'orphaned' }],
      [{ step: 'stale' }],
    ] as const
    const { state } = await started((clock) => {
      return ways.flatMap((steps, i): JournalLine[] => {
        const { found, at, hash } = solution(BigInt(i + 1), clock)
        return [found, ...steps.map((step): JournalLine => ({ at, hash, ...step }))]
      })
    }, false)
    expect(state.unfinished).toMatchObject([
      { verdict: null, isAcknowledged: false },
      { verdict: 'accepted', isAcknowledged: true },
      { verdict: 'stale', isAcknowledged: true },
      { verdict: 'orphaned', isAcknowledged: true },
    ])
    expect(await state.readLater(new AbortController().signal)).toEqual([])
  })

  it('the journal of earlier runs is settled at any age, the newest 500 first; the others are reported', async () => {
    const { state, said } = await started((clock) => {
      const { found } = solution(1n, clock)
      return Array.from({ length: 502 }, (_, i): JournalLine => {
        const hash = String(i).padStart(43, 'A')
        return { ...found, at: `2020-01-01T00:00:00.${String(i).padStart(3, '0')}Z`, hash }
      })
    }, false)
    expect(state.unfinished).toHaveLength(500)
    expect(state.unfinished[0].foundAtMs).toBe(Date.parse('2020-01-01T00:00:00.002Z'))
    expect(said()).toEqual([expect.stringMatching(/^warning: 2 older solutions in .* are left to later starts$/)])
  })

  it('the journal of earlier runs names confirmed blocks with unknown rewards', async () => {
    const { state, earlier } = await started((clock) => {
      const [paid, unpaid] = [solution(1n, clock), solution(2n, clock)]
      return [
        ...[paid, unpaid].flatMap(({ found, at, hash }): JournalLine[] => [
          found,
          { at, hash, step: 'confirmed', depth: 2 },
        ]),
        { at: paid.at, hash: paid.hash, step: 'reward', amount: '2.5' },
      ]
    }, false)
    expect(earlier).toHaveLength(2)
    expect(state.unpaid).toEqual([encodeBase64Url(blockHash(state.unfinished[1].bytes))])
  })

  it('the journal of earlier runs is read once the disk recovers, without the solutions of this run', async () => {
    const kept: { before?: ReturnType<typeof solution> } = {}
    const { clock, state, mend, said, earlier } = await started((virtual) => {
      kept.before = solution(1n, virtual)
      return [kept.before.found]
    }, true)
    expect(state.unfinished).toEqual([])
    const left = state.readLater(new AbortController().signal)
    const { found } = solution(2n, clock)
    state.onEvent({ ...found, type: 'solution', verdict: null } as unknown as SolutionEvent)
    await clock.pass(10_000)
    mend()
    await clock.pass(2_000)
    expect((await left).map(({ bytes }) => encodeBase64Url(blockHash(bytes)))).toEqual([kept.before?.hash])
    expect(earlier).toEqual([kept.before?.hash])
    expect(said()).toEqual([
      expect.stringMatching(/^warning: cannot read the journal in .*: the disk is broken; mining continues/),
      expect.stringMatching(
        /^recovered: the journal in .* can be read now, with 1 solution of earlier runs to settle$/,
      ),
    ])
    expect(clock.pending).toBe(0)
  })

  it('the journal of earlier runs is not read after the end of the miner', async () => {
    const { clock, state, mend, said } = await started((virtual) => [solution(1n, virtual).found], true)
    const stop = new AbortController()
    const left = state.readLater(stop.signal)
    stop.abort()
    mend()
    expect(await left).toEqual([])
    expect(said()).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })
})
