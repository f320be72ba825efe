/** `newcut fork URL`: pins a network, and compares what code does there and here. */

import { casesOf, compareCode } from '#devnet/copy/compare-code.ts'
import { forkedNetwork } from '#devnet/options/network-settings.ts'
import { rulesOf } from '#devnet/rules/network-rules.ts'
import { settingsOf } from '#devnet/rules/settings.ts'
import { writeFlags } from '#faces/cli/config-file.ts'
import type { forkCommandOptions } from '#faces/cli/options/fork.ts'
import type { Values } from '#faces/cli/options/row.ts'
import { progressBarFor, progressReporter } from '#faces/cli/progress.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { firstNodeUrl, valueIn } from '#faces/cli/values.ts'
import { operatingError } from '#ground/base/errors.ts'
import type { Progress } from '#ground/base/progress.ts'
import { definitionOf } from '#ground/chain/network-form.ts'
import { openCopy } from '#language/copy/network-copy.ts'
import { pinText } from '#language/copy/pin.ts'
import { commandErrors } from './input/errors.ts'
import { forkOf } from './input/fork-setup.ts'
import { networkFormsOf } from './input/network-files.ts'
import { readCodeCases, writeReport } from './input/verify-report.ts'
import { comparisonLines } from './results/fork-lines.ts'

interface ForkCommand {
  /** Address of the node. */
  readonly url: string
  /** Files with code, or reports; without any, code is made from the modules of the chain. */
  readonly files: readonly string[]
  readonly values: Values<typeof forkCommandOptions>
}

/**
 * Resolves with the exit code: 1 if anything differs.
 * @throws NewcutError BAD_OPTION if files are given without --verify
 */
export async function runFork(command: ForkCommand, context: CommandContext): Promise<number> {
  const { files, values } = command
  const { verify: isVerified, report: file, cases: most, 'node-release': release, 'network-file': networkFile } = values
  const { out, err, environment, nowMs } = context
  const options = forkOf(valueIn(firstNodeUrl, command.url, command.url), values, environment)
  const bar = progressBarFor(err, environment, nowMs)
  const progress = progressReporter(bar)
  const tell = printerTo(bar.wrapOutput(err))
  const networks = await networkFormsOf(networkFile === undefined ? [] : [networkFile])
  let isCopied = false
  const forking = {
    ...options,
    onProgress: (copied: Progress | null) => {
      if (!isCopied) progress(copied)
    },
    networks: networks.map(definitionOf),
    onNotice: (line: string) => tell(writeFlags(line)),
  }
  if (!isVerified) {
    if (files.length > 0) {
      throw operatingError(commandErrors.needlessFile, { file: files[0] })
    }
    const { pin, remote } = await openCopy(forking).finally(() => progress(null))
    printerTo(out)(pinText(pin))
    tell(`pinned ${pin.network} at height ${pin.height}, with ${remote.requests} requests; give it to --fork-cut`)
    return 0
  }
  const given = readCodeCases(files)
  const [number = given.chain ?? 0] = options.chains ?? []
  const cut = options.cut ?? given.cut
  const fork = await openCopy({ ...forking, cut, chains: [number] }).finally(() => progress(null))
  const [chain, header] = [fork.chain(number), fork.headers.get(number)]
  if (header === undefined) throw new Error(`chain ${number} has no header`)
  tell(`${fork.pin.network} at height ${fork.pin.height}, chain ${number}, against release ${release} here`)
  const rules = rulesOf(
    settingsOf({ release, network: forkedNetwork({ network: fork.pin.network, code: header.version }, { networks }) }),
  )
  const made =
    files.length === 0 ? await casesOf(chain, most).finally(() => progress(null)) : { ...given, unloaded: [] }
  isCopied = true
  const onDone = (done: number, total: number) => progress({ what: 'comparing', done, total })
  const compared = await compareCode({ chain, header }, made.cases, { rules, most, onDone }).finally(() =>
    progress(null),
  )
  const report = { ...compared, unloaded: made.unloaded }
  for (const line of comparisonLines(report)) printerTo(out)(line)
  if (file !== undefined) {
    await writeReport(file, context, { remote: fork.remote, pin: fork.pin, chain: number, release }, report)
  }
  return report.differences.length === 0 ? 0 : 1
}
