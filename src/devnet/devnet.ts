/** The embedded node: a development network of its own, served over HTTP. */
import type { AddressInfo } from 'node:net'
import { NewcutError } from '../core/errors.ts'
import { type GraphName, graphs } from '../core/graph.ts'
import type { WorkFields } from '../core/header.ts'
import type { ProductWord } from '../core/header-json.ts'
import { development, type Network } from '../core/network.ts'
import type { MinerAccount } from '../core/payload.ts'
import { targetOfDifficulty } from '../core/target.ts'
import { packageVersion } from '../version.ts'
import { type Addition, Chains } from './chains.ts'
import { Coordinator } from './coordinator.ts'
import { createApp } from './http.ts'
import { NodeClock } from './node-clock.ts'
import { addChainRoutes } from './routes-chain.ts'
import { addMiningRoutes } from './routes-mining.ts'
import { addNodeRoutes } from './routes-node.ts'
import { Router } from './serve.ts'

/** What the embedded network is like; every property has a default. */
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
  /** Hears of every solution, also of those whose miner is told nothing. */
  readonly onSolved?: (header: WorkFields, addition: Addition) => void
}

/** A running embedded node. */
export interface Devnet {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly network: Network
  readonly chains: Chains
  /** Ends all connections and frees the port. */
  readonly close: () => Promise<void>
}

/** Starts an embedded node. Throws NewcutError PORT_BUSY when it cannot listen. */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { host = '127.0.0.1', port = 1848, product = 'chainweb' } = options
  const network = devnetNetwork(options)
  const clock = new NodeClock()
  const chains = new Chains({ network, checkPow: options.pow ?? true, now: clock.microseconds })
  const coordinator = new Coordinator(chains, {
    accounts: options.accounts ?? null,
    payloadLimit: options.workLimit ?? 1200,
    payloadLifetimeMs: options.workLifetimeMs ?? 300_000,
    random: Math.random,
    nowMs: () => clock.ms(),
    ...(options.onSolved && { onSolved: options.onSolved }),
  })
  const app = createApp({ product, packageVersion, nowMs: () => clock.ms() })
  const prefix = `/${product}/0.0/${network.name}`
  const router = new Router({ app, prefix, hasChain: (chain) => chains.cut.has(chain) })
  addNodeRoutes(router, { network: () => chains.network, packageVersion })
  addChainRoutes(router, { chains, product, instance: `newcut-${process.pid}-${Date.now().toString(36)}` })
  addMiningRoutes(router, {
    coordinator,
    chains: chains.cut.size,
    updateStreamMs: options.updateStreamMs ?? 240_000,
    updateStreamLimit: options.updateStreamLimit ?? 2000,
    random: Math.random,
  })
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
  const address = app.server.address() as AddressInfo
  const hostInUrl = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return { url: `http://${hostInUrl}:${address.port}`, network, chains, close: () => app.close() }
}

function devnetNetwork(options: DevnetOptions): Network {
  const target = targetOfDifficulty(options.difficulty ?? 100_000n)
  const pow = options.pow ?? true
  return {
    ...development,
    graphHistory: [{ from: 0, graph: graphs[options.graph ?? 'twenty'] }],
    genesisTarget: () => target,
    blockDelay: BigInt(Math.round((options.blockDelayMs ?? 30_000) * 1000)),
    // Without proof of work block times say nothing about hash power, and fast blocks would drive the target to 0.
    window: pow ? development.window : null,
  }
}
