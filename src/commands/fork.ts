/** `newcut fork URL`: pins a network, and compares what code does there and here. */
import { readFileSync, writeFileSync } from 'node:fs'
import { progressBarFor, shownOn } from '../cli/progress.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { describeError, NewcutError } from '../core/errors.ts'
import { openFork } from '../fork/fork.ts'
import { pinText } from '../fork/pin.ts'
import type { NodeRelease } from '../schema/node-releases.ts'
import { type ForkValues, forkSetup } from './fork-setup.ts'
import { casesOf, piecesOf, reportLines, verify } from './fork-verify.ts'

export interface ForkCommand {
  /** Files with code; without any, code is made from the modules of the chain. */
  readonly files: readonly string[]
  readonly fork: ForkValues
  readonly isVerified: boolean
  /** File of the report as JSON, if it is to be written. */
  readonly report: string | undefined
  readonly most: number
  readonly release: NodeRelease
}

/** Resolves with the exit code: 1 if anything differs. */
export async function runFork(command: ForkCommand, { out, err, environment, nowMs }: Surroundings): Promise<number> {
  const { files, fork: values, isVerified, report: file, most, release } = command
  const options = forkSetup(values, environment)
  if (options === null) throw new NewcutError('BAD_OPTION', 'fork takes the address of a node')
  const tell = printerTo(err)
  if (!isVerified) {
    const { pin, remote } = await openFork({ ...options, onNotice: tell })
    printerTo(out)(pinText(pin))
    tell(`pinned ${pin.network} at height ${pin.height}, with ${remote.requests} requests; give it to --fork-cut`)
    return 0
  }
  const [number = 0] = options.chains ?? []
  const fork = await openFork({ ...options, chains: [number], onNotice: tell })
  const [chain, header] = [fork.chain(number), fork.headers.get(number)]
  if (header === undefined) throw new Error(`chain ${number} has no header`)
  tell(`${fork.pin.network} at height ${fork.pin.height}, chain ${number}, against release ${release} here`)
  const made = files.length === 0 ? await casesOf(chain, most) : { cases: files.flatMap(casesIn), unloaded: [] }
  const progress = shownOn(progressBarFor(err, environment, nowMs, false))
  const onDone = (done: number, total: number) => progress({ what: 'comparing', done, total })
  const compared = await verify({ chain, header }, made.cases, { release, most, onDone }).finally(() => progress(null))
  const report = { ...compared, unloaded: made.unloaded }
  for (const line of reportLines(report)) printerTo(out)(line)
  if (file !== undefined) writeReport(file, { pin: JSON.parse(pinText(fork.pin)), chain: number, release, ...report })
  return report.differences.length === 0 ? 0 : 1
}

function casesIn(file: string): string[] {
  try {
    return piecesOf(readFileSync(file, 'utf8'), file)
  } catch (error) {
    if (error instanceof NewcutError) throw error
    throw new NewcutError('BAD_INPUT', `${file}: ${describeError(error)}`, { cause: error })
  }
}

function writeReport(file: string, report: object): void {
  try {
    writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
  } catch (error) {
    throw new NewcutError('BAD_OUTPUT', `--report ${file}: ${describeError(error)}`, { cause: error })
  }
}
