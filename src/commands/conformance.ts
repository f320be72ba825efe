/** `newcut conformance`: judges a node by the cases of the interface. */
import { NewcutError } from '../base/errors.ts'
import type { Flags } from '../cli/command-row.ts'
import { networkFormsOf } from '../cli/input/network-files.ts'
import { writeOutput } from '../cli/output-file.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { duration } from '../cli/values.ts'
import {
  type CaseNeed,
  type ConformanceCase,
  needs,
  ownCases,
  type Release,
  readCases,
  releases,
} from '../conformance/case-file.ts'
import { caseSummaryLines, failedCaseLine, headLine, junitXml } from '../conformance/report.ts'
import { type ConformanceReport, runCases } from '../conformance/run.ts'
import { definitionOf } from '../core/network-form.ts'
import { systemClock } from '../platform/clock.ts'
import { type ServeClientsOptions, serveClients } from './conformance-serve.ts'

const TIMEOUT_MS = 10_000
/** A client that is done asks nothing for this long. */
const IDLE_MS = 30_000

/** Resolves with exit code 0 if no case failed and at least one passed, otherwise 1. Throws NewcutError. */
export async function runConformance(flags: Flags, around: Surroundings): Promise<number> {
  const typed = (name: string) => flags[name] as string | undefined
  const file = typed('networkFile')
  const forms = await networkFormsOf(file === undefined ? [] : [file])
  if (typed('serve') !== undefined) return serveClients({ ...serveOptions(flags), network: forms[0] ?? null }, around)
  if (typed('idle') !== undefined) {
    throw new NewcutError('BAD_OPTION', '--idle goes with --serve', { hint: 'a run against a node ends by itself' })
  }
  const { out, err, untilStopped } = around
  const cases = chosenCases(typed('cases') ?? ownCases(), typed('only'))
  const options = {
    url: typed('node') ?? 'http://127.0.0.1:1848',
    insecure: flags.insecure === true,
    ...(typed('fingerprint') !== undefined && { fingerprint: typed('fingerprint') as string }),
    clock: systemClock,
    timeoutMs: durationOf('--timeout', typed('timeout'), TIMEOUT_MS),
    cases,
    release: releaseOf(typed('release')),
    needs: needsOf(typed('needs')),
    networks: forms.map(definitionOf),
  }
  const print = printerTo(out)
  return untilStopped(async (signal) => {
    let report: ConformanceReport
    try {
      report = await runCases({
        ...options,
        signal,
        onResult: (result) => {
          if (!flags.json && result.outcome === 'failed') print(failedCaseLine(result))
        },
      })
    } catch (error) {
      if (!signal.aborted) throw error
      printerTo(err)('stopped before it was done')
      return 1
    }
    if (flags.json) print(JSON.stringify(report))
    else for (const line of [...caseSummaryLines(report), headLine(report)]) print(line)
    if (typed('junit') !== undefined) writeOutput('--junit', typed('junit') as string, junitXml(report))
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
  throw new NewcutError('BAD_OPTION', `--only ${only}: no case has this in its name`, { hint: `files: ${groups}` })
}

function needsOf(text: string | undefined): readonly CaseNeed[] | null {
  if (text === undefined) return null
  return text.split(',').map((name) => oneOf(needs, name.trim(), '--needs'))
}

const releaseOf = (text: string | undefined): Release | null =>
  text === undefined ? null : oneOf(releases, text.replace('-', ' '), '--release')

function oneOf<T extends string>(known: readonly T[], name: string, flag: string): T {
  const found = known.find((each) => each === name)
  if (found !== undefined) return found
  throw new NewcutError(
    'BAD_OPTION',
    `${flag} ${name}: expected ${known.map((each) => each.replace(' ', '-')).join(', ')}`,
  )
}

/** Reads a time. A number without a unit is in seconds. */
function durationOf(flag: string, text: string | undefined, standardMs: number): number {
  if (text === undefined) return standardMs
  const kind = duration(100)
  const milliseconds = kind.parse(/^\d+$/.test(text) ? `${text}s` : text)
  if (milliseconds !== undefined) return milliseconds
  throw new NewcutError('BAD_OPTION', `${flag} ${text}: expected ${kind.expected}`)
}

/** Options of a run that make no sense for a client. */
const OF_NODES = ['node', 'needs', 'release', 'timeout', 'insecure', 'fingerprint']

function serveOptions(flags: Flags): Omit<ServeClientsOptions, 'network'> {
  const typed = (name: string) => flags[name] as string | undefined
  const odd = OF_NODES.find((name) => flags[name] !== undefined)
  if (odd !== undefined) {
    const hint = '--serve judges a client, not a node: leave one of them out'
    throw new NewcutError('BAD_OPTION', `--${odd} does not go with --serve`, { hint })
  }
  const text = typed('serve') as string
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new NewcutError('BAD_OPTION', `--serve ${text}: expected a port from 0 to 65535; 0 takes any free port`)
  }
  const junit = typed('junit')
  return {
    port: Number(text),
    folder: typed('cases') ?? null,
    only: typed('only') ?? null,
    idleMs: durationOf('--idle', typed('idle'), IDLE_MS),
    json: flags.json === true,
    onReport: (report) => {
      if (junit !== undefined) writeOutput('--junit', junit, junitXml(report))
    },
  }
}
