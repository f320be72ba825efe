/** `newcut conformance --serve`: serves the interface to a client, and judges what it asks. */
import { join } from 'node:path'
import { NewcutError } from '../base/errors.ts'
import { formatDuration } from '../base/units.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { startDevnet } from '../compose/devnet.ts'
import { ownCases } from '../conformance/case-file.ts'
import { type ClientResult, clientRules } from '../conformance/clients/judge.ts'
import { ClientServer } from '../conformance/clients/serve.ts'
import { type ClientSituation, readSituations } from '../conformance/clients/situation-file.ts'
import { caseSummaryLines, failedCaseLine, gaveUpLine } from '../conformance/report.ts'
import type { CaseResult, ConformanceReport } from '../conformance/run.ts'
import { caseNeeds } from '../conformance/words.ts'
import { development } from '../core/network-data.ts'
import { definitionOf, type NetworkForm } from '../core/network-form.ts'
import { systemClock } from '../platform/clock.ts'

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

/** Hashes of a solution on average: a thread finds about one a second, so requests come at a natural pace. */
const DIFFICULTY = 500_000n
const IDLE_CHECK_MS = 200
/** Blocks of each chain at the start, so that lists and pages have something in them. */
const FIRST_BLOCKS = 3
/** Time between further blocks of each chain: streams have news, even of a client that sends no commands. */
const BLOCK_TIME_MS = 2000
/** Chains of every live network: clients have their number in their code. */
const GRAPH = 'twenty'

/** A report about a client. */
interface ClientReport extends ConformanceReport {
  readonly cases: readonly ClientResult[]
}

/** Resolves with exit code 0 if no case failed and at least one passed, otherwise 1. Throws NewcutError. */
export function serveClients(
  options: ServeClientsOptions,
  { out, err, untilStopped }: Pick<Surroundings, 'out' | 'err' | 'untilStopped'>,
): Promise<number> {
  const isChosen = (group: string, name: string) => options.only === null || `${group}: ${name}`.includes(options.only)
  const situations = readSituations(options.folder ?? join(ownCases(), 'clients')).filter(({ group, name }) =>
    isChosen(group, name),
  )
  if (situations.length === 0 && !clientRules.some(({ group, rule }) => isChosen(group, rule.name))) {
    throw new NewcutError('BAD_OPTION', `--only ${options.only}: no rule and no situation has this in its name`)
  }
  return untilStopped(async (stopped) => {
    const report = await judged(options, situations, (line) => printerTo(err)(line), stopped)
    const cases = report.cases.filter(({ group, name }) => isChosen(group, name))
    const chosen = { ...report, cases }
    options.onReport(chosen)
    printReport(chosen, options.json, printerTo(out))
    const has = (outcome: CaseResult['outcome']) => cases.some((each) => each.outcome === outcome)
    return has('failed') || !has('passed') ? 1 : 0
  })
}

async function judged(
  { port, idleMs, network: form }: ServeClientsOptions,
  situations: readonly ClientSituation[],
  tell: (line: string) => void,
  stopped: AbortSignal,
): Promise<ClientReport> {
  const node = await startDevnet({
    port: 0,
    ...(form === null ? { graph: GRAPH } : { networkName: form.name, networks: [form] }),
    difficulty: DIFFICULTY,
    autoMine: { kind: 'on-arrival', confirmations: 5 },
  })
  const network = form?.name ?? development.name
  const blockGas = (form === null ? null : definitionOf(form).blockGas) ?? development.blockGas
  const chains = node.cut.size
  const blocksEach = (count: number) =>
    node.mine(Object.fromEntries(Array.from({ length: chains }, (_, i) => [i, count])))
  let news: Repetition | null = null
  // A miner makes the blocks itself: others would make its work stale.
  let isMiner = false
  try {
    let lastMs: number | null = null
    const server = new ClientServer({
      ...{ host: '127.0.0.1', port, node: node.url, situations, clock: systemClock },
      served: { network, chains, blockGas },
      onRequest: ({ operation }) => {
        lastMs = systemClock.monotonicMs()
        if (operation?.id === 'work') isMiner = true
        news ??= new Repetition(async () => isMiner || blocksEach(1), BLOCK_TIME_MS)
      },
    })
    const url = await server.listen()
    await blocksEach(FIRST_BLOCKS)
    tell(`serving ${url} to a client; ends ${formatDuration(idleMs)} after its last request, or on Ctrl-C`)
    await new Promise<void>((resolve) => {
      const check = setInterval(() => {
        if (!stopped.aborted && (lastMs === null || systemClock.monotonicMs() - lastMs < idleMs)) return
        clearInterval(check)
        resolve()
      }, IDLE_CHECK_MS)
    })
    const cases = server.judge.verdict(systemClock.monotonicMs())
    await server.close()
    return reportOf(url, network, cases)
  } finally {
    await (news as Repetition | null)?.end()
    await node.close()
  }
}

/** Runs a task again and again, never twice at once. */
class Repetition {
  readonly #timer: NodeJS.Timeout
  #running: Promise<unknown> | null = null

  constructor(task: () => Promise<unknown>, pauseMs: number) {
    this.#timer = setInterval(() => {
      this.#running ??= task().finally(() => {
        this.#running = null
      })
    }, pauseMs)
  }

  /** Resolves once the task has ended. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }
}

function reportOf(url: string, network: string, cases: readonly ClientResult[]): ClientReport {
  const offers = Object.fromEntries(caseNeeds.map((need) => [need, null])) as ClientReport['offers']
  return { node: url, network, packageVersion: '3.2', release: 'live 3.2', offers, cases }
}

function printReport(report: ClientReport, json: boolean, print: (line: string) => void): void {
  if (json) {
    print(JSON.stringify(report))
    return
  }
  for (const each of report.cases) if (each.outcome === 'failed') print(failedCaseLine(each, 'request'))
  for (const each of report.cases) if (each.gaveUp !== null) print(gaveUpLine(each, each.gaveUp))
  for (const line of caseSummaryLines(report)) print(line)
  print(`a client at ${report.node}`)
}
