/** `newcut conformance`: judges a node by the cases of the interface. */

import { type ConformanceCase, ownCases, readCases } from '#client/conformance/case-file.ts'
import { caseSummaryLines, failedCaseLine, headLine, junitXml } from '#client/conformance/report.ts'
import { type ConformanceReport, runCases } from '#client/conformance/run.ts'
import type { Release } from '#client/conformance/words.ts'
import type { conformanceOptions } from '#faces/cli/options/conformance.ts'
import type { Values } from '#faces/cli/options/row.ts'
import { writeOutput } from '#faces/cli/output-file.ts'
import { progressBarFor } from '#faces/cli/progress.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import { definitionOf, type NetworkForm } from '#ground/chain/network-form.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { runJudgingNode, type ServeClientsOptions } from './conformance-serve.ts'
import { commandErrors } from './input/errors.ts'
import { networkFormsOf } from './input/network-files.ts'

type ConformanceValues = Values<typeof conformanceOptions>

/**
 * Resolves with exit code 0 if no case failed and at least one passed, otherwise 1.
 * @throws NewcutError
 */
export async function runConformance(values: ConformanceValues, context: CommandContext): Promise<number> {
  const { node: url, insecure, fingerprint, timeout: timeoutMs, needs = null, release, json, junit } = values
  const { 'network-file': file, serve } = values
  const forms = await networkFormsOf(file === undefined ? [] : [file])
  if (serve !== undefined) return runJudgingNode(serveOptions(serve, values, forms[0] ?? null), context)
  const { out, err, untilStopped } = context
  const cases = chosenCases(values.cases ?? ownCases(), values.only)
  const options = {
    url,
    insecure,
    timeoutMs,
    cases,
    needs,
    clock: systemClock,
    networks: forms.map(definitionOf),
    ...(fingerprint !== undefined && { fingerprint }),
    // `live 3.2` is `live-3.2` in options.
    release: release === undefined ? null : (release.replace('-', ' ') as Release),
  }
  const { environment, nowMs } = context
  const bar = progressBarFor(err, environment, nowMs, json)
  const print = printerTo(bar.wrapOutput(out))
  return untilStopped(async (signal) => {
    let report: ConformanceReport
    let done = 0
    const showProgress = () => bar.update({ what: 'judging the node', done, total: cases.length })
    try {
      showProgress()
      report = await runCases({
        ...options,
        signal,
        onResult: (result) => {
          done++
          showProgress()
          if (!json && result.outcome === 'failed') print(failedCaseLine(result))
        },
      })
    } catch (error) {
      if (!signal.aborted) throw error
      printerTo(bar.wrapOutput(err))('stopped before it was done')
      return 1
    } finally {
      bar.clear()
    }
    if (json) print(JSON.stringify(report))
    else for (const line of [...caseSummaryLines(report), headLine(report)]) print(line)
    if (junit !== undefined) writeOutput('--junit', junit, junitXml(report))
    const has = (outcome: string) => report.cases.some((each) => each.outcome === outcome)
    return has('failed') || !has('passed') ? 1 : 0
  })
}

/** The cases whose group, or group and name, contain the text. */
function chosenCases(folder: string, only: string | undefined): ConformanceCase[] {
  const all = readCases(folder)
  if (only === undefined) return all
  const chosen = all.filter(({ group, name }) => `${group}: ${name}`.includes(only))
  if (chosen.length > 0) return chosen
  const groups = [...new Set(all.map(({ group }) => group))].join(', ')
  throw operatingError(commandErrors.unknownCase, { text: only, files: groups })
}

function serveOptions(port: number, values: ConformanceValues, network: NetworkForm | null): ServeClientsOptions {
  const { cases: folder = null, only = null, idle: idleMs, json, junit } = values
  return {
    port,
    network,
    folder,
    only,
    idleMs,
    json,
    onReport: (report) => {
      if (junit !== undefined) writeOutput('--junit', junit, junitXml(report))
    },
  }
}
