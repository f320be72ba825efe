/** The miner for a node: starts client, source, engines, miner and metrics, and stops them again. */

import { Connection } from '../api/connection.ts'
import { readProcessor } from '../api/machine.ts'
import { Metrics } from '../api/metrics.ts'
import { monitorRoutes } from '../api/monitors.ts'
import { type ApiServer, type Extension, startApi } from '../api/server.ts'
import { describeError, NewcutError } from '../core/errors.ts'
import type { Engine } from '../engine/engine.ts'
import type { MinerEvent } from '../mine/events.ts'
import { Miner } from '../mine/miner.ts'
import type { Snapshot } from '../mine/stats.ts'
import type { NodeClient } from '../node/client.ts'
import { systemClock } from '../platform/clock.ts'
import { packageVersion } from '../platform/version.ts'
import { Sensors, type SensorsOptions } from '../sensors/sensors.ts'
import type { NodeSetup } from './connect.ts'
import { type ComposedDashboard, dashboardFor } from './dashboard.ts'
import { createEngines, type EngineSetup, listenForRigs } from './engines.ts'
import { isPageOn, PAGE_PATH, type PageMode, pageFor } from './mine-page.ts'
import { reachNodes } from './nodes.ts'
import { accountOn, checkPayee, isDevelopment, type PaidAccount, type Payee } from './payee.ts'
import { rewardsOf } from './rewards.ts'
import { type KeptState, openState, type StateSetup } from './state.ts'

/** What to mine, for whom and with what. */
export interface MinerSetup {
  readonly node: NodeSetup
  /** Addresses of further nodes of the network, in order of priority, for when `node` fails; they are trusted alike. */
  readonly others?: readonly string[]
  /** How long a node of higher priority has to be fit before it gives work again; default 60 s. */
  readonly failbackMs?: number | undefined
  /** Whether blocks that were found are given to the other nodes, those that take any; default: true. */
  readonly shareBlocks?: boolean | undefined
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
  /** Where solutions are kept, so that none is lost when the process dies; default: nowhere. */
  readonly state?: StateSetup | null
  /** Chains to mine; undefined: all. */
  readonly chains?: readonly number[] | undefined
  /** Where temperatures, fans and power are read; undefined: nowhere. */
  readonly sensors?: Pick<SensorsOptions, 'hwmon' | 'env'> | undefined
}

export interface HttpSetup {
  readonly host: string
  readonly port: number
  /** Whether it is an error when the port cannot be used; otherwise the miner goes on without metrics. */
  readonly isRequired: boolean
  /** Whether the page that mines is served too. */
  readonly page: PageMode
  /** What those have to send who pause, resume and stop the miner; undefined: nobody may. */
  readonly token?: string | undefined
  /** The only certificate of nodes that is accepted, to be told to monitors. */
  readonly fingerprint?: string | undefined
}

/** Reported once, before mining starts. */
export interface MinerStart {
  readonly miner: Pick<Miner, 'snapshot' | 'paused' | 'pause' | 'resume'>
  readonly client: NodeClient
  readonly account: PaidAccount
  readonly api: ApiServer | null
  /** The journal, and how many solutions of earlier runs it holds that are not settled; null: none is kept. */
  readonly journal: { readonly folder: string; readonly unfinished: number } | null
  /** Where rigs connect, `HOST:PORT`; null: none are let in. */
  readonly rigsAddress: string | null
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
  const { payee, engines: engineSetup, http, limits, chains } = setup
  checkPayee(payee)
  const nodes = await reachNodes(setup, (message) => onEvent({ type: 'trouble', message }), stopped)
  const { client } = nodes
  const closers = [nodes.close]
  try {
    checkChains(chains, client)
    const account = accountOn(client.info.nodeVersion, payee)
    const source = nodes.sourceFor(account)
    const engines = await createEngines(engineSetup, source.workBytes, stopped)
    const rigs = await listenForRigs(engines)
    closers.unshift(async () => rigs?.close())
    const state = await stateOf(setup, { network: client.info.nodeVersion, account: account.account, onEvent })
    const show = (event: MinerEvent) => {
      state?.onEvent(event)
      onEvent(event)
      metrics.onEvent(event)
      connection.onEvent(event)
      dashboard?.onEvent(event)
      rewards(event)
    }
    const connection = new Connection(systemClock)
    const [faulted, told] = [new AbortController(), new AbortController()]
    const onFault = (error: unknown) => faulted.abort(error)
    const rewards = rewardsOf({ client: nodes.payloads, onReward: show, stopped, onFault })
    const { blocks, durationMs } = limits
    const unfinished = state?.unfinished
    const sensors = setup.sensors && sensorsOf(setup.sensors, engines)
    closers.unshift(async () => sensors?.stop())
    const options = { source, engines, clock: systemClock, onEvent: show, blocks, durationMs, unfinished }
    const miner = new Miner({ ...options, readings: () => sensors?.readings ?? [] })
    const metrics = new Metrics(() => miner.snapshot(), packageVersion)
    const hasPage = http !== null && isPageOn(http.page, client.info.nodeVersion)
    const dashboard = http && dashboardOf(miner, { client, account, state })
    closers.unshift(async () => dashboard?.close())
    const page = hasPage ? [{ path: PAGE_PATH, addTo: pageFor(client, account) }] : []
    const extensions = [...(dashboard?.extensions ?? []), ...page]
    const stop = () => told.abort()
    const api = http === null ? null : await startFace(http, { miner, metrics, connection, extensions, stop }, onEvent)
    if (api !== null) closers.unshift(() => api.close())
    const journal = state && { folder: state.folder, unfinished: state.unfinished.length }
    onStart?.({
      miner,
      client,
      account,
      api,
      journal,
      rigsAddress: rigs?.address ?? null,
      pageUrl: api !== null && hasPage ? api.url + PAGE_PATH : null,
    })
    const snapshot = await miner.run(AbortSignal.any([stopped, faulted.signal, told.signal]))
    faulted.signal.throwIfAborted()
    return snapshot
  } finally {
    for (const close of closers) await close()
  }
}

function stateOf(
  { state = null, confirmations = 1 }: MinerSetup,
  of: { readonly network: string; readonly account: string; readonly onEvent: (event: MinerEvent) => void },
): Promise<KeptState | null> {
  // Development networks are thrown away; whoever wants theirs kept says so.
  if (state === null || (!state.isRequired && isDevelopment(of.network))) return Promise.resolve(null)
  return openState(state, { ...of, confirmations, nowMs: systemClock.wallMs })
}

/** Throws NewcutError BAD_OPTION for chains that the network does not have. */
export function checkChains(chains: readonly number[] | undefined, { info, http }: NodeClient): void {
  const has = info.nodeChains.map(Number)
  const unknown = chains?.filter((chain) => !has.includes(chain)) ?? []
  if (unknown.length === 0) return
  const message = `--chains: ${info.nodeVersion} at ${http.baseUrl} has no chain ${unknown.join(', ')}`
  throw new NewcutError('BAD_OPTION', message, { hint: `its chains are ${has[0]} to ${has.at(-1)}` })
}

function sensorsOf(where: Pick<SensorsOptions, 'hwmon' | 'env'>, engines: readonly Engine[]): Sensors {
  return new Sensors({ ...where, clock: systemClock, hasCards: engines.some(({ name }) => name === 'gpu') })
}

function dashboardOf(
  miner: Miner,
  of: { readonly client: NodeClient; readonly account: PaidAccount; readonly state: KeptState | null },
): ComposedDashboard {
  const { client, account, state } = of
  const snapshot = () => miner.snapshot()
  return dashboardFor({
    ...{ network: client.info.nodeVersion, account: account.account, snapshot },
    recent: state?.recent ?? [],
  })
}

interface Faced {
  readonly miner: Miner
  readonly metrics: Metrics
  readonly connection: Connection
  readonly extensions: readonly Extension[]
  /** Ends the miner in order. */
  readonly stop: () => void
}

async function startFace(
  { host, port, isRequired, token, fingerprint }: HttpSetup,
  { miner, metrics, connection, extensions, stop }: Faced,
  onEvent: MinerPorts['onEvent'],
): Promise<ApiServer | null> {
  const snapshot = () => miner.snapshot()
  const control = { pause: () => miner.pause(), resume: () => miner.resume(), stop }
  const identity = { version: packageVersion, processor: await readProcessor(), fingerprint: fingerprint ?? null }
  const routes = monitorRoutes({ snapshot, connection, identity, control, token: token ?? null })
  try {
    return await startApi({ host, port }, snapshot, metrics, ...extensions, ...routes)
  } catch (error) {
    if (isRequired) throw error
    onEvent({ type: 'warning', message: `${describeError(error)}; mining without metrics` })
    return null
  }
}
