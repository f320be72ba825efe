/** The histories of the miner's solutions: events, journal and chains must agree. */

import { sha512t256 } from '../../src/devnet/rules/digest.ts'
import { encodeBase64Url, equalBytes } from '../../src/ground/base/bytes.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { solves } from '../../src/ground/chain/pow.ts'
import { type Verdict, verdictOf } from '../../src/ground/chain/solution.ts'
import { applyLine, type BlockRecord, parseLine } from '../../src/mining/journal/record.ts'
import type { SolutionEvent } from '../../src/mining/mine/events.ts'
import type { UnfinishedSolution } from '../../src/mining/mine/solution-steps.ts'
import { MAX_UNDECIDED, NO_PAYLOAD_MS, ONCE_MS, SETTLED_MS, UNCONFIRMED_MS, VERDICT_MS } from './bounds.ts'
import type { SimulatedDisk } from './disk.ts'
import type { Host } from './network.ts'
import type { Report } from './report.ts'
import type { Site } from './site.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface SolutionHistory {
  readonly foundAtMs: number
  readonly chain: number
  readonly height: number
  readonly steps: string[]
  verdict: Verdict | null
  depth: number
  /** Whether a node has had its block on its chain. */
  wasOnChain: boolean
  /** Whether the chain of a node has had another block in its place, so deep that the miner stops looking. */
  wasSettledAgainst: boolean
  /** Whether the solution is unknown for good: the disk did not take it, and the miner died. */
  isForgotten: boolean
  /** When its chain was last below its height at every node, so that no verdict was possible. */
  lowerAtMs: number
  /** Since when this run of the miner has known it. */
  sinceMs: number
  /** The verdict that it counts as in this run, or null if it has none or an earlier run counted it. */
  counted: Verdict | null
  /** Whether an earlier run has counted it. */
  wasCounted: boolean
  /** Whether this run has reported its last verdict as provisional. */
  mayChange: boolean
  /** Since when its height has been deep enough at every node for the miner to stop looking, or null. */
  deepSinceMs: number | null
}

/** The submissions of a solution to a node. */
interface Submissions {
  /** When the client received a 2xx answer, or null. */
  acknowledgedAtMs: number | null
  /** When the last unrefused submission was sent, or null. */
  sentAtMs: number | null
}

export interface SolutionChecksOptions {
  readonly time: VirtualTime
  readonly report: Report
  readonly sites: readonly Site[]
  readonly disk: SimulatedDisk
  readonly confirmations: number
  /** Since when nothing has been wrong, or null while something may be. */
  readonly calmFromMs: () => number | null
}

export class SolutionChecks {
  /** By block hash. */
  readonly histories = new Map<string, SolutionHistory>()
  /** Jobs for which the miner has found a solution. */
  readonly #solvedJobs = new Set<string>()
  /** Candidates of the engine that solve their work: block hash -> job. */
  readonly #found = new Map<string, string>()
  readonly #submissions = new Map<Host, Map<string, Submissions>>()
  readonly #options: SolutionChecksOptions
  /** Time of the miner's last death. */
  #diedAtMs = Number.NEGATIVE_INFINITY
  /** The journal at that time, with lines that the disk may have lost later, and whether it could be written. */
  #journalThen = { text: '', isFailing: false }
  /** Whether the miner reports that it cannot write the journal. */
  isJournalFailing = false

  constructor(options: SolutionChecksOptions) {
    this.#options = options
  }

  /** The engine has claimed a nonce that solves its work. */
  recordClaim(job: string, bytes: Uint8Array): void {
    this.#found.set(idOf(bytes), job)
  }

  recordSubmission(host: Host, work: Buffer, sentAtMs: number): void {
    const { report, sites, disk } = this.#options
    const hash = idOf(work)
    if (!solves(work)) report.violate('only solutions are submitted', work.toString('hex'))
    const before = this.#submissionsOf(host, work)
    // A submission that was sent before the answer arrived is not a repetition.
    if (before.acknowledgedAtMs !== null && sentAtMs > before.acknowledgedAtMs) {
      report.violate('a submission that was answered 2xx is not made again', hash)
    }
    const wellSinceMs = sites.find((site) => site.has(host))?.wellSinceMs ?? Number.POSITIVE_INFINITY
    if (before.sentAtMs !== null && before.sentAtMs - wellSinceMs > ONCE_MS) {
      report.violate('a node that is well gets a solution once', hash)
    }
    // The next run does not know the submissions of a dead one.
    if (sentAtMs > this.#diedAtMs) before.sentAtMs = sentAtMs
    const journalNow = { text: disk.text, isFailing: this.isJournalFailing }
    const journal = sentAtMs > this.#diedAtMs ? journalNow : this.#journalThen
    if (!journal.isFailing && !journal.text.includes(foundIn(hash))) {
      report.violate('a solution is in the journal before it is submitted', hash)
    }
  }

  recordAcknowledgement(host: Host, work: Buffer): void {
    this.#submissionsOf(host, work).acknowledgedAtMs = this.#options.time.nowMs
  }

  recordRefusal(host: Host, work: Buffer): void {
    this.#submissionsOf(host, work).sentAtMs = null
  }

  #submissionsOf(host: Host, work: Buffer): Submissions {
    const ofHost = this.#submissions.get(host) ?? new Map<string, Submissions>()
    this.#submissions.set(host, ofHost)
    const key = work.toString('hex')
    const known = ofHost.get(key) ?? { acknowledgedAtMs: null, sentAtMs: null }
    ofHost.set(key, known)
    return known
  }

  #begin(hash: string, chain: number, height: number): void {
    const { nowMs } = this.#options.time
    const unknown = { lowerAtMs: 0, verdict: null, counted: null, depth: 0, deepSinceMs: null }
    const flags = {
      wasOnChain: false,
      wasSettledAgainst: false,
      isForgotten: false,
      wasCounted: false,
      mayChange: false,
    }
    const history: SolutionHistory = {
      foundAtMs: nowMs,
      sinceMs: nowMs,
      chain,
      height,
      steps: [],
      ...unknown,
      ...flags,
    }
    // The chain of a node may have advanced before the solution was found.
    history.wasSettledAgainst = this.#options.sites.some((site) => this.#isSettledAgainst(site, hash, history))
    this.histories.set(hash, history)
  }

  /** Whether the chain of a node has another block in its place, deep enough for the miner to stop looking. */
  #isSettledAgainst(site: Site, hash: string, history: SolutionHistory): boolean {
    const depth = Number(site.node.cut.get(history.chain)?.height ?? 0n) - history.height + 1
    return depth >= this.#options.confirmations && !isOnChain(site, hash, history)
  }

  onEvent(event: SolutionEvent): void {
    const { time, report, calmFromMs } = this.#options
    const { hash, step, verdict, chain, height, job } = event
    const { nowMs } = time
    const reason = 'message' in event ? ` ${event.message}` : ''
    report.trace(`solution ${hash} of chain ${chain}, height ${height}: ${step}${reason}`)
    if (step === 'found') {
      if (this.histories.has(hash)) report.violate('a solution is found once', hash)
      this.#begin(hash, chain, height)
      this.#solvedJobs.add(job)
    }
    const history = this.histories.get(hash)
    if (history === undefined || history.isForgotten) {
      report.violate('the history of a solution begins when it is found', hash)
      return
    }
    history.steps.push(step)
    history.mayChange = 'mayReturn' in event && event.mayReturn === true
    // All solutions are right, and no run is longer than a node remembers its work.
    if (event.step === 'rejected' && event.reason !== 'no-payload')
      report.violate('a right solution is not refused', hash)
    if (event.step === 'lost' && event.reason !== 'stopped') report.violate('no solution is given up', hash)
    if (step === 'confirmed') history.depth = Math.max(history.depth, event.depth)
    if (verdict === null) return
    if (history.verdict === null) {
      const tookMs = nowMs - Math.max(history.sinceMs, history.lowerAtMs, calmFromMs() ?? nowMs)
      report.reach('verdictMs', tookMs)
      if (tookMs > mostMs(event)) report.violate('verdict in time', `${hash}: ${tookMs} ms`)
    }
    if (!history.wasCounted) history.counted = verdict
    history.verdict = verdict
    this.#judgeRefusal(hash, history)
  }

  /** Checks the invariants. */
  judge(): void {
    const { time, report, sites } = this.#options
    for (const [hash, job] of this.#found) {
      this.#found.delete(hash)
      if (!this.histories.has(hash) && !this.#solvedJobs.has(job)) report.violate('every solution is submitted', hash)
    }
    const known = [...this.histories.values()]
    for (const history of known) {
      const isOpen = history.verdict === null && history.steps.includes('acknowledged')
      if (isOpen && sites.every((site) => isLower(site, history))) history.lowerAtMs = time.nowMs
    }
    for (const [hash, history] of this.histories) if (history.mayChange) this.#judgeOpen(hash, history)
    report.reach(
      'undecided',
      known.filter((history) => history.verdict === null && !history.isForgotten).length,
      MAX_UNDECIDED,
    )
  }

  /** A provisional verdict must become final. */
  #judgeOpen(hash: string, history: SolutionHistory): void {
    const { time, report, sites, confirmations, calmFromMs } = this.#options
    const isDeep = sites.every(({ node }) => {
      return Number(node.cut.get(history.chain)?.height ?? 0n) - history.height + 1 >= confirmations
    })
    history.deepSinceMs = isDeep ? (history.deepSinceMs ?? time.nowMs) : null
    const tookMs = time.nowMs - Math.max(history.deepSinceMs ?? time.nowMs, calmFromMs() ?? time.nowMs)
    report.reach('settledMs', tookMs)
    if (tookMs <= SETTLED_MS) return
    report.violate('what may change is told for good', `${hash}: ${history.steps.join(', ')}, not after ${tookMs} ms`)
    history.mayChange = false
  }

  /** The chains of a node have advanced. */
  moved(site: Site, chains: readonly number[]): void {
    for (const [hash, history] of this.histories) {
      if (!chains.includes(history.chain)) continue
      history.wasSettledAgainst ||= this.#isSettledAgainst(site, hash, history)
      if (history.wasOnChain || !isOnChain(site, hash, history)) continue
      history.wasOnChain = true
      this.#judgeRefusal(hash, history)
    }
  }

  #judgeRefusal(hash: string, { wasOnChain, verdict, steps }: SolutionHistory): void {
    if (!wasOnChain || (verdict !== 'rejected' && verdict !== 'lost')) return
    this.#options.report.violate(`what was on the chain of a node is not ${verdict}`, `${hash}: ${steps.join(', ')}`)
  }

  // The miner dies and restarts

  /** The records of the journal, by block hash. */
  records(): Map<string, BlockRecord> {
    const records = new Map<string, BlockRecord>()
    for (const text of this.#options.disk.text.split('\n')) {
      const line = text === '' ? null : parseLine(Buffer.from(text))
      const record = line && applyLine(records.get(line.hash), line)
      if (record) records.set(record.hash, record)
    }
    return records
  }

  /**
   * The miner has died. @param mayForget whether the disk may lack solutions @param journal its contents at the death
   */
  died(mayForget: boolean, journal: string): void {
    const { report, time } = this.#options
    const records = this.records()
    this.#diedAtMs = time.nowMs
    this.#journalThen = { text: journal, isFailing: this.isJournalFailing }
    // The miner died while it wrote this line, and the line is complete: nobody saw it.
    for (const hash of this.#found.keys()) {
      const record = this.histories.has(hash) ? undefined : records.get(hash)
      if (record !== undefined) this.#begin(hash, record.chain, record.height)
    }
    this.#found.clear()
    for (const [hash, history] of this.histories) {
      const record = records.get(hash)
      if (record === undefined && !mayForget) report.violate('the journal has every solution', hash)
      history.isForgotten = record === undefined
      if (record !== undefined && record.state !== history.steps.at(-1)) history.steps.push(record.state)
      // The miner died while it wrote the verdict, and the line is complete: nobody saw it, and the journal has it.
      if (record !== undefined) history.verdict ??= verdictOf(record.state)
      history.counted = null
      // The next run reports the solutions that it takes up.
      history.mayChange = false
      history.sinceMs = time.nowMs
    }
    for (const ofHost of this.#submissions.values()) {
      for (const [work, known] of ofHost) {
        known.sentAtMs = null
        const state = records.get(idOf(Buffer.from(work, 'hex')))?.state
        // The next run may repeat everything that it does not know of.
        if (state === undefined || state === 'found' || state === 'handed-in') known.acknowledgedAtMs = null
      }
    }
  }

  /** The next run of the miner has read its journal. */
  resumed(unfinished: readonly UnfinishedSolution[]): void {
    const left = new Map(unfinished.map(({ bytes, verdict }) => [idOf(bytes), verdict]))
    for (const [hash, history] of this.histories) {
      const verdict = left.get(hash)
      history.sinceMs = this.#options.time.nowMs
      // The last report of the dead run may be missing from the journal.
      if (verdict !== undefined) history.verdict = verdict
      history.wasCounted = verdict !== null
    }
  }

  /** The miner has read the part of its journal that it could not read at its start. */
  resumedLate(unfinished: readonly UnfinishedSolution[]): void {
    for (const { bytes, verdict } of unfinished) {
      const history = this.histories.get(idOf(bytes))
      if (history === undefined) throw new Error('the journal has a solution that nobody found')
      Object.assign(history, { sinceMs: this.#options.time.nowMs, verdict, wasCounted: verdict !== null })
    }
  }

  // The end

  /** Verdicts must agree with the chains of the nodes. @param isAgreed whether all nodes have the same chains */
  judgeBeforeStop(isAgreed: boolean): void {
    const { time, report, sites, confirmations } = this.#options
    for (const [hash, history] of this.histories) {
      if (history.isForgotten) continue
      const { verdict, foundAtMs, chain, height, depth, steps } = history
      const told = `${hash} of chain ${chain}, height ${height}, found at ${Math.round(foundAtMs)}: ${steps.join(', ')}`
      const isThere = sites.some((site) => isOnChain(site, hash, history))
      if (verdict === null) {
        // An acknowledged solution has no verdict before its chain has advanced.
        const isAwaited = steps.includes('acknowledged') && sites.every((site) => isLower(site, history))
        const ageMs = time.nowMs - Math.max(foundAtMs, history.sinceMs)
        if (!isAwaited || ageMs > UNCONFIRMED_MS) report.violate('every solution gets a verdict', told)
      }
      const isExcused = verdict === null || (sites.length > 1 && history.wasSettledAgainst)
      if (isAgreed && isThere && verdict !== 'accepted' && !isExcused) {
        report.violate(`what is on the chain is not ${verdict}`, told)
      }
      if (verdict !== 'accepted' || isThere) continue
      const isKnown = sites.some(({ node }) => node.chains.store.byId(hash, chain) !== undefined)
      if (!isKnown && sites.every(({ otherNode }) => otherNode === null)) {
        report.violate('what is accepted is known to the node', told)
      }
      if (isKnown && confirmations > 1 && depth < confirmations) {
        report.violate('what is accepted is on the chain until it is settled', told)
      }
    }
  }

  /** Every solution has one verdict and counts once. */
  judgeCounts(solutions: Readonly<Record<Verdict, number>>): void {
    const counted: Record<string, number> = { accepted: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0, unconfirmed: 0 }
    for (const history of this.histories.values()) if (history.counted !== null) counted[history.counted]++
    if (Object.entries(solutions).every(([verdict, count]) => counted[verdict] === count)) return
    const told = `${JSON.stringify(solutions)}, not ${JSON.stringify(counted)}`
    this.#options.report.violate('every solution is counted once', told)
  }

  /** The journal must agree with the reported steps. */
  judgeJournal(): void {
    const { report } = this.#options
    const records = this.records()
    for (const [hash, { steps, isForgotten }] of this.histories) {
      const record = records.get(hash)
      if (isForgotten) continue
      if (record?.state === steps.at(-1)) continue
      report.violate('the journal says what became of a solution', `${hash}: ${record?.state}, not ${steps.at(-1)}`)
    }
  }
}

/** The block hash in base64url. */
const idOf = (work: Uint8Array) => encodeBase64Url(blockHash(work, sha512t256))

/** Longest time until this verdict. `unconfirmed` and `no-payload` come late. */
function mostMs(event: SolutionEvent): number {
  if (event.step === 'unconfirmed') return UNCONFIRMED_MS
  return event.step === 'rejected' && event.reason === 'no-payload' ? NO_PAYLOAD_MS : VERDICT_MS
}
const foundIn = (hash: string) => `"hash":"${hash}","step":"found"`

/** Whether a block is on the chain of a node. */
export function isOnChain(
  { node }: Site,
  hash: string,
  { chain, height }: Pick<SolutionHistory, 'chain' | 'height'>,
): boolean {
  const block = node.chains.store.byId(hash, chain)
  const head = node.cut.get(chain)
  if (block === undefined || head === undefined || head.height < BigInt(height)) return false
  return equalBytes(node.chains.ancestor(head.hash, height).hash, block.header.hash)
}

/** Whether the chain of a node ends below the height of a block. */
function isLower({ node }: Site, { chain, height }: Pick<SolutionHistory, 'chain' | 'height'>): boolean {
  return (node.cut.get(chain)?.height ?? 0n) < BigInt(height)
}
