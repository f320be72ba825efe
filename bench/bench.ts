/** `newcut bench`: the list of suites, and how some or all of them are run. */
import { readFileSync, writeFileSync } from 'node:fs'
import { NewcutError } from '../src/core/errors.ts'
import { choice } from './choice.ts'
import { codec } from './codec.ts'
import { contracts } from './contracts.ts'
import { gpu } from './gpu.ts'
import { kernels } from './kernels.ts'
import { node } from './node.ts'
import { pipeline } from './pipeline.ts'
import { preempt } from './preempt.ts'
import { compareReports, type Report, type Row, reportOf, tableOf } from './report.ts'
import { shader } from './shader.ts'
import type { Effort, Suite } from './suite.ts'
import { threads } from './threads.ts'

const suites: Readonly<Record<string, { readonly run: Suite; readonly what: string }>> = {
  kernels: { run: kernels, what: 'one thread: each kernel against crypto.hash, @noble/hashes and a plain loop' },
  threads: { run: threads, what: 'the CPU engine on 1 to N threads' },
  preempt: { run: preempt, what: 'how soon new work is searched, and what preemptions cost' },
  pipeline: { run: pipeline, what: 'the whole miner against the embedded node, near and far' },
  choice: { run: choice, what: 'a simulated live network: the chain with the highest expected reward, against any' },
  gpu: { run: gpu, what: 'the GPU engine on each adapter, and against a native kernel where one can be compiled' },
  shader: { run: shader, what: 'vector instructions a nonce on AMD cards: counted, no card is needed' },
  node: { run: node, what: 'the embedded node under load from another process, on disk, and the client on a page' },
  contracts: { run: contracts, what: 'contracts on the embedded node: reading, transfers, blocks, accounts on disk' },
  codec: { run: codec, what: 'headers, hashes and difficulty steps' },
}

const FULL: Effort = { sampleMs: 300, rounds: 9, isQuick: false }
const QUICK: Effort = { sampleMs: 40, rounds: 3, isQuick: true }

export interface BenchOptions {
  /** Names of suites. None given means all. */
  readonly suites: readonly string[]
  readonly quick: boolean
  /** File to write the report to. */
  readonly json?: string | undefined
  /** File with an earlier report. */
  readonly compare?: string | undefined
}

/** Runs suites and prints their tables. Returns the exit code: 1 when something got worse than in `compare`. */
export async function runBench(options: BenchOptions, print: (line: string) => void): Promise<number> {
  const names = options.suites.length > 0 ? options.suites : Object.keys(suites)
  for (const name of names) {
    if (!Object.hasOwn(suites, name)) {
      const hint = `suites: ${Object.keys(suites).join(', ')}`
      throw new NewcutError('BAD_OPTION', `${name}: no such benchmark suite`, { hint })
    }
  }
  const before = options.compare === undefined ? null : readReport(options.compare)
  const { machine, runtime, date } = reportOf([])
  print(`${machine}\n${runtime}\n${date}`)
  const rows: Row[] = []
  for (const name of names) {
    print(`\n${name}: ${suites[name].what}`)
    const measured = await suites[name].run(options.quick ? QUICK : FULL, (line) => print(`  ${line}`))
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
    throw new NewcutError('BAD_INPUT', `cannot write ${path}: ${(error as Error).message}`, { cause: error })
  }
}
