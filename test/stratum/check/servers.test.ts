/**
 * The check against whole servers: newcut's own, an imitation of the official one, and several connections together.
 */
import { describe, expect, it } from 'vitest'
import { memorySockets } from '../../../bench/rigs/memory-socket.ts'
import { noWork } from '../../../src/mining/engine/engine.ts'
import { StratumEngine, type StratumOptions } from '../../../src/mining/engine/stratum/stratum.ts'
import { acrossMakers } from '../../../src/pool/stratum-check/across.ts'
import { judge } from '../../../src/pool/stratum-check/judge.ts'
import { type MakerName, makerNames } from '../../../src/pool/stratum-check/maker-rigs.ts'
import { recordTranscript } from '../../../src/pool/stratum-check/recorder.ts'
import type { Transcript } from '../../../src/pool/stratum-check/transcript.ts'
import { workOf } from '../../engine/stratum/servers.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { account, begin, good, header, makerOf, reportOf, type Script, transcriptOf } from './scripted.ts'

async function ours(options: Partial<StratumOptions> = {}) {
  const clock = new VirtualClock()
  const engine = new StratumEngine({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    difficulty: null,
    clock,
    random: () => 0.3,
    ...options,
  })
  await engine.start(286, { onCandidate: () => undefined, onWarning: () => undefined })
  const said = (name: MakerName, listenMs = 0) => {
    const { rig, server } = memorySockets()
    engine.accept(server)
    const stopped = new AbortController().signal
    return recordTranscript(makerOf(name), { socket: rig, clock, account, timeoutMs: 30_000, listenMs, stopped })
  }
  const reportFor = (name: MakerName, transcript: Transcript, isMeasured = false) =>
    judge(makerOf(name), account, transcript, { isTls: false, timeoutMs: 30_000, isMeasured })
  return { clock, engine, said, reportFor }
}

describe('our own server', () => {
  it('our own server lets the rigs of every maker mine, at full power', async () => {
    const { clock, engine, said, reportFor } = await ours()
    await engine.setWork(workOf(1, UNREACHABLE))
    const visits = makerNames.map((name) => said(name, 60_000))
    await clock.pass(70_000)
    const transcripts = await Promise.all(visits)
    const reports = transcripts.map((transcript, index) => reportFor(makerNames[index], transcript, true))
    for (const { outcome, findings, maker, measure } of reports) {
      expect({ maker, outcome, findings }).toEqual({ maker, outcome: 'mines', findings: [] })
      // These rigs have no known hashrate until they submit shares.
      const isUnknown = maker === 'farm' || maker === 'authorize-first'
      expect(measure?.used, maker).toEqual(isUnknown ? null : 1)
      expect(measure?.longestSilenceMs).toBeLessThan(31_000)
    }
    expect(reports.map(({ firstDifficulty }) => Math.log2(firstDifficulty ?? 0))).toEqual([48, 48, 44, 44, 44, 32, 32])
    expect(acrossMakers(transcripts.map((transcript, i) => ({ transcript, report: reports[i] })))).toEqual([])
    expect(engine.status()).toMatchObject({ sessions: 0, shares: { accepted: 0, malformed: 0, unsubscribed: 0 } })
    await engine.stop()
  })

  it('our own server is reported without a job while it has no work, and repeats the last one later', async () => {
    const { clock, engine, said, reportFor } = await ours()
    const early = said('ka3')
    await clock.pass(40_000)
    expect(reportFor('ka3', await early).findings).toMatchObject([{ name: 'noJob', level: 'fails' }])
    await engine.setWork(workOf(1, UNREACHABLE))
    await engine.setWork(noWork(2))
    const late = said('ka3', 90_000)
    await clock.pass(100_000)
    const report = reportFor('ka3', await late, true)
    expect(report).toMatchObject({ outcome: 'mines', findings: [] })
    await engine.stop()
  })
})

describe('a server like the official one', () => {
  /** Hex without leading zeros, a job once a second, and a closed connection on unknown methods. */
  const official = (nonce1: string): Script => ({
    'mining.subscribe': (asked, server) => {
      server.notify('mining.set_target', `3${'f'.repeat(53)}`.padStart(64, '0'))
      server.answer(asked, [null, nonce1, 6])
    },
    'mining.authorize': (asked, server) => {
      server.answer(asked, [])
      const job = () => {
        server.notify('mining.notify', `${server.state.jobs}`, header(1_000_000 * server.state.jobs++), true)
        server.after(1000, job)
      }
      server.after(700, job)
    },
    other: (_asked, { say, close }) => {
      say([-32600, 'Invalid Request', 'unknown method'])
      close()
    },
  })

  it('the official server lets an Antminer log in at its second attempt, late, and then sends headers in time', async () => {
    const report = await reportOf('ka3', official('e809'), { listenMs: 60_000 })
    expect(report.outcome).toBe('loses')
    expect(report.findings.map(({ name }) => name)).toEqual(['firstLine', 'secondTry', 'lateJob', 'easyShares'])
    expect(report.measure).toMatchObject({ longestSilenceMs: 1000 })
    expect(report.measure?.used).toBeGreaterThan(0.99)
  })

  it('the official server fails an Antminer in one session of sixteen', async () => {
    const report = await reportOf('ka3', official('809'))
    expect(report.findings[0]).toMatchObject({ name: 'nonce1Odd', level: 'fails' })
  })

  it('the official server closes on a Goldshell rig before it has logged in', async () => {
    const report = await reportOf('goldshell', official('e809'))
    expect(report.outcome).toBe('fails')
    expect(report.findings[0].name).toBe('nullAnswer')
  })
})

it('a check that is stopped before it starts reports nothing more, and disconnects', async () => {
  const { clock, engine } = await ours()
  const { rig, server } = memorySockets()
  engine.accept(server)
  const options = { socket: rig, clock, account, timeoutMs: 30_000, listenMs: 0, stopped: AbortSignal.abort() }
  const transcript = await recordTranscript(makerOf('ka3'), options)
  expect(transcript).toMatchObject({ endedBy: 'check', error: null })
  await clock.pass(1)
  expect(engine.status().sessions).toBe(0)
  await engine.stop()
})

describe('several connections', () => {
  const givenBy = (nonce1: string): Script => ({
    ...good,
    'mining.subscribe': (asked, server) => {
      server.answer(asked, [null, nonce1, 6])
      server.state.isSubscribed = true
      begin(server)
    },
  })

  async function together(...given: readonly (readonly [MakerName, string])[]) {
    const visited = await Promise.all(
      given.map(async ([name, nonce1]) => {
        const transcript = await transcriptOf(name, givenBy(nonce1), { listenMs: 10_000 })
        const options = { isTls: false, timeoutMs: 30_000, isMeasured: false }
        return { transcript, report: judge(makerOf(name), account, transcript, options) }
      }),
    )
    return visited
  }

  it('connections with one nonce1 at the same time search the same nonces', async () => {
    const visited = await together(['ka3', '09e8'], ['kd-box', '09E8'], ['farm', '09e9'])
    expect(acrossMakers(visited)).toMatchObject([
      { name: 'sharedNonce1', level: 'loss', text: expect.stringContaining('nonce1 09e8') },
    ])
    expect(acrossMakers(visited.slice(1))).toEqual([])
  })

  it('connections may have one nonce1 one after the other', async () => {
    const [one, other] = await together(['ka3', '09e8'], ['kd-box', '09e8'])
    const later = other.transcript.lines.map((each) => ({ ...each, atMs: each.atMs + 1e6 }))
    const { endedAtMs } = other.transcript
    const moved = { ...other, transcript: { ...other.transcript, lines: later, endedAtMs: endedAtMs + 1e6 } }
    expect(acrossMakers([one, moved])).toEqual([])
    expect(acrossMakers([moved, one])).toEqual([])
  })

  it("connections report an Antminer's fault if one has an odd number of digits", async () => {
    const visited = await together(['ka3', '09e8'], ['kd-box', '9e7'])
    expect(acrossMakers(visited)).toMatchObject([{ name: 'someNonce1Odd', level: 'loss' }])
  })
})
