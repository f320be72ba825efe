/** The embedded node: a development network of its own, served over HTTP. */
import type { AddressInfo } from 'node:net'
import { systemClock } from '../clock.ts'
import { NewcutError } from '../core/errors.ts'
import { type GraphName, graphs } from '../core/graph.ts'
import type { WorkFields } from '../core/header.ts'
import type { ProductWord } from '../core/header-json.ts'
import { development, type Network } from '../core/network.ts'
import type { MinerAccount } from '../core/payload.ts'
import { targetOfDifficulty } from '../core/target.ts'
import { packageVersion } from '../version.ts'
import type { AutoMine } from './auto-mine.ts'
import { developmentAccount } from './block-maker.ts'
import { type Addition, Chains } from './chains.ts'
import { Controls } from './control-setup.ts'
import { Coordinator } from './coordinator.ts'
import { createApp } from './http.ts'
import { Mempools } from './mempools.ts'
import { NodeClock } from './node-clock.ts'
import { blockPayload } from './payload.ts'
import { addChainRoutes } from './routes-chain.ts'
import { addMempoolRoutes } from './routes-mempool.ts'
import { addMiningRoutes } from './routes-mining.ts'
import { addNodeRoutes } from './routes-node.ts'
import { Router } from './serve.ts'
import { indexTransactions, MemoryTransactionIndex } from './transaction-index.ts'

export interface DevnetOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 1848; 0 takes any free port. */
  readonly port?: number
  /** Default twenty. */
  readonly graph?: GraphName
  /** Intended time between blocks of a chain. Default 30 s. */
  readonly blockDelayMs?: number
  /** Hashes a block takes at first. Default 100,000. */
  readonly difficulty?: bigint
  /** False: any nonce solves, and targets never change. Default true. */
  readonly pow?: boolean
  /** Accounts that may mine; default: anyone. */
  readonly accounts?: readonly MinerAccount[]
  /** Word in paths, version field and version header. Default chainweb. */
  readonly product?: ProductWord
  /** How long update streams stay open, x [0.9, 1.1). Default 240 s. */
  readonly updateStreamMs?: number
  /** Default 2000. */
  readonly updateStreamLimit?: number
  /** Most payloads waiting for a solution. Default 1200. */
  readonly workLimit?: number
  /** How long a payload waits for its solution. Default 300 s. */
  readonly workLifetimeMs?: number
  /** Least time between two events that tell a chain's miners of other transactions. Default 15 s. */
  readonly refreshMs?: number
  /**
   * Blocks without proof of work, besides those of miners and of POST /make-blocks: `{ kind: 'constant', blockTimeMs }`, a
   * block on every chain each such time; `{ kind: 'simulated', hashesPerSecond }`, as that hash rate would find them, with
   * difficulty adjustment; `{ kind: 'on-demand' }`, none. Implies `pow: false`.
   */
  readonly autoMine?: AutoMine
  /** Hears of every solution, also of those whose miner is told nothing, and of the blocks that the node makes itself. */
  readonly onSolved?: (header: WorkFields, addition: Addition) => void
}

export interface Devnet {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly network: Network
  readonly chains: Chains
  readonly close: () => Promise<void>
}

/** Starts an embedded node. Throws NewcutError PORT_BUSY when it cannot listen, BAD_OPTION for options that exclude each other. */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  checkAutoMine(options)
  const { host = '127.0.0.1', port = 1848, product = 'chainweb' } = options
  const network = devnetNetwork(options)
  const clock = new NodeClock()
  const chains = new Chains({ network, checkPow: hasPow(options), now: clock.microseconds })
  const index = new MemoryTransactionIndex()
  indexTransactions(chains, index)
  // Before the coordinator: whoever hears of a new cut asks for work with the transactions that are pending then.
  const pools = new Mempools({ chains, index, nowMs: () => clock.ms() })
  const coordinator = new Coordinator(chains, {
    pools,
    accounts: options.accounts ?? null,
    payloadLimit: options.workLimit ?? 1200,
    payloadLifetimeMs: options.workLifetimeMs ?? 300_000,
    refreshMs: options.refreshMs ?? 15_000,
    random: Math.random,
    nowMs: () => clock.ms(),
    ...(options.onSolved && { onSolved: options.onSolved }),
  })
  const app = createApp({ product, packageVersion, nowMs: () => clock.ms() })
  const prefix = `/${product}/0.0/${network.name}`
  const controls = new Controls()
  const { streams, intercept } = controls
  const router = new Router({ app, prefix, hasChain: (chain) => chains.cut.has(chain), intercept })
  addNodeRoutes(router, { network: () => chains.network, packageVersion })
  addChainRoutes(router, { chains, product, streams, instance: `newcut-${process.pid}-${Date.now().toString(36)}` })
  addMempoolRoutes(router, pools)
  addMiningRoutes(router, {
    coordinator,
    chains: chains.cut.size,
    updateStreamMs: options.updateStreamMs ?? 240_000,
    updateStreamLimit: options.updateStreamLimit ?? 2000,
    random: Math.random,
    streams,
  })
  controls.serve(router, {
    chains,
    coordinator,
    account: options.accounts?.[0] ?? developmentAccount,
    payloadFor: (account, parentHash, chain) => {
      // On another branch nobody follows yet which transactions it has already; what the old one had returns to the pool.
      const isOnCut = chains.cut.get(chain)?.hash === parentHash
      return blockPayload(account, parentHash, isOnCut ? pools.of(chain).nextBlock : [])
    },
    autoMine: options.autoMine ?? null,
    nodeClock: clock,
    timers: systemClock,
    random: Math.random,
    ...(options.onSolved && { onMade: options.onSolved }),
  })
  app.addHook('preClose', async () => controls.stop())
  router.finish()
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const hint =
      code === 'EADDRINUSE'
        ? 'choose another --port (0 takes any free one) or stop what listens there'
        : 'listen on an address of this machine, and on a port that you may use'
    throw new NewcutError('PORT_BUSY', `cannot listen on ${host}:${port}: ${message}`, { hint, cause: error })
  }
  controls.run()
  const address = app.server.address() as AddressInfo
  const hostInUrl = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return { url: `http://${hostInUrl}:${address.port}`, network, chains, close: () => app.close() }
}

const hasPow = ({ pow, autoMine }: DevnetOptions) => pow ?? autoMine === undefined

function checkAutoMine({ pow, autoMine }: DevnetOptions): void {
  if (autoMine === undefined) return
  if (pow === true) {
    throw new NewcutError(
      'BAD_OPTION',
      'autoMine makes blocks without proof of work: leave pow out, or set it to false',
    )
  }
  const pace =
    autoMine.kind === 'constant' ? autoMine.blockTimeMs : autoMine.kind === 'simulated' ? autoMine.hashesPerSecond : 1
  if (Number.isFinite(pace) && pace > 0) return
  throw new NewcutError('BAD_OPTION', `autoMine: ${pace} is no pace; expected a number above 0`)
}

function devnetNetwork(options: DevnetOptions): Network {
  const target = targetOfDifficulty(options.difficulty ?? 100_000n)
  // Simulated block times follow the difficulty as searched ones do.
  const adjusts = hasPow(options) || options.autoMine?.kind === 'simulated'
  return {
    ...development,
    graphHistory: [{ from: 0, graph: graphs[options.graph ?? 'twenty'] }],
    genesisTarget: () => target,
    blockDelay: BigInt(Math.round((options.blockDelayMs ?? 30_000) * 1000)),
    // Without proof of work block times say nothing about hash power, and fast blocks would drive the target to 0.
    window: adjusts ? development.window : null,
  }
}
