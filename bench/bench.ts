/** `newcut bench`: lists the suites and runs them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type BenchSuite, benchSuites } from '../src/faces/cli/bench-suites.ts'
import { NewcutError } from '../src/ground/base/errors.ts'
import type { OnProgress } from '../src/ground/base/progress.ts'
import { suggestName } from '../src/ground/base/similar-names.ts'
import { choice } from './choice.ts'
import { codec } from './codec.ts'
import { contracts } from './contracts.ts'
import { fleet } from './fleet.ts'
import { footprint } from './footprint.ts'
import { gpu } from './gpu.ts'
import { hostile } from './hostile/suite.ts'
import { kernels } from './kernels.ts'
import { node } from './node.ts'
import { pipeline } from './pipeline.ts'
import { preempt } from './preempt.ts'
import { relay } from './relay.ts'
import { compareReports, type Report, type Row, reportOf, tableOf } from './report.ts'
import { rigRows } from './rigs/rig-rows.ts'
import { readRigs } from './rigs/spec.ts'
import { shader } from './shader.ts'
import { stratum } from './stratum.ts'
import type { Effort, Suite } from './suite.ts'
import { threads } from './threads.ts'
import { verify } from './verify.ts'

const suites: Readonly<Record<BenchSuite, Suite>> = {
  verify,
  kernels,
  threads,
  preempt,
  pipeline,
  choice,
  gpu,
  shader,
  node,
  contracts,
  hostile,
  stratum,
  fleet,
  relay,
  codec,
  footprint,
}

const isSuite = (name: string): name is BenchSuite => Object.hasOwn(suites, name)

const FULL: Effort = { sampleMs: 300, rounds: 9, isQuick: false }
const QUICK: Effort = { sampleMs: 40, rounds: 1, isQuick: true }

export interface BenchOptions {
  /** Names of suites; all if empty. */
  readonly suites: readonly string[]
  readonly quick: boolean
  /** Rig models such as `ka3:100,kd6:1000`. The suite stratum runs them instead of its load. */
  readonly rigs?: string | undefined
  /** Output file of the JSON report. */
  readonly json?: string | undefined
  /** Earlier report to compare with. */
  readonly compare?: string | undefined
}

/**
 * Runs suites and prints their tables.
 * @param onProgress called when a suite begins
 * @returns the exit code: 1 if something is worse than in `compare`
 */
export async function runBench(
  options: BenchOptions,
  print: (line: string) => void,
  onProgress: OnProgress = () => undefined,
): Promise<number> {
  const names = options.suites.length > 0 ? options.suites.map(suiteNamed) : Object.keys(suites).filter(isSuite)
  const { rigs } = options
  if (rigs !== undefined) expectRigs(rigs, options.suites)
  const before = options.compare === undefined ? null : readReport(options.compare)
  const { machine, runtime, date } = reportOf([])
  print(`${machine}\n${runtime}\n${date}`)
  const rows: Row[] = []
  for (const [index, name] of names.entries()) {
    print(`\n${name}: ${benchSuites[name]}`)
    onProgress({ what: `measuring ${name}`, done: index, total: names.length })
    const suite: Suite = rigs === undefined ? suites[name] : (...args) => rigRows(rigs, ...args)
    const measured = await suite(options.quick ? QUICK : FULL, (line) => print(`  ${line}`))
    onProgress(null)
    if (typeof measured === 'string') {
      print(`  skipped: ${measured}`)
      continue
    }
    rows.push(...measured)
    for (const line of tableOf(reportOf(measured).results)) print(line)
  }
  const report = { ...reportOf(rows), date }
  if (options.json !== undefined) writeReport(options.json, report)
  if (before === null) return 0
  const { lines, regressions } = compareReports(report, before)
  print(`\ncompared with ${options.compare}: ${before.machine}, ${before.date}`)
  for (const line of lines) print(line)
  if (regressions.length > 0) print(`worse by more than the noise: ${regressions.join(', ')}`)
  return regressions.length > 0 ? 1 : 0
}

/** @throws NewcutError BAD_OPTION before any measurement */
function expectRigs(rigs: string, names: readonly string[]): void {
  readRigs(rigs)
  if (names.length === 1 && names[0] === 'stratum') return
  throw new NewcutError('BAD_OPTION', '--rigs belongs to the suite stratum alone', {
    hint: 'newcut bench stratum --rigs ka3:100,kd6:1000',
  })
}

function suiteNamed(name: string): BenchSuite {
  if (isSuite(name)) return name
  const known = Object.keys(suites)
  const hint = `suites: ${known.join(', ')}${suggestName(name, known)}`
  throw new NewcutError('BAD_OPTION', `${name}: no such benchmark suite`, { hint })
}

function readReport(path: string): Report {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8'))
    if (!Array.isArray(report?.results)) throw new Error('it has no results')
    return report
  } catch (error) {
    const message = `${path} is not a benchmark report: ${(error as Error).message}`
    throw new NewcutError('BAD_INPUT', message, { hint: 'newcut bench --json FILE writes one', cause: error })
  }
}

function writeReport(path: string, report: Report): void {
  try {
    writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`)
  } catch (error) {
    throw new NewcutError('BAD_INPUT', `cannot write ${path}: ${(error as Error).message}`, {
      hint: 'name a file in a folder that this user may write',
      cause: error,
    })
  }
}
