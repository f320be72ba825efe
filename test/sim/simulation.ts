/**
 * The simulation: the real miner with its journal, source and client, and the core of the embedded node. Between them
 * are a faulty network and a faulty disk. All of it runs on virtual time, and one number determines all chance: the
 * same seed gives the same run.
 */
import { equalBytes } from '../../src/ground/base/bytes.ts'
import type { GraphName } from '../../src/ground/chain/graph.ts'
import type { Verdict } from '../../src/ground/chain/solution.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import {
  FAILBACK_SLACK_MS,
  LAST_LEFT_MS,
  MAX_OPEN_FILES,
  MAX_UNREAD_BYTES,
  maxConnections,
  maxTimers,
  RECOVERY_MS,
  START_MS,
  SYNC_MS,
} from './bounds.ts'
import { diceOf } from './dice.ts'
import { SimulatedDisk } from './disk.ts'
import { beginDiskFault, type DiskFault, diskFaultsOf } from './disk-faults.ts'
import { SimulatedEngine } from './engine.ts'
import { type Family, planOf, uselessPlanOf } from './faults.ts'
import { Gossip } from './gossip.ts'
import { MinerProcess } from './miner-process.ts'
import { type Extremes, Report, type Violation } from './report.ts'
import { FAULTS_FROM_MS, FAULTS_TO_MS, familyOf, type Kill, type Scenario, scenarioOf } from './scenario.ts'
import { Search } from './search.ts'
import { Site } from './site.ts'
import { isOnChain, SolutionChecks } from './solutions.ts'
import { VirtualTime } from './virtual-time.ts'

const GRAPHS: readonly GraphName[] = ['singleton', 'pair', 'triangle', 'petersen']
/** Time without faults at the end. In its last part the engines find nothing. */
const CALM_MS = 24_000
const LAST_PART_MS = 6_000
/** Share of foreign blocks that come from a node cut off from the others. */
const CUT_OFF_SHARE = 0.1
/**
 * Faults that only a single node has. Among several nodes, the others would refuse its blocks, or the clocks would
 * diverge.
 */
const ALONE_ONLY = ['clock of the node']
const FOREIGN = 'another network'

export interface Outcome {
  readonly seed: number
  readonly family: Family
  readonly faults: readonly string[]
  readonly violations: readonly Violation[]
  readonly verdicts: Readonly<Record<Verdict, number>>
  /** Blocks of the miner that are on the chains of a node at the end. */
  readonly blocks: number
  readonly extremes: Extremes
  /** The hash of all events. */
  readonly trace: string
}

/** Runs a seed. @param onTrace receives a line for each event */
export async function simulate(
  seed: number,
  onTrace?: (line: string) => void,
  scenario: Scenario = scenarioOf(seed),
): Promise<Outcome> {
  const time = new VirtualTime()
  // A run creates thousands of errors. Only a trace needs to show their origin.
  const { stackTraceLimit } = Error
  if (onTrace === undefined) Error.stackTraceLimit = 0
  const uninstall = time.install(diceOf(seed, 'miner'))
  try {
    return await new Simulation(seed, time, scenario, new Report(time, onTrace)).run()
  } finally {
    uninstall()
    Error.stackTraceLimit = stackTraceLimit
  }
}

class Simulation {
  readonly #seed: number
  readonly #time: VirtualTime
  readonly #scenario: Scenario
  readonly #report: Report
  /** Random numbers for blocks of other miners. */
  readonly #blocks: () => number
  readonly #sites: readonly Site[]
  readonly #disk: SimulatedDisk
  readonly #diskFaults: readonly DiskFault[]
  readonly #solutions: SolutionChecks
  readonly #search: Search
  readonly #meanMs: number
  readonly #calmFromMs: number
  readonly #endMs: number
  readonly #confirmations: number
  readonly #chains: number
  /** The running miner, or null. */
  #process: MinerProcess | null = null
  #processes = 0
  /** Since when the miner has had time to start. */
  #startedAtMs = 0
  #isCalm = false
  #isOver = false
  #isDiskWell = true
  /** When the first of several nodes was last seen to give work while all was well, or null. */
  #firstAgainMs: number | null = null
  /** Whether a later departure from it has been reported. */
  #isLeft = false

  constructor(seed: number, time: VirtualTime, scenario: Scenario, report: Report) {
    const random = diceOf(seed, 'plan')
    this.#seed = seed
    this.#time = time
    this.#scenario = scenario
    this.#report = report
    this.#blocks = diceOf(seed, 'blocks')
    const graph = GRAPHS[Math.floor(random() * GRAPHS.length)]
    const hooks = {
      onSubmitted: (...given: Parameters<SolutionChecks['recordSubmission']>) =>
        this.#solutions.recordSubmission(...given),
      onAcknowledged: (...given: Parameters<SolutionChecks['recordAcknowledgement']>) =>
        this.#solutions.recordAcknowledgement(...given),
      onRefused: (...given: Parameters<SolutionChecks['recordRefusal']>) => this.#solutions.recordRefusal(...given),
      onNews: (...given: Parameters<Search['told']>) => this.#search.told(...given),
    }
    this.#sites = Array.from({ length: scenario.nodes }, (_, index) => {
      return new Site({ seed, index, graph, time, report, hooks })
    })
    this.#chains = this.#sites[0].node.cut.size
    this.#meanMs = 400 + random() * 2_500
    this.#planFaults(random)
    this.#disk = new SimulatedDisk(time, diceOf(seed, 'disk'), diceOf(seed, 'index'))
    this.#diskFaults = scenario.hasDiskFaults ? diskFaultsOf(diceOf(seed, 'disk faults')) : []
    const ends = [...this.#sites.flatMap(({ faults }) => faults), ...this.#diskFaults].map(({ toMs }) => toMs)
    this.#calmFromMs = Math.max(...ends) + 1
    this.#endMs = Math.max(this.#calmFromMs + CALM_MS, this.#lastFirstMs() + LAST_PART_MS)
    this.#confirmations = random() < 0.5 ? 1 : 6
    const calmFromMs = () => {
      return this.#isCalm && Number.isFinite(this.#startedAtMs) ? Math.max(this.#calmFromMs, this.#startedAtMs) : null
    }
    const world = { time, report, sites: this.#sites, calmFromMs }
    this.#solutions = new SolutionChecks({ ...world, disk: this.#disk, confirmations: this.#confirmations })
    this.#search = new Search({ ...world, engine: () => (this.#isOver ? null : (this.#process?.engine ?? null)) })
    report.trace(`seed ${seed}: ${graph}, confirmations ${this.#confirmations}`)
    if (scenario.nodes > 1) report.trace(`${scenario.nodes} nodes, failback ${scenario.failbackMs} ms`)
  }

  async run(): Promise<Outcome> {
    const time = this.#time
    if (this.#sites.length > 1) this.#joinNodes()
    else this.#sites[0].node.onCut = (chains) => this.#solutions.moved(this.#sites[0], chains)
    this.#planBlocks(300 + this.#blocks() * 3_000)
    for (const fault of this.#diskFaults) this.#planDiskFault(fault)
    if (this.#scenario.kill !== null) this.#planKill(this.#scenario.kill)
    time.after(this.#calmFromMs, () => this.#becomeCalm())
    time.after(this.#endMs - LAST_PART_MS, () => {
      if (this.#process !== null) this.#process.engine.isLucky = false
    })
    this.#startMiner()
    await this.#pass(this.#endMs)
    const isAgreed = this.#sites.every(({ node }) => isSameCut(node, this.#sites[0].node))
    this.#solutions.judgeBeforeStop(isAgreed)
    this.#isOver = true
    const process = this.#process as MinerProcess | null
    process?.stop()
    await this.#pass(this.#endMs + 2_000)
    if (!process?.hasEnded) this.#report.violate('stops', 'the miner had not stopped after 2 s')
    const solutions = process?.snapshot?.solutions
    if (solutions !== undefined) this.#solutions.judgeCounts(solutions)
    await this.#pass(this.#endMs + 2_100)
    this.#judgeLeftovers()
    if (!this.#solutions.isJournalFailing) this.#solutions.judgeJournal()
    for (const site of this.#sites) site.stop()
    return this.#outcome(solutions)
  }

  async #pass(untilMs: number): Promise<void> {
    await this.#time.passUntil(untilMs, () => this.#judge())
  }

  // Plans

  #planFaults(random: () => number): void {
    const family = familyOf(this.#seed)
    const without = this.#sites.length > 1 ? ALONE_ONLY : []
    const span = { fromMs: FAULTS_FROM_MS, lastMs: FAULTS_TO_MS, without }
    const [first, ...others] = this.#sites
    for (const fault of planOf(family, random, span)) first.plan(fault)
    if (this.#scenario.isFirstUseless) {
      first.plan(uselessPlanOf(diceOf(this.#seed, 'plan of no use'), FAULTS_FROM_MS + 1_000))
      return
    }
    for (const site of others) {
      const dice = diceOf(this.#seed, `plan ${site.index}`)
      const planned = dice() < 0.5 ? planOf(family, dice, span) : []
      for (const fault of planned) site.plan(fault)
    }
  }

  /** The time by which the first of several nodes must give work again. */
  #lastFirstMs(): number {
    if (this.#sites.length === 1) return 0
    return Math.max(this.#calmFromMs, this.#startedAtMs) + 2 * this.#scenario.failbackMs + FAILBACK_SLACK_MS
  }

  /** Connects the nodes to each other; one of them may be cut off for a while. */
  #joinNodes(): void {
    const dice = diceOf(this.#seed, 'gossip')
    const gossip = new Gossip(this.#sites, this.#time, dice)
    for (const site of this.#sites) {
      site.node.onCut = (chains) => {
        this.#solutions.moved(site, chains)
        gossip.news(site)
      }
    }
    // The nodes that must give work stay well.
    if (dice() < 0.5 || this.#scenario.isFirstUseless) return
    const site = this.#sites[Math.floor(dice() * this.#sites.length)]
    const fromMs = FAULTS_FROM_MS + dice() * 2_000
    const begin = () => {
      site.isCutOff = true
      return () => {
        site.isCutOff = false
        gossip.newsOfAll()
      }
    }
    site.plan({ name: 'cut off from the other nodes', fromMs, toMs: fromMs + dice() * 8_000, begin })
  }

  /** Plans blocks of other miners, at the random times of a real network. */
  #planBlocks(meanMs: number): void {
    const next = () => {
      const rate = this.#isCalm ? Math.max(meanMs, 1_500) : meanMs
      this.#time.after(-Math.log(1 - this.#blocks()) * rate, () => {
        const { node, isAtRest } = this.#anySite()
        if (isAtRest) node.mineElsewhere()
        next()
      })
    }
    next()
  }

  /** The node that gets the next foreign block. At the end it is always the first, so that all nodes agree. */
  #anySite(): Site {
    const [first, ...others] = this.#sites
    if (others.length === 0 || this.#time.nowMs > this.#endMs - LAST_PART_MS) return first
    const isAlone = this.#blocks() < CUT_OFF_SHARE
    const sites = this.#sites.filter(({ isCutOff }) => isCutOff === isAlone)
    const choice = sites.length === 0 ? this.#sites : sites
    return choice[Math.floor(this.#blocks() * choice.length)]
  }

  #planDiskFault(fault: DiskFault): void {
    const disk = this.#disk
    this.#time.after(fault.fromMs, () => {
      this.#report.trace(`begins: disk is ${fault.name}`)
      this.#isDiskWell = false
      beginDiskFault(disk, fault, diceOf(this.#seed, 'slow disk'))
    })
    this.#time.after(fault.toMs, () => {
      this.#report.trace(`ends: disk is ${fault.name}`)
      disk.mend()
      this.#isDiskWell = true
    })
  }

  #becomeCalm(): void {
    this.#report.trace('all faults are over')
    this.#isCalm = true
  }

  // The miner

  #startMiner(): void {
    const number = ++this.#processes
    const dice = diceOf(this.#seed, number === 1 ? 'engine' : `engine ${number}`)
    const engine = new SimulatedEngine({
      time: this.#time,
      random: dice,
      meanMs: this.#meanMs,
      onFound: ({ job }, bytes) => this.#solutions.recordClaim(job, bytes),
    })
    engine.isLucky = this.#time.nowMs < this.#endMs - LAST_PART_MS
    this.#process = new MinerProcess({
      sites: this.#sites,
      engine,
      disk: this.#disk.mount(),
      failbackMs: this.#scenario.failbackMs,
      confirmations: this.#confirmations,
      onEvent: (event) => this.#onEvent(event),
      onUnfinished: (unfinished) => {
        if (number === 1) return
        this.#report.trace(`miner: ${unfinished.length} solutions to settle`)
        this.#solutions.resumed(unfinished)
        this.#startedAtMs = this.#time.nowMs + RECOVERY_MS
        this.#search.restarted()
      },
      onLeft: (unfinished) => {
        if (unfinished.length > 0) this.#report.trace(`miner: ${unfinished.length} more solutions to settle`)
        this.#solutions.resumedLate(unfinished)
      },
      onError: (error) => {
        this.#report.violate('goes on', error instanceof Error ? (error.stack ?? error.message) : String(error))
      },
    })
  }

  #planKill({ kind, atMs, downMs }: Kill): void {
    this.#time.after(atMs, () => {
      if (kind === 'write') this.#disk.onWrite = () => this.#kill(kind, downMs)
      else this.#kill(kind, downMs)
    })
  }

  #kill(kind: Kill['kind'], downMs: number): void {
    const time = this.#time
    const process = this.#process
    if (this.#isOver || process === null) return
    this.#report.trace(`the miner is killed (${kind})`)
    this.#process = null
    process.kill()
    const { text } = this.#disk
    this.#disk.unmount()
    if (kind === 'power') this.#disk.cutPower()
    // A solution with an incomplete line has not been submitted. A power cut may lose everything that was not synced.
    this.#solutions.died(kind !== 'moment' || this.#solutions.isJournalFailing, text)
    // A starting miner trusts /info, so it must not start while a node of another network answers.
    const foreign = this.#sites.flatMap(({ faults }) => faults.filter(({ name }) => name === FOREIGN))
    const startMs = Math.max(time.nowMs + downMs, ...foreign.map(({ toMs }) => toMs + 10))
    time.after(startMs - time.nowMs, () => {
      if (!process.hasEnded) this.#report.violate('stops', 'what is left of the miner that was killed does not end')
      this.#report.trace('the miner starts again')
      this.#startedAtMs = Number.POSITIVE_INFINITY
      this.#time.after(Math.max(this.#calmFromMs - time.nowMs, 0) + START_MS, () => {
        if (!Number.isFinite(this.#startedAtMs)) this.#report.violate('begins', `not within ${START_MS} ms`)
      })
      this.#solutions.isJournalFailing = false
      this.#search.restarted()
      time.owner = 'miner'
      this.#startMiner()
    })
  }

  #onEvent(event: MinerEvent): void {
    if (event.type === 'solution') this.#solutions.onEvent(event)
    if (event.type === 'solution' || event.type === 'speed') return
    const { type } = event
    const message = 'message' in event ? event.message : ''
    if (/^(?:the journal|cannot write the journal)\b/.test(message)) this.#onJournal(type, message)
    this.#report.trace(`miner: ${type} ${message}${'job' in event ? `job ${event.job}` : ''}`)
  }

  #onJournal(type: MinerEvent['type'], message: string): void {
    if (type === 'recovered' && message.includes('written')) this.#solutions.isJournalFailing = false
    if (type !== 'trouble' && !message.startsWith('cannot write')) return
    this.#solutions.isJournalFailing = true
    if (this.#disk.failures === 0) this.#report.violate('the journal fails when its disk does', message)
  }

  // Invariants

  #judge(): void {
    this.#judgeBounds()
    if (this.#isOver) return
    this.#solutions.judge()
    this.#search.judge()
    this.#judgeFirst()
  }

  #judgeBounds(): void {
    const report = this.#report
    const { length } = this.#sites
    let connections = 0
    let unread = 0
    for (const { network } of this.#sites) {
      connections += network.connections.size
      for (const { socket } of network.connections) unread = Math.max(unread, socket.readableLength)
    }
    report.reach('timers', this.#time.pending('miner'), length * maxTimers(this.#chains))
    report.reach('connections', connections, length * maxConnections(this.#chains))
    report.reach('unreadBytes', unread, MAX_UNREAD_BYTES)
    report.reach('openFiles', this.#disk.openFiles, MAX_OPEN_FILES)
    const { unsyncedSinceMs } = this.#disk
    if (!this.#isDiskWell || unsyncedSinceMs === null || this.#time.nowMs - unsyncedSinceMs <= SYNC_MS) return
    report.violate('what is written gets onto the disk', `not after ${this.#time.nowMs - unsyncedSinceMs} ms`)
    this.#disk.unsyncedSinceMs = null
  }

  /**
   * Once all is well the first of several nodes must give work again. The miner may leave it because of earlier faults,
   * and must return within the same time.
   */
  #judgeFirst(): void {
    if (!this.#isCalm || this.#sites.length === 1 || this.#process === null) return
    const { nowMs } = this.#time
    if (this.#process.nodes()[0]?.active ?? false) {
      if (this.#firstAgainMs === null) this.#report.reach('failbackMs', nowMs - this.#calmFromMs)
      this.#firstAgainMs = nowMs
      return
    }
    const againMs = this.#firstAgainMs ?? 0
    if (againMs > Math.max(this.#calmFromMs, this.#startedAtMs) + LAST_LEFT_MS && !this.#isLeft) {
      this.#report.violate('the first node is not left once all is well', this.#said())
      this.#isLeft = true
    }
    if (nowMs <= this.#lastFirstMs() || nowMs <= againMs + 2 * this.#scenario.failbackMs + FAILBACK_SLACK_MS) return
    this.#report.violate('work comes from the first node again', this.#said())
    this.#firstAgainMs = nowMs
  }

  #said(): string {
    return JSON.stringify(this.#process?.nodes().map(({ active, up, lag, problem }) => ({ active, up, lag, problem })))
  }

  #judgeLeftovers(): void {
    const timers = this.#time.pending('miner')
    if (timers > 0) this.#report.violate('nothing is left behind', `${timers} timers`)
    const connections = this.#sites.reduce((sum, { network }) => sum + network.connections.size, 0)
    if (connections > 0) this.#report.violate('nothing is left behind', `${connections} connections`)
    if (this.#disk.openFiles > 0) this.#report.violate('nothing is left behind', `${this.#disk.openFiles} files`)
  }

  #outcome(solutions: Readonly<Record<Verdict, number>> | undefined): Outcome {
    const ours = [...this.#solutions.histories]
    const blocks = ours.filter(([hash, history]) => this.#sites.some((site) => isOnChain(site, hash, history))).length
    const { violations, extremes } = this.#report
    return {
      seed: this.#seed,
      family: familyOf(this.#seed),
      faults: this.#allFaults(),
      violations,
      verdicts: solutions ?? { accepted: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0, unconfirmed: 0 },
      blocks,
      extremes,
      trace: this.#report.digest(),
    }
  }

  #allFaults(): string[] {
    const span = ({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) =>
      `${Math.round(fromMs)}-${Math.round(toMs)} ms`
    const { kill } = this.#scenario
    return [
      ...this.#sites.flatMap(({ index, faults }) => {
        return faults.map((fault) => `${index === 0 ? '' : `node ${index + 1}: `}${fault.name} ${span(fault)}`)
      }),
      ...this.#diskFaults.map((fault) => `disk ${fault.name} ${span(fault)}`),
      ...(kill === null ? [] : [`killed (${kill.kind}) at ${Math.round(kill.atMs)} ms`]),
    ]
  }
}

type Node = Site['node']

function isSameCut(a: Node, b: Node): boolean {
  return [...a.cut].every(([chain, { hash }]) => equalBytes(hash, b.cut.get(chain)?.hash ?? new Uint8Array()))
}
