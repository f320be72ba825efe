/** Runs cases against a node, one after the other: they change its chains. */
import type { NetworkDefinition } from '#ground/chain/network.ts'
import type { ConformanceCase } from './case-file.ts'
import { CaseRun, type StepFailure } from './case-run.ts'
import { CaseSkipped } from './makes.ts'
import { type NodeProfile, probe } from './probe.ts'
import { HttpTransport, type WireOptions } from './wire.ts'
import type { CaseNeed, Release } from './words.ts'

/** The result of a case. */
export interface CaseResult {
  readonly group: string
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly durationMs: number
  /** Why it was skipped; null otherwise. */
  readonly reason: string | null
  /** The first failure; null unless the case failed. */
  readonly failure: StepFailure | null
}

/** The results of all chosen cases. */
export interface ConformanceReport {
  readonly node: string
  readonly network: string
  readonly packageVersion: string
  readonly release: Release
  /** CaseNeed -> null if the node offers it, otherwise the reason. */
  readonly offers: Readonly<Record<CaseNeed, string | null>>
  readonly cases: readonly CaseResult[]
}

interface ConformanceOptions extends WireOptions {
  readonly cases: readonly ConformanceCase[]
  /** Selects the expectations; null selects those of the node's own release. */
  readonly release: Release | null
  /** The only needs that cases may have; null for all that the node offers. */
  readonly needs: readonly CaseNeed[] | null
  /** Networks of the user's files, by which a node of that name is judged. Default: none. */
  readonly networks?: readonly NetworkDefinition[] | undefined
  readonly signal: AbortSignal
  readonly onResult?: (result: CaseResult) => void
}

/**
 * Runs cases against a node.
 * @throws NewcutError if the node cannot be reached or recognised, and the reason of the signal when it aborts
 */
export async function runCases(options: ConformanceOptions): Promise<ConformanceReport> {
  const { cases, networks, signal, url, clock } = options
  const wire = new HttpTransport(options)
  try {
    const wanted = new Set(
      cases.filter((each) => findUnwantedNeed(each, options.needs) === undefined).flatMap(({ needs }) => needs),
    )
    const probed = await probe({ wire, clock, signal, wanted, networks })
    const release = options.release ?? probed.release
    const skew = probed.nowS === 0 ? 0 : probed.nowS - clock.wallMs() / 1000
    const results: CaseResult[] = []
    for (const [i, each] of cases.entries()) {
      const result = await resultOf(each, { ...options, probed, release, wire, number: i, skewS: skew })
      results.push(result)
      options.onResult?.(result)
    }
    const { network, packageVersion, offers } = probed
    return { node: url, network, packageVersion, release, offers, cases: results }
  } finally {
    await wire.close()
  }
}

interface CaseContext extends ConformanceOptions {
  readonly probed: NodeProfile
  readonly release: Release
  readonly wire: HttpTransport
  readonly number: number
  /** Clock of the node minus that of this machine. */
  readonly skewS: number
}

async function resultOf(each: ConformanceCase, context: CaseContext): Promise<CaseResult> {
  const { group, name } = each
  const startedMs = context.clock.monotonicMs()
  const result = (outcome: CaseResult['outcome'], parts: Partial<CaseResult> = {}): CaseResult => {
    const durationMs = Math.round(context.clock.monotonicMs() - startedMs)
    return { group, name, outcome, durationMs, reason: null, failure: null, ...parts }
  }
  const reason = findSkipReason(each, context)
  if (reason !== null) return result('skipped', { reason })
  const run = new CaseRun(each, context)
  try {
    const failure = await run.run()
    return failure === null ? result('passed') : result('failed', { failure })
  } catch (error) {
    if (error instanceof CaseSkipped) return result('skipped', { reason: error.message })
    throw error
  } finally {
    run.close()
  }
}

/** The first need of a case that `--needs` leaves out. */
const findUnwantedNeed = ({ needs: own }: ConformanceCase, needs: readonly CaseNeed[] | null) =>
  needs === null ? undefined : own.find((need) => !needs.includes(need))

function findSkipReason(each: ConformanceCase, { probed, needs, release }: CaseContext): string | null {
  if (each.releases !== undefined && !each.releases.includes(release))
    return `it judges ${each.releases.join(', ')} only`
  const unwanted = findUnwantedNeed(each, needs)
  if (unwanted !== undefined) return `it needs ${unwanted}, which --needs leaves out`
  const missing = each.needs.find((need) => probed.offers[need] !== null)
  return missing === undefined ? null : `it needs ${missing}: ${probed.offers[missing]}`
}
