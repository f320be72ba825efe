/** `newcut devnet --data DIR --check`: shows and checks everything on disk. */

import { type CheckReport, checkDataDirectory } from '#devnet/data/check.ts'
import { graphText } from '#devnet/rules/settings.ts'
import type { OnProgress } from '#ground/base/progress.ts'

/** Prints its findings. Resolves with exit code 0 if nothing is wrong, otherwise 1. */
export async function runCheck(
  directory: string,
  stopped: AbortSignal,
  print: (line: string) => void,
  onProgress?: OnProgress,
): Promise<number> {
  let report: CheckReport
  try {
    report = await checkDataDirectory(directory, stopped, onProgress)
  } catch (error) {
    if (!stopped.aborted) throw error
    print('stopped before everything was checked')
    return 1
  }
  for (const line of linesOf(directory, report)) print(line)
  return report.findingCount === 0 ? 0 : 1
}

function linesOf(directory: string, report: CheckReport): string[] {
  const { settings, blocks, orphans, transactions, unsigned, hasPrints, stateBlocks, findings, findingCount } = report
  const state = stateBlocks === null ? 'no state database' : `${stateBlocks} of the blocks in the state database`
  const rest = findingCount - findings.length
  return [
    `${directory}: ${graphText(settings)} network, ${blocks} blocks (${orphans} orphans), ${transactions} transactions, ${state}`,
    ...(unsigned > 0
      ? [`${unsigned} transactions without valid signatures: impersonation or /devnet/run let them in`]
      : []),
    ...(hasPrints ? ['some of its code calls print: a node needs --allow-print to start with it'] : []),
    ...findings,
    ...(rest > 0 ? [`and ${rest} more`] : []),
    findingCount === 0 ? 'nothing is wrong' : `${findingCount} things are wrong`,
  ]
}
