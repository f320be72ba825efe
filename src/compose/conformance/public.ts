/**
 * Judges nodes and clients by the description of the interface (docs/CONFORMANCE.md).
 *
 * | task | start with |
 * |---|---|
 * | judge a node | {@link judgeNode}, {@link ConformanceReport} |
 * | judge a client | {@link startClientJudge}, {@link JudgingNode} |
 * | choose or write cases | {@link readNodeCases}, {@link readClientSituations} |
 * | show a report | {@link reportLines}, {@link junitXml} |
 *
 * Times are in milliseconds. Failed cases are results; a node that cannot be judged, and files that cannot be read, throw
 * a `NewcutError`.
 *
 * @example Judge a development network by the cases that change nothing.
 * ```ts
 * import { judgeNode, reportLines } from 'newcut/conformance'
 * import { startDevnet } from 'newcut/devnet'
 *
 * const devnet = await startDevnet({ port: 0, graph: 'pair', autoMine: { kind: 'on-demand' } })
 * try {
 *   const report = await judgeNode({ url: devnet.url, needs: ['read-only'] })
 *   for (const line of reportLines(report)) console.log(line)
 * } finally {
 *   await devnet.close()
 * }
 * ```
 * @module newcut/conformance
 */
import { join } from 'node:path'
import { type ConformanceCase, ownCases, readCases } from '#client/conformance/case-file.ts'
import { type ClientSituation, readSituations } from '#client/conformance/clients/situation-file.ts'
import { caseSummaryLines, failedCaseLine, headLine } from '#client/conformance/report.ts'
import { type CaseResult, type ConformanceReport, runCases } from '#client/conformance/run.ts'
import type { CaseNeed, Release } from '#client/conformance/words.ts'
import type { NetworkDefinition } from '#ground/chain/network.ts'
import type { NetworkForm } from '#ground/chain/network-form.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { type JudgingNode, startJudgingNode } from './judging-node.ts'

export type { CaseStep, ConformanceCase, Expectation } from '#client/conformance/case-file.ts'
export type { StepFailure } from '#client/conformance/case-run.ts'
export type { ClientResult } from '#client/conformance/clients/judge.ts'
export type { ClientSituation } from '#client/conformance/clients/situation-file.ts'
export { junitXml } from '#client/conformance/report.ts'
export type { CaseResult, ConformanceReport } from '#client/conformance/run.ts'
export type { CaseNeed, Release } from '#client/conformance/words.ts'
export type { ClientReport, JudgingNode } from './judging-node.ts'

/** How to judge a node. */
export interface NodeJudgeOptions {
  /** Address of the node, such as `http://127.0.0.1:1848`. */
  readonly url: string
  /** Default: all cases of newcut. */
  readonly cases?: readonly ConformanceCase[]
  /** Selects the expectations. Default: those of the node's own release. */
  readonly release?: Release
  /** The only needs that cases may have: `read-only` alone leaves the chains as they are. Default: all. */
  readonly needs?: readonly CaseNeed[]
  /** Further networks, by which a node of that name is judged. Default: none. */
  readonly networks?: readonly NetworkDefinition[]
  /** From sending a request to the last byte of its answer. Default: 10,000. */
  readonly timeoutMs?: number
  /** Accepts any certificate of the node. Default: false. */
  readonly insecure?: boolean
  /** SHA-256 fingerprint of the only certificate to accept. Default: certificates are checked as usual. */
  readonly fingerprint?: string
  /** Ends the run: `judgeNode` rejects with its reason. */
  readonly signal?: AbortSignal
  /** Called after each case. */
  readonly onResult?: (result: CaseResult) => void
}

/** How to judge a client. */
export interface ClientJudgeOptions {
  /** Port of 127.0.0.1 for the client. Default: any free port. */
  readonly port?: number
  /** Network to serve. Default: the development network. */
  readonly network?: NetworkForm
  /** Faults and odd answers that the client meets. Default: those of newcut. */
  readonly situations?: readonly ClientSituation[]
}

const TIMEOUT_MS = 10_000

/**
 * Asks a node what the cases ask, one after the other, and compares the answers.
 * @throws NewcutError if the node cannot be reached or recognised
 */
export async function judgeNode(options: NodeJudgeOptions): Promise<ConformanceReport> {
  const { cases = readNodeCases(), release = null, needs = null, timeoutMs = TIMEOUT_MS, ...rest } = options
  const { signal = new AbortController().signal } = options
  return runCases({ ...rest, cases, release, needs, timeoutMs, signal, clock: systemClock })
}

/**
 * Starts a development node that judges the requests of a client. It meets the client with faults that live nodes have.
 * @throws NewcutError PORT_BUSY
 */
export function startClientJudge(options: ClientJudgeOptions = {}): Promise<JudgingNode> {
  const { port = 0, network = null, situations = readClientSituations() } = options
  return startJudgingNode({ port, network, situations, clock: systemClock })
}

/**
 * Reads the case files of a folder.
 * @param folder default: the cases of newcut
 * @throws NewcutError BAD_INPUT that names file, case and step
 */
export function readNodeCases(folder?: string): ConformanceCase[] {
  return readCases(folder ?? ownCases())
}

/**
 * Reads the files of situations of a folder.
 * @param folder default: the situations of newcut
 * @throws NewcutError BAD_INPUT that names file and situation
 */
export function readClientSituations(folder?: string): ClientSituation[] {
  return readSituations(folder ?? join(ownCases(), 'clients'))
}

/** A report for people: a line for each failure, reasons of skipped cases, the sums, and the node. */
export function reportLines(report: ConformanceReport): string[] {
  const failed = report.cases.filter(({ outcome }) => outcome === 'failed')
  return [...failed.map((each) => failedCaseLine(each)), ...caseSummaryLines(report), headLine(report)]
}
