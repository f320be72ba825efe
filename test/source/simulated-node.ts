/**
 * A model of a node, its chains and the network to it. Generated moves drive the source's state machine, and every move
 * checks the invariants.
 */
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { decodeWork, encodeWork, type WorkFields } from '../../src/ground/chain/header.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { type Work, workFromBytes } from '../../src/ground/chain/work.ts'
import type { CutHeads } from '../../src/mining/source/node/mining-node.ts'
import { BLOCK_OVERDUE_MS } from '../../src/mining/source/node/overdue.ts'
import { type Effect, type Event, initialState, isSolved, type State } from '../../src/mining/source/node/state.ts'
import { step } from '../../src/mining/source/node/step.ts'

type Ask = Extract<Effect, { readonly type: 'ask' }>
export type NewsOf<E> = E extends Event ? Omit<E, 'atMs'> : never

const bytes = (value: number) => new Uint8Array(32).fill(value & 0xff).fill(value >> 8, 0, 1)

/** The base64url hash that stands for a number. */
export const hashOf = (value: number) => encodeBase64Url(bytes(value))

/** Work on top of the parent that stands for a number. */
export function madeWork(chain: number, parent: number, creationTime = 1n, transactions = 0): Work {
  const fields: WorkFields = {
    featureFlags: 0n,
    creationTime,
    parent: bytes(parent),
    adjacents: new Map([[chain + 1, bytes(parent)]]),
    target: MAX_TARGET,
    payloadHash: bytes(transactions + 1),
    chainId: chain,
    weight: 0n,
    height: BigInt(parent + 1),
    version: 2,
    epochStart: 0n,
    nonce: 0n,
  }
  return workFromBytes(encodeWork(fields))
}

/** Chain and parent; all works on a parent have the same adjacent blocks here. */
const parentOf = ({ chainId, height }: WorkFields) => `${chainId} ${height}`

/** Thousands of states are checked, so this is plain: `expect` takes several times as long. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`broken: ${what}`)
}

/** The head of a chain is identified by its height, and is the parent of the chain's work. */
export class SimulatedNode {
  state: State
  readonly heads: number[]
  /** Pending requests, with the node's answer once it has read them. */
  readonly asked = new Map<number, { readonly ask: Ask; answer: Work | null }>()
  readonly pauses = new Set<string>()
  readonly followed = new Set<number>()
  /** Chains that are, or were, selected for mining. */
  readonly wanted: Set<number>
  /** Open streams: only these deliver news. */
  readonly open = new Set<number>()
  /** News in transit, oldest first. */
  readonly news: number[] = []
  /** Cut answers in transit, oldest first. */
  readonly headsSent: CutHeads[] = []
  /** Solutions in transit. */
  readonly handedIn: WorkFields[] = []
  delivered: Work | null = null
  /** Parents of solutions that are in transit, or taken and not overdue. */
  readonly #solved = new Set<string>()
  /** When to report the next block as overdue, or null. */
  #overdueAtMs: number | null = null
  readonly jobs: number[] = []
  #nowMs = 0
  #creationTime = 1n

  constructor(chains: number) {
    this.state = initialState(Array.from({ length: chains }, (_, chain) => chain))
    this.wanted = new Set(this.state.chains)
    this.heads = Array.from({ length: chains }, () => 0)
    this.tell({ type: 'started' })
  }

  /** Whether an acknowledged block has not arrived yet. */
  get isBlockAwaited(): boolean {
    return this.#overdueAtMs !== null
  }

  tell(news: NewsOf<Event>): void {
    const [state, effects] = step(this.state, { ...news, atMs: ++this.#nowMs } as Event)
    // A step must return a new state: changing a frozen one throws.
    this.state = Object.freeze(state)
    for (const part of [state.current, state.standby, state.asking, state.solved]) Object.freeze(part)
    for (const effect of effects) this.#perform(effect)
    this.#check()
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'ask':
        must(!this.asked.has(effect.request), 'a request has a number of its own')
        this.asked.set(effect.request, { ask: effect, answer: null })
        return
      case 'cancel':
        must(this.asked.delete(effect.request), 'only a pending request is cancelled')
        return
      case 'pause':
        this.pauses.add(effect.purpose)
        return
      case 'unpause':
        must(this.pauses.delete('current'), 'only a pause is ended')
        return
      case 'deliver':
        must(!this.#solved.has(parentOf(effect.job.work.fields)), 'work that we solved is not searched')
        this.jobs.push(effect.job.id)
        this.delivered = effect.job.work
        return
      case 'idle':
        this.delivered = null
        return
      case 'follow':
        this.followed.add(effect.chain)
        return
      case 'blockOverdueLater':
        this.#overdueAtMs = this.#nowMs + effect.delayMs
    }
  }

  /** Checks the invariants. */
  #check(): void {
    const { current, standby, asking, isPausing, chains } = this.state
    const purposes = [...this.asked.values()].map(({ ask }) => ask.purpose)
    const count = (of: string) => purposes.filter((purpose) => purpose === of).length
    must(count('current') === (asking === null ? 0 : 1), 'one request for current work')
    must(count('standby') === (standby.kind === 'asking' ? 1 : 0), 'one request for standby work')
    must(this.pauses.has('current') === isPausing, 'the state knows of its pause')
    must(asking === null || !isPausing, 'nothing is asked for during a pause')
    const taken = this.state.solved.flatMap(({ takenAtMs }) => takenAtMs ?? [])
    const dueMs = Math.min(...taken) + BLOCK_OVERDUE_MS
    must(taken.length === 0 || (this.#overdueAtMs ?? Infinity) <= dueMs, 'no block is waited for too long')
    must(this.delivered === (current.kind === 'searching' ? current.job.work : null), 'engines search the current work')
    must(new Set(this.jobs).size === this.jobs.length, 'a job has a number of its own')
    for (const chain of this.followed) must(this.wanted.has(chain), 'only chains to mine are followed')
    if (standby.kind === 'ready')
      must(chains.includes(standby.work.fields.chainId), 'the standby is of a chain to mine')
    if (current.kind === 'searching') {
      must(chains.includes(current.job.work.fields.chainId), 'the job is of a chain to mine')
      must(!isSolved(this.state, current.job.work.fields), 'the job is not solved')
      if (standby.kind === 'ready') {
        must(standby.work.fields.chainId !== current.job.work.fields.chainId, 'the standby is of another chain')
        must(!isSolved(this.state, standby.work.fields), 'the standby is not solved')
      }
      return
    }
    // Never stuck: something will bring work.
    const isWaitingForVerdict = this.handedIn.length > 0
    must(asking !== null || isPausing || standby.kind === 'asking' || isWaitingForVerdict, 'something will bring work')
  }

  // Moves of the world

  /** The node reads a request, which fixes the answer by the current chains. */
  read(index: number, random: number): void {
    const waiting = [...this.asked.values()].filter(({ answer }) => answer === null)
    const entry = waiting[index % Math.max(1, waiting.length)]
    if (entry === undefined) return
    const chain = this.#chainOf(entry.ask, random)
    entry.answer = madeWork(chain, this.heads[chain], ++this.#creationTime)
  }

  #chainOf(ask: Ask, random: number): number {
    if ('chain' in ask && ask.chain !== null) return ask.chain
    const excluded = 'notAmong' in ask ? ask.notAmong : []
    const choice = this.state.chains.filter((chain) => !excluded.includes(chain))
    return choice.length > 0 ? choice[random % choice.length] : random % this.heads.length
  }

  /** An answer arrives. */
  answer(index: number): void {
    const ready = [...this.asked].filter(([, { answer }]) => answer !== null)
    const [request, entry] = ready[index % Math.max(1, ready.length)] ?? []
    if (request === undefined || entry?.answer == null) return
    this.asked.delete(request)
    this.tell({ type: 'answered', request, work: entry.answer })
  }

  /** A request fails. */
  fail(index: number): void {
    const [request] = [...this.asked.keys()].slice(index % Math.max(1, this.asked.size))
    if (request === undefined) return
    this.asked.delete(request)
    this.tell({ type: 'failed', request, isFinal: false })
  }

  /** Another miner's block extends a chain. */
  advance(chain: number): void {
    this.heads[chain % this.heads.length]++
    this.news.push(chain % this.heads.length)
  }

  hear(): void {
    const chain = this.news.shift()
    if (chain === undefined || !this.open.has(chain)) return
    this.tell({ type: 'newCut', chain })
    const { current, standby } = this.state
    must(current.kind !== 'searching' || current.job.work.fields.chainId !== chain, 'news ends the job of its chain')
    must(standby.kind !== 'ready' || standby.work.fields.chainId !== chain, 'news ends the standby of its chain')
  }

  /** A stream opens, possibly again. */
  openStream(chain: number): void {
    if (!this.followed.has(chain)) return
    this.open.add(chain)
    this.tell({ type: 'streamOpened', chain })
  }

  /** Ranks the chains by decreasing worth, true or not; unlisted chains are blocked. */
  look(chains: readonly number[]): void {
    const all = [...new Set(chains.map((chain) => chain % this.heads.length))]
    const known = all.filter((chain) => this.state.chains.includes(chain))
    this.tell({ type: 'viewed', chances: new Map(known.map((chain, i) => [chain, 1 / (i + 1)])) })
  }

  /** Selects other chains for mining. */
  choose(chains: readonly number[]): void {
    const chosen = [...new Set(chains.map((chain) => chain % this.heads.length))]
    for (const chain of chosen) this.wanted.add(chain)
    this.tell({ type: 'chosen', chains: chosen })
  }

  closeStream(chain: number): void {
    this.open.delete(chain)
  }

  pauseOver(purpose: 'current' | 'standby'): void {
    if (this.pauses.delete(purpose)) this.tell({ type: 'paused', purpose })
  }

  /** The source asks the node for its heads; the answer takes time. */
  askForCut(): void {
    const heads = this.heads.map((head, chain) => [chain, { height: head, hash: hashOf(head) }] as const)
    this.headsSent.push(new Map(heads))
  }

  /** The oldest cut answer arrives. */
  seeCut(): void {
    const heads = this.headsSent.shift()
    if (heads !== undefined) this.tell({ type: 'cutSeen', cut: heads })
  }

  /** Time passes until an acknowledged block is overdue. The node has dropped it, or will add it later. */
  overdue(): void {
    if (this.#overdueAtMs === null) return
    this.#nowMs = Math.max(this.#nowMs, this.#overdueAtMs)
    this.#overdueAtMs = null
    // Those in transit are not overdue.
    const inTransit = this.handedIn.map(parentOf)
    for (const parent of this.#solved) if (!inTransit.includes(parent)) this.#solved.delete(parent)
    this.tell({ type: 'blockOverdue' })
  }

  /** An engine finds a solution of the current work. */
  solve(): void {
    if (this.delivered === null) return
    const { fields } = this.delivered
    this.handedIn.push(fields)
    this.#solved.add(parentOf(fields))
    this.tell({ type: 'submitted', fields })
  }

  /** The node takes the oldest solution, or refuses it. Its chain advances at once, or with `advance`. */
  verdict(isTaken: boolean, movesAtOnce: boolean): void {
    const [fields] = this.handedIn
    if (fields === undefined) return
    const isFresh = Number(fields.height) - 1 === this.heads[fields.chainId]
    if (isTaken && isFresh && movesAtOnce) this.advance(fields.chainId)
    this.handedIn.shift()
    if (isTaken && isFresh) this.tell({ type: 'acknowledged', fields })
    else {
      this.#solved.delete(parentOf(fields))
      this.tell({ type: 'reopened', fields })
    }
  }

  /** Everything in transit arrives, and streams reopen: after this the source knows the true state. */
  settle(random: number, rounds = 100): void {
    while (this.handedIn.length > 0) this.verdict(true, true)
    // By now the chains contain every solution that the node took.
    for (const { chainId, height } of this.state.solved) {
      if (this.heads[chainId] < Number(height)) this.advance(chainId)
    }
    while (this.news.length > 0) this.hear()
    for (const chain of this.open) this.openStream(chain)
    for (let round = 0; round < rounds; round++) {
      for (const chain of this.followed) if (!this.open.has(chain)) this.openStream(chain)
      this.read(0, random + round)
      this.answer(0)
      this.pauseOver('current')
      this.pauseOver('standby')
    }
  }
}

/** Chain and height, for messages. */
export function placeOf(work: Work): string {
  const { chainId, height } = decodeWork(work.bytes)
  return `chain ${chainId}, height ${height}`
}
