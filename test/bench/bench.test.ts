import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { compareReports, median, percentile, type Report, type Result } from '../../bench/report.ts'
import { provideNativeKernel } from '../../src/mining/engine/cpu/native-build.ts'
import { run, runProcess } from '../cli/run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('newcut bench', () => {
  it('`newcut bench --quick` runs every suite with its checks and writes a report', async () => {
    const file = join(folder, 'quick.json')
    // A start prints that the cache has a kernel of other sources, or its tuning. This cache has neither.
    const env = { XDG_CACHE_HOME: folder }
    const signal = new AbortController().signal
    await provideNativeKernel({ env: { ...process.env, ...env }, signal, limitMs: 600_000 })
    const { code, out, err } = await runProcess(['bench', '--quick', '--json', file], env)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    expect(report).toMatchObject({
      machine: expect.stringMatching(/cores/),
      runtime: expect.stringContaining(process.versions.node),
      date: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    })
    for (const { suite, name, unit, median: middle, min, max, samples } of report.results) {
      expect(suite).toEqual(expect.any(String))
      expect(name).toEqual(expect.any(String))
      expect(unit).toEqual(expect.any(String))
      expect(min, name).toBeLessThanOrEqual(middle)
      expect(middle, name).toBeLessThanOrEqual(max)
      expect(samples, name).toBeGreaterThan(0)
      // All hashing may have been wasted, so a result in % may be 0.
      expect(middle, name)[unit === '%' ? 'toBeGreaterThanOrEqual' : 'toBeGreaterThan'](0)
    }
    const measured = new Set(report.results.map(({ suite }) => suite))
    for (const suite of [
      'verify',
      'kernels',
      'threads',
      'preempt',
      'pipeline',
      'choice',
      'node',
      'contracts',
      'hostile',
      'stratum',
      'codec',
      ...(process.platform === 'linux' ? ['footprint'] : []),
    ])
      expect(measured).toContain(suite)
    // Without a driver these suites print that they were skipped and have no figures.
    if (!measured.has('gpu')) expect(out).toMatch(/\ngpu: .*\n {2}skipped: \S/)
    if (!measured.has('fleet')) expect(out).toMatch(/\nfleet: .*\n {2}skipped: nats-server is not installed/)
    if (!measured.has('shader')) expect(out).toMatch(/\nshader: .*\n {2}skipped: \S/)
    const kernels = report.results.filter(({ suite }) => suite === 'kernels')
    expect(kernels.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['crypto.hash', '@noble/hashes', 'midstate', 'wasm', 'js']),
    )
    // Measured ports have no ratio.
    const ofKernels = kernels.filter(({ unit }) => unit === 'MH/s')
    for (const { ratio } of ofKernels) expect(ratio?.to).toBe('crypto.hash')
    for (const { name } of kernels) expect(out).toContain(`  ${name}`)
  })

  it('newcut bench refuses an unknown suite by its name', async () => {
    const unknown = await run(['bench', 'kernel'])
    expect(unknown.err).toMatch(/kernel: no such benchmark suite .*\[BAD_OPTION\]/)
    expect(unknown.code).toBe(2)
  })

  it('`newcut bench stratum --rigs` runs models of rigs in virtual time, and writes a row for each result', async () => {
    const file = join(folder, 'rigs.json')
    const { code, out } = await run(['bench', 'stratum', '--quick', '--rigs', 'KA3:2, kdbox', '--json', file])
    expect(code).toBe(0)
    expect(out).toMatch(/virtual time, .* 200 s in [\d.]+ s/)
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    const what = ['useful in the first 3 minutes', 'useful after that', 'duplicates', 'shares refused']
    const more = ['first share after', 'longest silence', 'jobs', 'lines', 'bytes to the rig', 'bytes from the rig']
    const names = ['ka3', 'kdbox'].flatMap((model) => [...what, ...more].map((each) => `${model}: ${each}`))
    expect(report.results.map(({ name }) => name)).toEqual(names)
    const of = (name: string) => report.results.find((each) => each.name === name) as Result
    expect(of('ka3: useful in the first 3 minutes')).toMatchObject({ unit: '%', samples: 2, note: '2 rigs' })
    expect(of('ka3: useful in the first 3 minutes').min).toBeGreaterThanOrEqual(99)
    expect(of('ka3: useful after that').min).toBeGreaterThanOrEqual(99.8)
    expect(of('ka3: duplicates').max).toBe(0)
    expect(of('ka3: jobs').median).toBeCloseTo(2, 1)
    expect(of('kdbox: jobs').median).toBeLessThan(0.2)
    expect(of('ka3: bytes to the rig').median).toBeGreaterThan(1000)
  })

  it.each([
    ['ka4:10', /"ka4:10" is not a model of a rig; did you mean ka3\? .*models: ka3, .*bfgminer, farm/],
    ['', /--rigs : expected some text/],
    ['ka3:0', /"ka3:0" should have a number of rigs after one colon, from 1 to 10000/],
    ['ka3:ten', /"ka3:ten" should have a number/],
    ['ka3:1:2', /"ka3:1:2" should have a number/],
    ['ka3:1,KA3:2', /ka3 is named twice/],
    ['ka3:9000,kd6:1001', /10001 rigs are too many: 10000 at most/],
  ])('newcut bench refuses --rigs %s before it measures', async (rigs, error) => {
    const { code, err } = await run(['bench', 'stratum', '--rigs', rigs])
    expect(err).toMatch(error)
    expect(err).toMatch(/\[BAD_OPTION\]/)
    expect(code).toBe(2)
  })

  it.each([[[]], [['kernels']], [['stratum', 'node']]])(
    'newcut bench refuses --rigs with the suites %j',
    async (suites) => {
      const { code, err } = await run(['bench', ...suites, '--rigs', 'ka3'])
      expect(err).toMatch(/--rigs belongs to the suite stratum alone .*\[BAD_OPTION\]/)
      expect(code).toBe(2)
    },
  )

  it('newcut bench refuses to compare with a file that is not a report', async () => {
    const file = join(folder, 'no-report.json')
    writeFileSync(file, '{}')
    const compared = await run(['bench', 'codec', '--quick', '--compare', file])
    expect(compared.err).toMatch(/is not a benchmark report: it has no results .*\[BAD_INPUT\]/)
    expect(compared.code).toBe(1)
  })

  it('newcut bench exits with code 1 if something got worse than in an earlier report', async () => {
    const file = join(folder, 'codec.json')
    await run(['bench', 'codec', '--quick', '--json', file])
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    const faster = { ...report, results: report.results.map((row) => scaled(row, 100)) }
    writeFileSync(file, JSON.stringify(faster))
    const worse = await run(['bench', 'codec', '--quick', '--compare', file])
    expect(worse.out).toContain('worse by more than the noise: codec header decode')
    expect(worse.code).toBe(1)
    const slower = { ...report, results: report.results.map((row) => scaled(row, 0.01)) }
    writeFileSync(file, JSON.stringify(slower))
    expect((await run(['bench', 'codec', '--quick', '--compare', file])).code).toBe(0)
  })
})

const scaled = (row: Result, factor: number): Result => ({
  ...row,
  median: row.median * factor,
  min: row.min * factor,
  max: row.max * factor,
})

describe('compareReports', () => {
  const row = (unit: Result['unit'], middle: number, spread: number, ratio?: number): Result => ({
    suite: 's',
    name: 'n',
    unit,
    median: middle,
    min: middle * (1 - spread),
    max: middle * (1 + spread),
    samples: 3,
    ...(ratio !== undefined && { ratio: { to: 'unit', median: ratio } }),
  })
  const worse = (now: Result, before: Result) => {
    const report = (result: Result): Report => ({ machine: '', runtime: '', date: '', results: [result] })
    return compareReports(report(now), report(before)).regressions.length === 1
  }

  it.each([
    ['a lower rate', row('MH/s', 90, 0.01), row('MH/s', 100, 0.01), true],
    ['a lower rate within the band of the noise', row('MH/s', 90, 0.2), row('MH/s', 100, 0.01), false],
    [
      'a hundredth of the rate, in samples as far apart as twice their median',
      row('MH/s', 1, 1),
      row('MH/s', 100, 0),
      true,
    ],
    ['less than 5 % of change', row('MH/s', 96, 0), row('MH/s', 100, 0), false],
    ['a higher rate', row('MH/s', 150, 0), row('MH/s', 100, 0), false],
    ['a longer time', row('ms', 120, 0), row('ms', 100, 0), true],
    ['a shorter time', row('ms', 80, 0), row('ms', 100, 0), false],
    ['a slower machine with the same ratio', row('MH/s', 50, 0, 45), row('MH/s', 100, 0, 45), false],
    ['more shares that are refused', row('shares', 2, 0), row('shares', 1, 0), true],
    ['fewer lines', row('lines/s', 1, 0), row('lines/s', 2, 0), false],
    ['one instruction more', row('instructions', 878, 0), row('instructions', 877, 0), true],
    ['fewer instructions', row('instructions', 877, 0), row('instructions', 1039, 0), false],
    ['the same rate with a lower ratio', row('MH/s', 100, 0, 30), row('MH/s', 100, 0, 45), true],
  ])('compareReports judges %s', (_what, now, before, expected) => {
    expect(worse(now, before)).toBe(expected)
  })

  it('compareReports uses medians and percentiles', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(percentile([5, 1, 4, 2, 3], 0.5)).toBe(3)
    expect(percentile([5, 1, 4, 2, 3], 0.99)).toBe(5)
  })
})
