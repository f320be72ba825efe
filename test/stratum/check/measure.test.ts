/** How busy the jobs of a server keep a rig, measured on virtual time. */
import { describe, expect, it } from 'vitest'
import { decodeHex } from '../../../src/ground/base/bytes.ts'
import { withNonce } from '../../../src/ground/chain/header.ts'
import { KA3_HEADER_MS, rigRates, secondsPerShare } from '../../../src/mining/stratum/rig-rates.ts'
import { headerMsOf, measureJobs } from '../../../src/pool/stratum-check/measure.ts'
import { freshWork } from '../../support/work.ts'
import { good, header, makerOf, reportOf, type Script, type Server, work } from './scripted.ts'

const jobsAt = (...jobs: readonly (readonly [atMs: number, header: Uint8Array])[]) =>
  jobs.map(([atMs, each]) => ({ atMs, header: each }))
const rolled = (microseconds: number) => decodeHex(header(microseconds))

describe('jobs of a server', () => {
  it('jobs of a server are used to the end of their header, and no further', () => {
    const jobs = jobsAt([1000, rolled(0)], [1500, rolled(1)], [4500, rolled(2)])
    const measure = measureJobs(jobs, [1000, 1500, 4500], { headerMs: 1000, endMs: 5000 })
    expect(measure).toMatchObject({ seconds: 4, jobs: 3, headers: 2, rolled: 2, repeated: 0, headersPerSecond: 0.5 })
    expect(measure?.used).toBe((500 + 1000 + 500) / 4000)
    expect(measure?.longestSilenceMs).toBe(3000)
  })

  it('jobs of a server with the same header continue it, and repeat it if the header is an earlier one', () => {
    const again = jobsAt([0, rolled(0)], [800, rolled(0)], [1600, rolled(1)], [2000, rolled(0)])
    const measure = measureJobs(again, [], { headerMs: 1000, endMs: 3000 })
    expect(measure).toMatchObject({ jobs: 4, headers: 2, rolled: 2, repeated: 1 })
    expect(measure?.used).toBeCloseTo((800 + 200 + 400) / 3000)
  })

  it('jobs of a server that differ only in their nonce have the same header; a newer time alone brings no new work', () => {
    const other = withNonce(freshWork(2n ** 100n), 0n)
    const jobs = jobsAt([0, work], [10, withNonce(work, 7n)], [20, other])
    expect(measureJobs(jobs, [], { headerMs: 1000, endMs: 30 })).toMatchObject({ headers: 1, rolled: 0, repeated: 0 })
  })

  it('jobs of a server give no measure if there are none, and full use of a last one', () => {
    expect(measureJobs([], [], { headerMs: 1, endMs: 5 })).toBeNull()
    expect(measureJobs(jobsAt([5, work]), [5], { headerMs: 1, endMs: 5 })).toMatchObject({
      used: 1,
      headersPerSecond: 0,
    })
  })

  it('jobs of a server last for less time with fewer bytes of nonce2', () => {
    expect(headerMsOf(makerOf('ka3'), 6)).toBe(KA3_HEADER_MS)
    expect(headerMsOf(makerOf('ka3'), 5)).toBe(20)
    expect(headerMsOf(makerOf('goldshell'), 6)).toBeCloseTo(7002, 0)
    expect(headerMsOf(makerOf('goldshell'), 4)).toBeCloseTo(0.1, 1)
    expect(headerMsOf(makerOf('farm'), 6)).toBeNull()
  })
})

/** A good server that sends another job at this interval, with the next of these headers. */
function every(milliseconds: number, next: (count: number) => string): Script {
  const go = (server: Server, count: number) => {
    server.after(milliseconds, () => {
      server.notify('mining.notify', `job${count}`, next(count), true)
      go(server, count + 1)
    })
  }
  return {
    ...good,
    'mining.authorize': (asked, server) => {
      good['mining.authorize'](asked, server)
      if (asked.id !== 'user 2' && asked.id !== 'user 3') go(server, 1)
    },
  }
}

const listening = { listenMs: 240_000 }
const names = (findings: readonly { readonly name: string }[]) => findings.map(({ name }) => name)

describe('a server under measurement', () => {
  it('a server under measurement uses an Antminer fully with two headers a second', async () => {
    const { outcome, findings, measure } = await reportOf('ka3', every(500, header), listening)
    expect({ outcome, findings }).toEqual({ outcome: 'mines', findings: [] })
    expect(measure).toMatchObject({ headers: 479, rolled: 479, longestSilenceMs: 500, used: 1 })
    expect(measure?.headersPerSecond).toBeCloseTo(2, 1)
  })

  it('a server with one header every two seconds uses half of a fast rig, and all of a slow one', async () => {
    const { outcome, findings, measure } = await reportOf('ka3', every(2000, header), listening)
    expect(outcome).toBe('loses')
    expect(names(findings)).toEqual(['slowHeaders'])
    expect(measure?.used).toBeCloseTo(KA3_HEADER_MS / 2000)
    expect(findings[0].text).toMatch(/header in 996 ms.* uses 49\.8 % of its hashrate/)
    expect(await reportOf('goldshell', every(2000, header), listening)).toMatchObject({
      outcome: 'mines',
      findings: [],
    })
  })

  it.each([
    ['ka3', 59_000, []],
    ['ka3', 60_000, ['silence']],
    ['goldshell', 60_000, []],
    ['goldshell', 120_000, ['silence']],
  ] as const)(
    'a rig under measurement of %s has after silences of %i ms the faults %j',
    async (maker, silenceMs, expected) => {
      const { findings } = await reportOf(maker, every(silenceMs, header), listening)
      expect(names(findings).filter((name) => name !== 'slowHeaders')).toEqual(expected)
    },
  )

  it('a server under measurement is measured from the log-in, however long that took', async () => {
    const script = every(500, header)
    const late: Script = {
      ...script,
      'mining.authorize': (asked, server) => server.after(20_000, () => script['mining.authorize'](asked, server)),
    }
    const { measure, loginMs } = await reportOf('ka3', late, listening)
    expect(measure?.longestSilenceMs).toBe(500)
    expect(loginMs).toBe(20_000)
  })

  it('the report of a measurement warns about repeated headers, and about too frequent ones', async () => {
    const again = await reportOf(
      'ibelink',
      every(500, (count) => header(count % 2)),
      listening,
    )
    expect(again.outcome).toBe('loses')
    expect(names(again.findings)).toEqual(['slowHeaders', 'oldHeaders'])
    const often = await reportOf('ibelink', every(200, header), listening)
    expect([often.outcome, ...names(often.findings)]).toEqual(['mines', 'fastHeaders'])
  })

  it('a server under measurement is measured from the end of its log-in for the requested time', async () => {
    const { measure } = await reportOf('kd-box', every(1000, header), { listenMs: 10_000 })
    expect(measure?.seconds).toBe(10)
    expect((await reportOf('kd-box', every(1000, header))).measure).toBeNull()
  })
})

describe('the rates of rigs', () => {
  it('the rates of rigs are sorted from the slowest to the fastest, each name once', () => {
    const rates = rigRates.map(({ rate }) => rate)
    expect(rates).toEqual(rates.toSorted((a, b) => a - b))
    expect(new Set(rigRates.map(({ name }) => name)).size).toBe(rigRates.length)
  })

  it('the rates of rigs give the time per share; no share is easier than 2^40 hashes', () => {
    expect(secondsPerShare(2 ** 48, 166e12)).toBeCloseTo(1.7, 1)
    expect(secondsPerShare(1000, 166e12)).toBe(secondsPerShare(2 ** 40, 166e12))
  })
})
