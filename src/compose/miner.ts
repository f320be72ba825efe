/** The miner for a node: starts client, source, engines, miner and metrics, and stops them again. */
import { Metrics } from '../api/metrics.ts'
import { type ApiServer, type Extension, startApi } from '../api/server.ts'
import { describeError } from '../core/errors.ts'
import type { MinerEvent } from '../mine/events.ts'
import { Miner } from '../mine/miner.ts'
import type { Snapshot } from '../mine/stats.ts'
import type { NodeClient } from '../node/client.ts'
import { systemClock } from '../platform/clock.ts'
import { miningNodeOf } from '../source/node/mining-node.ts'
import { NodeSource } from '../source/node/node-source.ts'
import { connect, type NodeSetup } from './connect.ts'
import { createEngines, type EngineSetup } from './engines.ts'
import { isPageOn, PAGE_PATH, type PageMode, pageFor } from './mine-page.ts'
import { accountOn, checkPayee, type PaidAccount, type Payee } from './payee.ts'

/** An update stream is reopened when it is silent for this many block delays, but not before MIN_STALL_MS. */
const STALL_BLOCK_DELAYS = 5
const MIN_STALL_MS = 10_000

/** What to mine, for whom and with what. */
export interface MinerSetup {
  readonly node: NodeSetup
  readonly payee: Payee
  readonly engines: EngineSetup
  /** null: metrics and summary are not served. */
  readonly http: HttpSetup | null
  /** The miner stops after this many accepted blocks, or this time; undefined: never by itself. */
  readonly limits: { readonly blocks?: number | undefined; readonly durationMs?: number | undefined }
  /** An update stream is reopened after this silence; 0: never; undefined: a time derived from the block delay. */
  readonly stallMs?: number | undefined
  /** How deep an accepted block has to lie before it is no longer looked for; default: 1, the head. */
  readonly confirmations?: number
}

export interface HttpSetup {
  readonly host: string
  readonly port: number
  /** Whether it is an error when the port cannot be used; otherwise the miner goes on without metrics. */
  readonly isRequired: boolean
  /** Whether the page that mines is served too. */
  readonly page: PageMode
}

/** Reported once, before mining starts. */
export interface MinerStart {
  readonly client: NodeClient
  readonly account: PaidAccount
  readonly api: ApiServer | null
  /** Where the page that mines is; null: it is not served. */
  readonly pageUrl: string | null
}

/** Receivers of the miner's events, and the signal that stops it. */
export interface MinerPorts {
  readonly onEvent: (event: MinerEvent) => void
  readonly onStart?: (start: MinerStart) => void
  readonly stopped: AbortSignal
}

/** Mines until it is stopped or done. Throws NewcutError. */
export async function runMiner(setup: MinerSetup, { onEvent, onStart, stopped }: MinerPorts): Promise<Snapshot> {
  const { payee, engines: engineSetup, http, limits, confirmations } = setup
  checkPayee(payee)
  const client = await connect(setup.node, (message) => onEvent({ type: 'trouble', message }), stopped)
  const closers = [() => client.close()]
  try {
    const account = accountOn(client.info.nodeVersion, payee)
    const stallMs = setup.stallMs ?? usualStallMs(client.info.nodeBlockDelay / 1000)
    const node = miningNodeOf({ client, account, clock: systemClock, stallMs })
    const source = new NodeSource({ node, clock: systemClock, random: Math.random, confirmations })
    const engines = await createEngines(engineSetup, source.workBytes, stopped)
    const show = (event: MinerEvent) => {
      onEvent(event)
      metrics.onEvent(event)
    }
    const { blocks, durationMs } = limits
    const miner = new Miner({ source, engines, clock: systemClock, onEvent: show, blocks, durationMs })
    const metrics = new Metrics(() => miner.snapshot())
    const hasPage = http !== null && isPageOn(http.page, client.info.nodeVersion)
    const page = hasPage ? { path: PAGE_PATH, addTo: pageFor(client, account) } : undefined
    const api = http === null ? null : await startFace(http, { miner, metrics, page }, onEvent)
    if (api !== null) closers.unshift(() => api.close())
    onStart?.({ client, account, api, pageUrl: api !== null && hasPage ? api.url + PAGE_PATH : null })
    return await miner.run(stopped)
  } finally {
    for (const close of closers) await close()
  }
}

function usualStallMs(blockDelayMs: number): number {
  return Math.max(MIN_STALL_MS, STALL_BLOCK_DELAYS * blockDelayMs)
}

async function startFace(
  { host, port, isRequired }: HttpSetup,
  { miner, metrics, page }: { readonly miner: Miner; readonly metrics: Metrics; readonly page: Extension | undefined },
  onEvent: MinerPorts['onEvent'],
): Promise<ApiServer | null> {
  try {
    return await startApi({ host, port }, () => miner.snapshot(), metrics, page)
  } catch (error) {
    if (isRequired) throw error
    onEvent({ type: 'warning', message: `${describeError(error)}; mining without metrics` })
    return null
  }
}
