/** A miner of the simulated network: the state machine of the source, with a simulated shell. */
import { encodeWork } from '../src/ground/chain/header.ts'
import { MAX_TARGET } from '../src/ground/chain/target.ts'
import { type Work, workFromBytes } from '../src/ground/chain/work.ts'
import {
  chooseChain,
  type ExpectedRewards,
  expectedRewardsOf,
  type MinableChain,
} from '../src/mining/source/node/choice.ts'
import { type Effect, type Event, initialState, type State } from '../src/mining/source/node/state.ts'
import { step } from '../src/mining/source/node/step.ts'
import { adjacents, BLOCK_DELAY_MS, CHAINS, type Network } from './simulated-network.ts'

/** Time lost at a change of work. */
export const SWITCH_MS = 1
/** Minimum and maximum interval of head checks (src/mining/source/node/cut-feed.ts). */
const MIN_CHECK_MS = 200
const MAX_CHECK_MS = 1000

type Ask = Extract<Effect, { readonly type: 'ask' }>
type News = Event extends infer E ? (E extends Event ? Omit<E, 'atMs'> : never) : never

export class SimulatedMiner {
  readonly #network: Network
  readonly #latencyMs: number
  readonly #chooses: boolean
  #state: State = initialState(CHAINS)
  readonly #requests = new Set<number>()
  readonly #followed = new Set<number>()
  #search: {
    readonly chain: number
    readonly height: number
    readonly probability: number
    readonly fromMs: number
  } | null = null
  /** Called when it starts other work. */
  onWork: (chain: number, height: number) => void = () => undefined
  #pauses = 0
  #checkedAtMs = Number.NEGATIVE_INFINITY
  #checks = 0
  #blocks = 0
  #usefulMs = 0
  #meanProbabilityMs = 0

  constructor(network: Network, latencyMs: number, chooses: boolean) {
    this.#network = network
    this.#latencyMs = latencyMs
    this.#chooses = chooses
    network.listeners.push((chain) => this.#later(latencyMs / 2, () => this.#noticeCut(chain)))
    this.#dispatch({ type: 'started' })
    if (chooses) this.#planCheck(0)
  }

  begin(): void {
    this.#countHashes()
    this.#blocks = 0
    this.#usefulMs = 0
    this.#meanProbabilityMs = this.#network.meanProbabilityMs
  }

  /** Expected blocks of all hashes in per cent of those at the mean target, and useful hashes. */
  account(durationMs: number): { readonly blocks: number; readonly useful: number } {
    this.#countHashes()
    const possible = this.#network.meanProbabilityMs - this.#meanProbabilityMs
    return { blocks: (100 * this.#blocks) / possible, useful: (100 * this.#usefulMs) / durationMs }
  }

  #later(delayMs: number, run: () => void): void {
    this.#network.at(this.#network.nowMs + delayMs, run)
  }

  #noticeCut(chain: number): void {
    if (!this.#followed.has(chain)) return
    this.#dispatch({ type: 'newCut', chain })
    if (this.#chooses) this.#planCheck(MIN_CHECK_MS)
  }

  #dispatch(news: News): void {
    const [state, effects] = step(this.#state, { ...news, atMs: this.#network.nowMs } as Event)
    this.#state = state
    for (const effect of effects) this.#perform(effect)
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'ask':
        this.#ask(effect)
        return
      case 'cancel':
        this.#requests.delete(effect.request)
        return
      case 'pause':
        this.#pause(effect)
        return
      case 'unpause':
        this.#pauses++
        return
      case 'deliver':
        this.#take(effect.job.work)
        return
      case 'idle':
        this.#countHashes()
        this.#search = null
        return
      case 'follow':
        this.#follow(effect.chain)
    }
  }

  #ask(ask: Ask): void {
    const { request } = ask
    const asked = this.#chainFor(ask)
    this.#requests.add(request)
    this.#later(this.#latencyMs / 2, () => {
      const open = CHAINS.filter((chain) => this.#network.isOpen(chain))
      const chain = asked !== null && open.includes(asked) ? asked : open[Math.floor(Math.random() * open.length)]
      const work = workOf(chain, this.#network.heights[chain], this.#network.probabilityOf(chain))
      this.#later(this.#latencyMs / 2, () => {
        if (this.#requests.delete(request)) this.#dispatch({ type: 'answered', request, work })
      })
    })
  }

  #chainFor(ask: Ask): number | null {
    if ('chain' in ask) return ask.chain
    const others = CHAINS.filter((chain) => !ask.notAmong.includes(chain))
    return chooseChain(others, this.#state.rewards, Math.random)
  }

  #pause({ purpose, attempts }: Extract<Effect, { readonly type: 'pause' }>): void {
    const isCurrent = purpose === 'current'
    const pause = isCurrent ? ++this.#pauses : 0
    this.#later(isCurrent ? Math.random() * Math.min(10_000, 50 * 2 ** attempts) : 1000, () => {
      if (!isCurrent || pause === this.#pauses) this.#dispatch({ type: 'paused', purpose })
    })
  }

  #follow(chain: number): void {
    if (this.#followed.has(chain)) return
    this.#followed.add(chain)
    this.#later(this.#latencyMs, () => this.#dispatch({ type: 'streamOpened', chain }))
  }

  /** Checks the heads, at least this long after the last check. */
  #planCheck(intervalMs: number): void {
    const look = ++this.#checks
    this.#later(Math.max(0, this.#checkedAtMs + intervalMs - this.#network.nowMs), () => {
      if (look === this.#checks) this.#checkHeads()
    })
  }

  #checkHeads(): void {
    this.#checkedAtMs = this.#network.nowMs
    this.#later(this.#latencyMs / 2, () => {
      const chances = this.#chances()
      // The cut arrives, then headers are requested.
      this.#later(1.5 * this.#latencyMs, () => this.#dispatch({ type: 'viewed', chances }))
    })
    this.#planCheck(MAX_CHECK_MS)
  }

  #chances(): ExpectedRewards {
    const network = this.#network
    const open = CHAINS.filter((chain) => network.isOpen(chain))
    const prospects: MinableChain[] = open.map((chain) => {
      return { chain, parent: '', probability: network.probabilityOf(chain), sinceMs: network.openSinceMs[chain] }
    })
    return expectedRewardsOf(prospects, {
      chains: CHAINS.length,
      blockDelayMs: BLOCK_DELAY_MS,
      roundTripMs: this.#latencyMs,
      nowMs: network.nowMs,
    })
  }

  #take({ fields }: Work): void {
    this.#countHashes()
    const { nowMs } = this.#network
    const probability = Number(fields.target) / Number(MAX_TARGET)
    this.#search = { chain: fields.chainId, height: Number(fields.height), probability, fromMs: nowMs + SWITCH_MS }
    this.onWork(fields.chainId, Number(fields.height))
  }

  /** Counts the hashes since the last call, once it is known which of them could still arrive in time. */
  #countHashes(): void {
    const search = this.#search
    const { nowMs } = this.#network
    if (search === null || nowMs <= search.fromMs) return
    const { chain, height, probability, fromMs } = search
    this.#search = { ...search, fromMs: nowMs }
    this.#later(this.#latencyMs / 2, () => {
      const lastMs = this.#network.endMsOf(chain, height) - this.#latencyMs / 2
      const usefulMs = Math.max(0, Math.min(nowMs, lastMs) - fromMs)
      this.#usefulMs += usefulMs
      this.#blocks += usefulMs * probability
    })
  }
}

function workOf(chain: number, parentHeight: number, probability: number): Work {
  const parent = new Uint8Array(32)
  new DataView(parent.buffer).setUint32(0, parentHeight)
  return workFromBytes(
    encodeWork({
      featureFlags: 0n,
      creationTime: 0n,
      parent,
      adjacents: new Map(adjacents[chain].map((adjacent) => [adjacent, parent])),
      target: BigInt(Math.floor(probability * Number(MAX_TARGET))),
      payloadHash: parent,
      chainId: chain,
      weight: 0n,
      height: BigInt(parentHeight + 1),
      version: 2,
      epochStart: 0n,
      nonce: 0n,
    }),
  )
}
