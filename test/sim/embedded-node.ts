/** The core of the embedded node on virtual time, without a port: its chains, mining coordination and routes. */

import { BlockMaker, developmentAccount, unblockedChainsOf } from '../../src/devnet/control/block-maker.ts'
import { reorg } from '../../src/devnet/control/reorg.ts'
import { Router } from '../../src/devnet/http/router.ts'
import { addChainRoutes } from '../../src/devnet/http/routes/chain.ts'
import { addCutRoutes } from '../../src/devnet/http/routes/cut.ts'
import { addMiningRoutes } from '../../src/devnet/http/routes/mining.ts'
import { addNodeRoutes } from '../../src/devnet/http/routes/node.ts'
import { StreamGate } from '../../src/devnet/http/stream/stream-gate.ts'
import { genesisOf } from '../../src/devnet/ledger/genesis.ts'
import { Ledger } from '../../src/devnet/ledger/ledger.ts'
import { MemoryVersions } from '../../src/devnet/ledger/versions.ts'
import { Mempools } from '../../src/devnet/mempool/mempools.ts'
import { Chains, genesisState } from '../../src/devnet/rules/chains.ts'
import { rulesFor } from '../../src/devnet/rules/network-rules.ts'
import { NodeClock } from '../../src/devnet/rules/node-clock.ts'
import { releaseRules } from '../../src/devnet/rules/releases.ts'
import type { Block } from '../../src/devnet/store/block-store.ts'
import { MemoryTransactionIndex } from '../../src/devnet/store/transaction-index.ts'
import { TimeSlicer, type YieldingWork } from '../../src/devnet/time-slicer.ts'
import { Coordinator, type NoWork } from '../../src/devnet/work/coordinator.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import type { Clock } from '../../src/ground/base/clock.ts'
import { type Cut, extendsCut } from '../../src/ground/chain/cut.ts'
import { encodeWork, type WorkFields, withNonce } from '../../src/ground/chain/header.ts'
import { graphAt, type Network } from '../../src/ground/chain/network.ts'
import type { MinerAccount } from '../../src/ground/chain/payload.ts'
import { meets, powHash } from '../../src/ground/chain/pow.ts'
import { decodeWorkResponse } from '../../src/ground/chain/work.ts'
import { noTrial } from '../devnet/no-trial.ts'
import { type AnswerPort, type NodeRequest, Routes } from './routes.ts'
import type { VirtualTime } from './virtual-time.ts'

const VERSION = 'simulated'
const PRODUCT = 'chainweb'
/** Another miner, at another node. */
const otherAccount: MinerAccount = { account: 'other', predicate: 'keys-all', publicKeys: [] }

export interface EmbeddedNodeOptions {
  readonly network: Network
  readonly time: VirtualTime
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Time until the node closes an update stream. */
  readonly updateStreamMs: number
}

/** One run of a node: its state that a restart discards. */
interface Run {
  readonly chains: Chains
  readonly coordinator: Issuer
  readonly maker: BlockMaker
  readonly routes: Routes
  readonly streams: StreamGate
  readonly turns: TimeSlicer
}

/** A coordinator that remembers the work it gave. */
class Issuer extends Coordinator {
  /** Payload hashes of that work, in base64url. */
  readonly issued = new Set<string>()

  override work(...given: Parameters<Coordinator['work']>): Uint8Array | NoWork {
    const answer = super.work(...given)
    if (answer instanceof Uint8Array) {
      this.issued.add(encodeBase64Url(decodeWorkResponse(answer).fields.payloadHash))
    }
    return answer
  }
}

/** A time slicer whose timers belong to the world. */
class WorldTurns extends TimeSlicer {
  readonly #time: VirtualTime

  constructor(time: VirtualTime) {
    super()
    this.#time = time
  }

  override run<T>(kind: string, steps: YieldingWork<T>): Promise<T> {
    return this.#time.asWorld(() => super.run(kind, steps))
  }
}

export class EmbeddedNode {
  readonly #options: EmbeddedNodeOptions
  /** How far its clock is ahead of the true time. */
  aheadMs = 0
  /** Called with the chains whose head has changed. */
  onCut: (changed: readonly number[]) => void = () => undefined
  readonly #versions = new MemoryVersions()
  readonly #ledger: Ledger
  #run: Run
  #nodeClock: NodeClock

  constructor(options: EmbeddedNodeOptions) {
    this.#options = options
    const { network } = options
    const state = genesisState(network, () => genesisOf(graphAt(network, 0).adjacents.length).payload)
    this.#ledger = new Ledger({
      store: state.store,
      heads: state.heads.values(),
      index: new MemoryTransactionIndex(),
      versions: this.#versions,
      rules: rulesFor(network, '3.2'),
      check: () => null,
    })
    this.#nodeClock = new NodeClock(this.#machineClock)
    this.#run = this.#start(state)
  }

  get cut(): Cut {
    return this.#run.chains.cut
  }

  get chains(): Chains {
    return this.#run.chains
  }

  /**
   * Whether the node would take a block of this work now: it extends the cut, and this run of the node gave the work.
   */
  takes(work: WorkFields): boolean {
    return extendsCut(this.cut, work) && this.#run.coordinator.issued.has(encodeBase64Url(work.payloadHash))
  }

  handle(request: NodeRequest, port: AnswerPort): void {
    const common = {
      'x-server-timestamp': Math.floor(this.#nodeClock.ms() / 1000).toString(),
      [`x-${PRODUCT}-node-version`]: VERSION,
      'access-control-allow-origin': '*',
    }
    this.#options.time.asWorld(() => this.#run.routes.take(request, common, port))
  }

  /** Restarts with the chains as they are. Issued payloads are forgotten, and streams are gone. */
  restart(): void {
    this.stop()
    this.#nodeClock = new NodeClock(this.#machineClock)
    this.#run = this.#start(this.#run.chains.state)
  }

  stop(): void {
    this.#run.streams.close(['mining'])
    this.#run.turns.stop()
    this.#run.coordinator.stop()
  }

  endStreams(): void {
    this.#run.streams.close(['mining'])
  }

  /** Mines a block of another miner on one of the chains that can get one. */
  mineElsewhere(): void {
    const { chains } = this.#run
    const open = unblockedChainsOf(chains.network, chains.cut)
    const chain = open[Math.floor(this.#options.random() * open.length)]
    const parent = chains.cut.get(chain)
    if (parent === undefined) return
    const payload = this.#ledger.payloadOf(this.#ledger.begin(parent, otherAccount), parent)
    const work = chains.newWork(chain, payload.payloadHash)
    if ('blockedBy' in work) throw new Error(`chain ${chain} is blocked`)
    const bytes = encodeWork(work)
    for (let nonce = 0n; ; nonce++) {
      if (!meets(powHash(withNonce(bytes, nonce)), work.target)) continue
      const addition = chains.add({ ...work, nonce }, payload)
      if (addition.status !== 'added') throw new Error(`somebody else's block: ${JSON.stringify(addition)}`)
      return
    }
  }

  /** Gets the missing blocks of another node, and adopts its chains if they are heavier. */
  takeFrom(other: EmbeddedNode): void {
    const { chains } = this.#run
    const { store } = other.chains
    const missing: Block[] = []
    for (const { hash } of other.cut.values()) {
      let block = store.get(hash)
      for (; block !== undefined && chains.store.get(block.header.hash) === undefined; block = store.parentOf(block)) {
        missing.push(block)
      }
    }
    // A block needs its parents, which are lower, to be added first.
    missing.sort((a, b) => Number(a.header.height - b.header.height))
    for (const { header, payload } of missing) {
      const { status } = chains.add(header, payload)
      if (status === 'stale') chains.insert(header, payload)
    }
    if ([...other.cut.values()].every(({ hash }) => chains.store.get(hash) !== undefined)) chains.adopt(other.cut)
  }

  /** Creates a heavier branch that starts this many blocks below the head of a chain. @returns its actual depth */
  async reorganise(chain: number, depth: number): Promise<number> {
    const height = Number(this.cut.get(chain)?.height ?? 0n)
    const possible = Math.min(depth, height)
    if (possible === 0) return 0
    const { maker } = this.#run
    await this.#options.time.asWorld(() => reorg(maker, chain, possible, new AbortController().signal))
    return possible
  }

  get #machineClock(): Pick<Clock, 'wallMs' | 'monotonicMs'> {
    const { time } = this.#options
    return { wallMs: () => time.trueWallMs() + this.aheadMs, monotonicMs: () => time.nowMs }
  }

  #start(state: Chains['state']): Run {
    const { network, time, random, updateStreamMs } = this.#options
    const clock: Clock = { ...this.#machineClock, after: (delayMs, run) => time.after(delayMs, run) }
    const turns = new WorldTurns(time)
    const nodeClock = this.#nodeClock
    const nowMs = () => nodeClock.ms()
    for (const { creationTime } of state.heads.values()) nodeClock.catchUp(creationTime)
    const executions = this.#ledger
    const chains = new Chains({ network, checkPow: true, now: nodeClock.microseconds, state, executions })
    const rules = rulesFor(network, '3.2')
    const pools = new Mempools({ chains, index: new MemoryTransactionIndex(), nowMs, trial: noTrial, turns, rules })
    const limits = { payloadLimit: 1200, payloadLifetimeMs: 300_000, refreshMs: 15_000 }
    const ledger = this.#ledger
    const coordinator = new Issuer(chains, { ...limits, pools, ledger, turns, accounts: null, random, nowMs, clock })
    chains.onCut((changed) => this.onCut(changed))
    const search = { search: () => Promise.reject(new Error('searched here')), close: async () => undefined }
    const onNotice = () => undefined
    const maker = new BlockMaker({ chains, coordinator, account: developmentAccount, search, clock, onNotice })
    const routes = new Routes()
    const streams = new StreamGate()
    const prefix = `/${PRODUCT}/0.0/${network.name}`
    const router = new Router({ app: routes.app, prefix, chains: chains.cut.size })
    const durable = async () => undefined
    addNodeRoutes(router, {
      network: () => network,
      packageVersion: VERSION,
      release: releaseRules['3.2'],
      config: () => ({}) as never,
    })
    addChainRoutes(router, { chains, product: PRODUCT, fork: null })
    addCutRoutes(router, { chains, durable, instance: VERSION })
    const mining = { coordinator, durable, chains: chains.cut.size, updateStreamMs, updateStreamLimit: 2000 }
    addMiningRoutes(router, { ...mining, random, clock, streams })
    router.finish()
    return { chains, coordinator, maker, routes, streams, turns }
  }
}
