/**
 * The real miner, source and client, and the core of the embedded node, with a network between them that goes wrong:
 * all of it on virtual time, and all chance from one number. The same seed gives the same run.
 */
import { createHash } from 'node:crypto'
import { blockHash } from '../../src/core/block-hash.ts'
import { encodeBase64Url, equalBytes } from '../../src/core/bytes.ts'
import type { GraphName } from '../../src/core/graph.ts'
import { solves } from '../../src/core/pow.ts'
import { networkOf, settingsOf } from '../../src/devnet/rules/settings.ts'
import type { MinerEvent, SolutionEvent } from '../../src/mine/events.ts'
import type { Verdict } from '../../src/mine/life.ts'
import { Miner } from '../../src/mine/miner.ts'
import { NodeClient } from '../../src/node/client.ts'
import { miningNodeOf } from '../../src/source/node/mining-node.ts'
import { NodeSource } from '../../src/source/node/node-source.ts'
import { randomFrom } from '../random.ts'
import {
  DEAD_WORK_MS,
  GAP_MS,
  MAX_UNDECIDED,
  MAX_UNREAD_BYTES,
  maxConnections,
  maxTimers,
  RECOVERY_MS,
  VERDICT_MS,
} from './bounds.ts'
import { EmbeddedNode } from './embedded-node.ts'
import { SimulatedEngine } from './engine.ts'
import { type Family, families, type PlannedFault, planOf } from './faults.ts'
import { Network } from './network.ts'
import { VirtualTime } from './virtual-time.ts'

const URL = 'http://node.simulated:1848'
const ACCOUNT = { account: 'k:miner', predicate: 'keys-all', publicKeys: ['00'.repeat(32)] }
const GRAPHS: readonly GraphName[] = ['singleton', 'pair', 'triangle', 'petersen']
/** Few enough that a solution is found by hashing, and too many to solve by chance. */
const DIFFICULTY = 8n
/** Faults happen between these times. */
const FAULTS_FROM_MS = 2_000
const FAULTS_TO_MS = 14_000
/** How long nothing goes wrong afterwards; the engines find nothing any more in its last part. */
const CALM_MS = 24_000
const LAST_PART_MS = 6_000
const STALL_MS = 10_000

/** Something that must not happen. */
export interface Violation {
  readonly invariant: string
  readonly atMs: number
  readonly detail: string
}

/** Largest values of a run, to set bounds by. */
export interface Extremes {
  /** Until there was useful work without long gaps, from the end of all faults. */
  recoveryMs: number
  /** The longest gap since then. */
  gapMs: number
  deadWorkMs: number
  verdictMs: number
  timers: number
  connections: number
  undecided: number
  unreadBytes: number
}

export interface Outcome {
  readonly seed: number
  readonly family: Family
  readonly faults: readonly string[]
  readonly violations: readonly Violation[]
  readonly verdicts: Readonly<Record<Verdict, number>>
  /** Blocks of the miner that are on the chains of the node at the end. */
  readonly blocks: number
  readonly extremes: Extremes
  /** Hash of everything that happened. */
  readonly trace: string
}

export function familyOf(seed: number): Family {
  return families[seed % families.length]
}

/** Runs a seed. `onTrace` hears of everything that happens. */
export async function simulate(seed: number, onTrace?: (line: string) => void): Promise<Outcome> {
  const time = new VirtualTime()
  const uninstall = time.install(diceOf(seed, 'miner'))
  try {
    return await new Simulation(seed, time, onTrace).run()
  } finally {
    uninstall()
  }
}

/** Chance of its own for each part: what one part does changes nothing for the others. */
function diceOf(seed: number, part: string): () => number {
  return randomFrom(createHash('sha256').update(`${seed} ${part}`).digest().readInt32LE())
}

interface Life {
  readonly foundAtMs: number
  readonly chain: number
  readonly height: number
  readonly steps: string[]
  verdict: Verdict | null
  depth: number
}

class Simulation {
  readonly #seed: number
  readonly #time: VirtualTime
  /** Dice of the faults, and of the blocks of others. */
  readonly #world: () => number
  readonly #blocks: () => number
  readonly #onTrace: ((line: string) => void) | undefined
  readonly #hash = createHash('sha256')
  readonly #violations: Violation[] = []
  readonly #network: Network
  readonly #node: EmbeddedNode
  readonly #engine: SimulatedEngine
  readonly #faults: readonly PlannedFault[]
  readonly #chains: number
  /** What time waits for. */
  readonly #pending = new Set<Promise<unknown>>()
  /** Solutions of the miner by block hash. */
  readonly #lives = new Map<string, Life>()
  /** Jobs of which the miner has a solution. */
  readonly #solvedJobs = new Set<string>()
  /** Claims of the engine that solve: block hash -> job. */
  readonly #found = new Map<string, string>()
  /** By node, submissions of which the client has an answer of 2xx, and since when. */
  readonly #acknowledged = new Map<unknown, Map<string, number>>()
  readonly #extremes: Extremes = {
    recoveryMs: 0,
    gapMs: 0,
    deadWorkMs: 0,
    verdictMs: 0,
    timers: 0,
    connections: 0,
    undecided: 0,
    unreadBytes: 0,
  }
  readonly #calmFromMs: number
  readonly #endMs: number
  readonly #confirmations: number
  #isCalm = false
  #isOver = false
  /** Since when the engines have had no work that the node takes; null: they have. */
  #idleSinceMs: number | null = 0
  #searched: unknown = null
  /** Since when the client has known that what is searched is over. */
  #knownDeadSinceMs: number | null = null
  #otherNode: EmbeddedNode | null = null

  constructor(seed: number, time: VirtualTime, onTrace: ((line: string) => void) | undefined) {
    const random = diceOf(seed, 'plan')
    this.#seed = seed
    this.#time = time
    this.#world = diceOf(seed, 'world')
    this.#blocks = diceOf(seed, 'blocks')
    this.#onTrace = onTrace
    const graph = GRAPHS[Math.floor(random() * GRAPHS.length)]
    this.#node = this.#makeNode('development', graph)
    this.#chains = this.#node.cut.size
    this.#network = new Network(time, diceOf(seed, 'network'), {
      onTrace: (what) => this.#trace(what),
      onSubmitted: (host, work, sentAtMs) => this.#submitted(host, work, sentAtMs),
      onAcknowledged: (host, work) => {
        this.#acknowledgements(host).set(work.toString('hex'), time.nowMs)
      },
      onNews: (host, chain) => this.#told(host, chain),
    })
    this.#network.host = this.#node
    this.#engine = new SimulatedEngine({
      time,
      random: diceOf(seed, 'engine'),
      meanMs: 400 + random() * 2_500,
      onFound: ({ job }, bytes) => this.#found.set(encodeBase64Url(blockHash(bytes)), job),
    })
    this.#faults = planOf(familyOf(seed), random, FAULTS_FROM_MS, FAULTS_TO_MS)
    this.#calmFromMs = Math.max(...this.#faults.map(({ toMs }) => toMs)) + 1
    this.#endMs = this.#calmFromMs + CALM_MS
    this.#confirmations = random() < 0.5 ? 1 : 6
    this.#trace(`seed ${seed}: ${graph}, confirmations ${this.#confirmations}`)
  }

  async run(): Promise<Outcome> {
    const time = this.#time
    this.#planBlocks(300 + this.#blocks() * 3_000)
    for (const fault of this.#faults) this.#plan(fault)
    time.after(this.#calmFromMs, () => this.#becomeCalm())
    time.after(this.#endMs - LAST_PART_MS, () => {
      this.#engine.isLucky = false
    })
    const stop = new AbortController()
    let client: NodeClient | null = null
    const ending = this.#mine(stop.signal, (connected) => {
      client = connected
    })
    await this.#pass(this.#endMs)
    this.#judgeBeforeStop()
    this.#isOver = true
    stop.abort()
    let isDone = false
    const counts = ending.then((snapshot) => {
      isDone = true
      return snapshot?.solutions
    })
    await this.#pass(this.#endMs + 2_000)
    if (!isDone) this.#violate('stops', 'the miner had not stopped after 2 s')
    const solutions = isDone ? await counts : undefined
    this.#judgeCounts(solutions)
    await (client as NodeClient | null)?.close()
    await this.#pass(this.#endMs + 2_100)
    this.#judgeLeftovers()
    this.#node.stop()
    this.#otherNode?.stop()
    return this.#outcome(solutions)
  }

  async #mine(signal: AbortSignal, onConnected: (client: NodeClient) => void) {
    const time = this.#time
    const { clock } = time
    try {
      const client = await NodeClient.connect({ url: URL, dial: this.#network.dial })
      onConnected(client)
      const node = miningNodeOf({ client, account: ACCOUNT, clock, stallMs: STALL_MS })
      const confirmations = this.#confirmations
      const source = new NodeSource({ node, clock, random: Math.random, confirmations })
      const onEvent = (event: MinerEvent) => this.#onEvent(event)
      return await new Miner({ source, engines: [this.#engine], clock, onEvent }).run(signal)
    } catch (error) {
      this.#violate('goes on', error instanceof Error ? (error.stack ?? error.message) : String(error))
      return undefined
    }
  }

  async #pass(untilMs: number): Promise<void> {
    await this.#time.passUntil(untilMs, () => this.#judge())
  }

  #makeNode(name: string, graph: GraphName): EmbeddedNode {
    const settings = settingsOf({ graph, blockDelayMs: 2_000, difficulty: DIFFICULTY, pow: true, adjusts: false })
    const network = { ...networkOf(settings), name, code: name === 'development' ? 2 : 1 }
    // Random times: that of live nodes is 240 s.
    const updateStreamMs = this.#world() < 0.5 ? 240_000 : 3_000
    return new EmbeddedNode({ network, time: this.#time, random: diceOf(this.#seed, name), updateStreamMs })
  }

  #plan({ name, fromMs, toMs, begin }: PlannedFault): void {
    const time = this.#time
    const world = {
      time,
      network: this.#network,
      node: this.#node,
      random: this.#world,
      otherNode: () => {
        this.#otherNode ??= this.#makeNode(this.#world() < 0.5 ? 'development' : 'recap-development', 'pair')
        return this.#otherNode
      },
      during: (work: Promise<unknown>) => {
        this.#pending.add(work)
        void work.then(
          () => this.#pending.delete(work),
          (error) => {
            throw error
          },
        )
      },
    }
    time.after(fromMs, () => {
      this.#trace(`begins: ${name}`)
      const end = begin(world)
      time.after(toMs - fromMs, () => {
        this.#trace(`ends: ${name}`)
        end()
      })
    })
  }

  /** Blocks of others, at times like those of a network of miners. */
  #planBlocks(meanMs: number): void {
    const next = () => {
      const rate = this.#isCalm ? Math.max(meanMs, 1_500) : meanMs
      this.#time.after(-Math.log(1 - this.#blocks()) * rate, () => {
        if (this.#pending.size === 0) this.#node.mineElsewhere()
        next()
      })
    }
    next()
  }

  #becomeCalm(): void {
    this.#trace('all faults are over')
    this.#isCalm = true
  }

  // What is heard of

  #trace(what: string): void {
    const line = `${this.#time.nowMs.toFixed(3).padStart(10)} ${what}`
    this.#hash.update(`${line}\n`)
    this.#onTrace?.(line)
  }

  #violate(invariant: string, detail: string): void {
    this.#trace(`VIOLATION ${invariant}: ${detail}`)
    this.#violations.push({ invariant, atMs: this.#time.nowMs, detail })
  }

  #acknowledgements(host: unknown): Map<string, number> {
    const known = this.#acknowledged.get(host) ?? new Map<string, number>()
    this.#acknowledged.set(host, known)
    return known
  }

  #submitted(host: unknown, work: Buffer, sentAtMs: number): void {
    if (!solves(work)) this.#violate('only solutions are handed in', work.toString('hex'))
    const key = work.toString('hex')
    const answeredAtMs = this.#acknowledgements(host).get(key)
    // One that was under way when the other was answered is not made again.
    if (answeredAtMs !== undefined && sentAtMs > answeredAtMs) {
      this.#violate('a submission that was answered 2xx is not made again', encodeBase64Url(blockHash(work)))
    }
  }

  /** The client has an event of this chain. */
  #told(host: unknown, chain: number): void {
    const { work } = this.#engine
    if (host !== this.#network.host || work === null || work.fields.chainId !== chain || this.#isLive()) return
    this.#knownDeadSinceMs ??= this.#time.nowMs
  }

  #onEvent(event: MinerEvent): void {
    if (event.type === 'solution') {
      this.#onSolution(event)
      return
    }
    if (event.type === 'speed') return
    const { type } = event
    this.#trace(`miner: ${type} ${'message' in event ? event.message : ''}${'job' in event ? `job ${event.job}` : ''}`)
  }

  #onSolution(event: SolutionEvent): void {
    const { hash, step, verdict, chain, height, job } = event
    const { nowMs } = this.#time
    const reason = 'message' in event ? ` ${event.message}` : ''
    this.#trace(`solution ${hash} of chain ${chain}, height ${height}: ${step}${reason}`)
    if (step === 'found') {
      if (this.#lives.has(hash)) this.#violate('a solution is found once', hash)
      this.#lives.set(hash, { foundAtMs: nowMs, chain, height, steps: [], verdict: null, depth: 0 })
      this.#solvedJobs.add(job)
    }
    const life = this.#lives.get(hash)
    if (life === undefined) {
      this.#violate('the life of a solution begins when it is found', hash)
      return
    }
    life.steps.push(step)
    if (step === 'confirmed') life.depth = Math.max(life.depth, event.depth)
    if (verdict === null) return
    if (life.verdict === null) {
      const tookMs = nowMs - Math.max(life.foundAtMs, this.#isCalm ? this.#calmFromMs : nowMs)
      this.#extremes.verdictMs = Math.max(this.#extremes.verdictMs, tookMs)
      if (tookMs > VERDICT_MS) this.#violate('verdict in time', `${hash}: ${tookMs} ms`)
    }
    life.verdict = verdict
  }

  // What must hold

  /** Whether the engines search work of which the node would take a block. */
  #isLive(): boolean {
    const { work } = this.#engine
    return work !== null && this.#node.takes(work.fields)
  }

  /** What must hold at any time. */
  #judge(): void {
    const { nowMs } = this.#time
    const extremes = this.#extremes
    this.#judgeBounds()
    for (const [hash, job] of this.#found) {
      this.#found.delete(hash)
      if (!this.#lives.has(hash) && !this.#solvedJobs.has(job) && !this.#isOver) {
        this.#violate('every solution is handed in', hash)
      }
    }
    const { work } = this.#engine
    const isLive = this.#isLive()
    if (work !== this.#searched || isLive) this.#knownDeadSinceMs = null
    this.#searched = work
    if (this.#knownDeadSinceMs !== null && !this.#isOver) {
      const deadMs = nowMs - this.#knownDeadSinceMs
      extremes.deadWorkMs = Math.max(extremes.deadWorkMs, deadMs)
      if (deadMs > DEAD_WORK_MS) {
        this.#violate('work that is over is not searched on', `${deadMs} ms`)
        this.#knownDeadSinceMs = null
      }
    }
    this.#judgeSearch(isLive)
  }

  #judgeSearch(isLive: boolean): void {
    const { nowMs } = this.#time
    const extremes = this.#extremes
    const wasIdleSinceMs = this.#idleSinceMs
    if (isLive) this.#idleSinceMs = null
    else this.#idleSinceMs ??= nowMs
    if (!this.#isCalm || this.#isOver || wasIdleSinceMs === null) return
    const calmMs = nowMs - this.#calmFromMs
    const idleMs = Math.min(calmMs, nowMs - wasIdleSinceMs)
    if (idleMs <= GAP_MS) {
      extremes.gapMs = Math.max(extremes.gapMs, idleMs)
      return
    }
    if (calmMs > RECOVERY_MS && extremes.recoveryMs <= RECOVERY_MS) {
      this.#violate('work again after faults', `nothing of use for ${Math.round(idleMs)} ms`)
    }
    extremes.recoveryMs = Math.max(extremes.recoveryMs, calmMs)
  }

  #judgeBounds(): void {
    const extremes = this.#extremes
    const timers = this.#time.pending('miner')
    const connections = this.#network.connections.size
    const undecided = [...this.#lives.values()].filter(({ verdict }) => verdict === null).length
    let unread = 0
    for (const { socket } of this.#network.connections) unread = Math.max(unread, socket.readableLength)
    const check = (what: keyof Extremes, value: number, most: number) => {
      if (value > most && extremes[what] <= most) this.#violate(`at most ${most} ${what}`, String(value))
      extremes[what] = Math.max(extremes[what], value)
    }
    check('timers', timers, maxTimers(this.#chains))
    check('connections', connections, maxConnections(this.#chains))
    check('undecided', undecided, MAX_UNDECIDED)
    check('unreadBytes', unread, MAX_UNREAD_BYTES)
  }

  /** What became of every solution is what the chains of the node say. */
  #judgeBeforeStop(): void {
    for (const [hash, { verdict, foundAtMs, chain, height, depth, steps }] of this.#lives) {
      const life = `${hash} of chain ${chain}, height ${height}, found at ${Math.round(foundAtMs)}: ${steps.join(', ')}`
      const isOnChain = this.#isOnChain(hash, chain, height)
      if (verdict === null) this.#violate('every solution gets a verdict', life)
      else if (isOnChain && verdict !== 'accepted') this.#violate(`what is on the chain is not ${verdict}`, life)
      if (verdict !== 'accepted' || isOnChain) continue
      const isKnown = this.#isKnown(hash, chain)
      if (!isKnown && this.#otherNode === null) this.#violate('what is accepted is known to the node', life)
      if (isKnown && this.#confirmations > 1 && depth < this.#confirmations) {
        this.#violate('what is accepted is on the chain until it is settled', life)
      }
    }
  }

  /** Every solution has one verdict, and is counted once. */
  #judgeCounts(solutions: Readonly<Record<Verdict, number>> | undefined): void {
    if (solutions === undefined) return
    const counted: Record<string, number> = { accepted: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0, unconfirmed: 0 }
    for (const { verdict } of this.#lives.values()) if (verdict !== null) counted[verdict]++
    const isSame = Object.entries(solutions).every(([verdict, count]) => counted[verdict] === count)
    if (isSame) return
    this.#violate('every solution is counted once', `${JSON.stringify(solutions)}, not ${JSON.stringify(counted)}`)
  }

  #judgeLeftovers(): void {
    const timers = this.#time.pending('miner')
    if (timers > 0) this.#violate('nothing is left behind', `${timers} timers`)
    const { size } = this.#network.connections
    if (size > 0) this.#violate('nothing is left behind', `${size} connections`)
  }

  #isKnown(hash: string, chain: number): boolean {
    return this.#node.chains.store.byId(hash, chain) !== undefined
  }

  #isOnChain(hash: string, chain: number, height: number): boolean {
    const block = this.#node.chains.store.byId(hash, chain)
    const head = this.#node.cut.get(chain)
    if (block === undefined || head === undefined || head.height < BigInt(height)) return false
    return equalBytes(this.#node.chains.ancestor(head.hash, height).hash, block.header.hash)
  }

  #outcome(solutions: Readonly<Record<Verdict, number>> | undefined): Outcome {
    const blocks = [...this.#lives].filter(([hash, { chain, height }]) => this.#isOnChain(hash, chain, height)).length
    return {
      seed: this.#seed,
      family: familyOf(this.#seed),
      faults: this.#faults.map(({ name, fromMs, toMs }) => `${name} ${Math.round(fromMs)}-${Math.round(toMs)} ms`),
      violations: this.#violations,
      verdicts: solutions ?? { accepted: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0, unconfirmed: 0 },
      blocks,
      extremes: this.#extremes,
      trace: this.#hash.digest('hex'),
    }
  }
}
