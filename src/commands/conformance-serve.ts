/** `newcut conformance --serve`: serves the interface to a client, and judges what it asks. */
import { join } from 'node:path'
import { ownCases } from '#client/conformance/case-file.ts'
import { clientRules } from '#client/conformance/clients/judge.ts'
import { type ClientSituation, readSituations } from '#client/conformance/clients/situation-file.ts'
import { caseSummaryLines, failedCaseLine, formatAbandoned } from '#client/conformance/report.ts'
import type { CaseResult, ConformanceReport } from '#client/conformance/run.ts'
import { type ClientReport, startJudgingNode } from '#compose/conformance/judging-node.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import { formatDuration } from '#ground/base/units.ts'
import type { NetworkForm } from '#ground/chain/network-form.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { commandErrors } from './input/errors.ts'

export interface ServeClientsOptions {
  readonly port: number
  /** Network to serve; null for development. */
  readonly network: NetworkForm | null
  /** Folder of situations; null for those of newcut. */
  readonly folder: string | null
  /** Chooses rules and situations whose group and name contain this; null for all. */
  readonly only: string | null
  /** The server ends when no request has come for this long after the first. */
  readonly idleMs: number
  readonly json: boolean
  readonly onReport: (report: ConformanceReport) => void
}

const IDLE_CHECK_MS = 200
/**
 * Resolves with exit code 0 if no case failed and at least one passed, otherwise 1.
 * @throws NewcutError
 */
export function runJudgingNode(
  options: ServeClientsOptions,
  { out, err, untilStopped }: Pick<CommandContext, 'out' | 'err' | 'untilStopped'>,
): Promise<number> {
  const isChosen = (group: string, name: string) => options.only === null || `${group}: ${name}`.includes(options.only)
  const situations = readSituations(options.folder ?? join(ownCases(), 'clients')).filter(({ group, name }) =>
    isChosen(group, name),
  )
  if (situations.length === 0 && !clientRules.some(({ group, rule }) => isChosen(group, rule.name))) {
    throw operatingError(commandErrors.unknownSituation, { text: options.only ?? '' })
  }
  return untilStopped(async (stopped) => {
    const report = await serveClient(options, situations, (line) => printerTo(err)(line), stopped)
    const cases = report.cases.filter(({ group, name }) => isChosen(group, name))
    const chosen = { ...report, cases }
    options.onReport(chosen)
    printReport(chosen, options.json, printerTo(out))
    const has = (outcome: CaseResult['outcome']) => cases.some((each) => each.outcome === outcome)
    return has('failed') || !has('passed') ? 1 : 0
  })
}

async function serveClient(
  { port, idleMs, network }: ServeClientsOptions,
  situations: readonly ClientSituation[],
  tell: (line: string) => void,
  stopped: AbortSignal,
): Promise<ClientReport> {
  const node = await startJudgingNode({ port, network, situations, clock: systemClock })
  tell(`serving ${node.url} to a client; ends ${formatDuration(idleMs)} after its last request, or on Ctrl-C`)
  await new Promise<void>((resolve) => {
    const check = setInterval(() => {
      if (!stopped.aborted && (node.idleMs === null || node.idleMs < idleMs)) return
      clearInterval(check)
      resolve()
    }, IDLE_CHECK_MS)
  })
  return node.end()
}

function printReport(report: ClientReport, json: boolean, print: (line: string) => void): void {
  if (json) {
    print(JSON.stringify(report))
    return
  }
  for (const each of report.cases) if (each.outcome === 'failed') print(failedCaseLine(each, 'request'))
  for (const each of report.cases) if (each.gaveUp !== null) print(formatAbandoned(each, each.gaveUp))
  for (const line of caseSummaryLines(report)) print(line)
  print(`a client at ${report.node}`)
}
