/** `newcut fork URL`: pins a network, and compares what code does there and here. */

import { NewcutError } from '../base/errors.ts'
import { type ForkValues, forkSetup } from '../cli/input/fork-setup.ts'
import { networkFormsOf } from '../cli/input/network-files.ts'
import { progressBarFor, shownOn } from '../cli/progress.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { openCopy } from '../copy/network-copy.ts'
import { pinText } from '../copy/pin.ts'
import { definitionOf } from '../core/network-form.ts'
import { forkedNetwork } from '../devnet/options/network-settings.ts'
import { rulesOf } from '../devnet/rules/network-rules.ts'
import { settingsOf } from '../devnet/rules/settings.ts'
import type { NodeRelease } from '../schema/devnet-modes.ts'
import { casesOf, reportLines, verify } from './fork-verify.ts'
import { givenCases, writeReport } from './verify-report.ts'

export interface ForkCommand {
  /** Files with code, or reports; without any, code is made from the modules of the chain. */
  readonly files: readonly string[]
  readonly fork: ForkValues
  readonly isVerified: boolean
  /** File of the report as JSON, if it is to be written. */
  readonly report: string | undefined
  readonly most: number
  readonly release: NodeRelease
  /** File of the network of the node. */
  readonly networkFile: string | undefined
}

/** Resolves with the exit code: 1 if anything differs. */
export async function runFork(command: ForkCommand, around: Surroundings): Promise<number> {
  const { files, fork: values, isVerified, report: file, most, release, networkFile } = command
  const { out, err, environment, nowMs } = around
  const options = forkSetup(values, environment)
  if (options === null) throw new NewcutError('BAD_OPTION', 'fork takes the address of a node')
  const tell = printerTo(err)
  const networks = await networkFormsOf(networkFile === undefined ? [] : [networkFile])
  const forking = { ...options, networks: networks.map(definitionOf), onNotice: tell }
  if (!isVerified) {
    const flags = [['--report', file]] as const
    const useless = files[0] ?? flags.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${value}`]))[0]
    if (useless !== undefined) throw new NewcutError('BAD_OPTION', `${useless} has no effect without --verify`)
    const { pin, remote } = await openCopy(forking)
    printerTo(out)(pinText(pin))
    tell(`pinned ${pin.network} at height ${pin.height}, with ${remote.requests} requests; give it to --fork-cut`)
    return 0
  }
  const given = givenCases(files)
  const [number = given.chain ?? 0] = options.chains ?? []
  const cut = options.cut ?? given.cut
  const fork = await openCopy({ ...forking, cut, chains: [number] })
  const [chain, header] = [fork.chain(number), fork.headers.get(number)]
  if (header === undefined) throw new Error(`chain ${number} has no header`)
  tell(`${fork.pin.network} at height ${fork.pin.height}, chain ${number}, against release ${release} here`)
  const rules = rulesOf(
    settingsOf({ release, network: forkedNetwork({ network: fork.pin.network, code: header.version }, { networks }) }),
  )
  const made = files.length === 0 ? await casesOf(chain, most) : { ...given, unloaded: [] }
  const progress = shownOn(progressBarFor(err, environment, nowMs, false))
  const onDone = (done: number, total: number) => progress({ what: 'comparing', done, total })
  const compared = await verify({ chain, header }, made.cases, { rules, most, onDone }).finally(() => progress(null))
  const report = { ...compared, unloaded: made.unloaded }
  for (const line of reportLines(report)) printerTo(out)(line)
  if (file !== undefined) {
    await writeReport(file, around, { remote: fork.remote, pin: fork.pin, chain: number, release }, report)
  }
  return report.differences.length === 0 ? 0 : 1
}
