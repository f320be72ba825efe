/** The miner for nodes or pools: starts client, source, engines, miner and metrics, and stops them again. */

import { Connection } from '../api/connection.ts'
import { readProcessor } from '../api/machine.ts'
import { Metrics } from '../api/metrics.ts'
import { monitorRoutes } from '../api/monitors.ts'
import { type ApiServer, type Extension, startApi } from '../api/server.ts'
import type { Token } from '../api/token.ts'
import { describeError } from '../core/errors.ts'
import type { MinerEvent } from '../mine/events.ts'
import type { Unfinished } from '../mine/life.ts'
import { Miner } from '../mine/miner.ts'
import type { Snapshot } from '../mine/stats.ts'
import { systemClock } from '../platform/clock.ts'
import { packageVersion } from '../platform/version.ts'
import { Sensors, type SensorsOptions } from '../sensors/sensors.ts'
import { type Changeable, changerOf } from './change.ts'
import { type ComposedDashboard, dashboardFor } from './dashboard.ts'
import { hashesOf, leaderTies, rigTies } from './fleet-ties.ts'
import { isPageOn, PAGE_PATH, pageFor } from './mine-page.ts'
import { checkPausing, Pausing } from './pausing.ts'
import { isDevelopment } from './payee.ts'
import { rewardsOf } from './rewards.ts'
import { Engines, listenForRigs } from './search/engines.ts'
import type { HttpSetup, MinerSetup } from './setup.ts'
import { checkOrigin, type NodeOrigin, type Origin, reachOrigin } from './source/reach.ts'
import { type KeptState, openState } from './state.ts'

/** Reported once, before mining starts. */
export interface MinerStart {
  readonly miner: Pick<Miner, 'snapshot' | 'paused' | 'pause' | 'resume'>
  /**
   * Brings it to this setup while it mines, as far as that can be done. Throws NewcutError when it cannot be: then nothing
   * has changed.
   */
  readonly change: (next: Changeable) => Promise<void>
  /** Where the work comes from, for people, and who is paid. */
  readonly source: string
  readonly payee: string
  /** null: pools or the leader of a fleet give the work. */
  readonly node: Pick<NodeOrigin, 'client' | 'account'> | null
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
  const { engines: engineSetup, http, limits, chains, pausing = {} } = setup
  checkOrigin(setup)
  await checkPausing(pausing)
  const origin = await reachOrigin(setup, (message) => onEvent({ type: 'trouble', message }), stopped)
  const { source, network, payee: account, node } = origin
  const closers = [origin.close]
  try {
    const engineSet = new Engines(source.workBytes, stopped)
    const { coming: engines, rigs: rigServer, leader: fleet, done } = await engineSet.replacementFor(engineSetup)
    done()
    const rigs = await listenForRigs(rigServer)
    closers.unshift(async () => rigs?.close())
    // A pool follows the blocks of its shares itself.
    const state = origin.isKept ? await stateOf(setup, { network, account, onEvent }) : null
    const show = (event: MinerEvent) => {
      state?.onEvent(event)
      onEvent(event)
      if (event.type === 'solution') fleet?.told(event)
      metrics.onEvent(event)
      connection.onEvent(event)
      dashboard?.onEvent(event)
      rewards?.(event)
    }
    const connection = new Connection(systemClock)
    const [faulted, asked, ended] = [new AbortController(), new AbortController(), new AbortController()]
    closers.unshift(async () => ended.abort())
    const onFault = (error: unknown) => faulted.abort(error)
    const rewards =
      node && rewardsOf({ client: node.payloads, unpaid: state?.unpaid ?? [], onReward: show, stopped, onFault })
    const { blocks, durationMs } = limits
    const sensors = setup.sensors && sensorsOf(setup.sensors, engineSet)
    closers.unshift(async () => sensors?.stop())
    const options = { source, engines, clock: systemClock, onEvent: show, blocks, durationMs }
    const miner = new Miner({ ...options, readings: () => sensors?.readings ?? [], beside: () => engineSet.beside() })
    const metrics = new Metrics(() => miner.snapshot(), packageVersion)
    const hasPage = http !== null && node !== null && isPageOn(http.page, network)
    const dashboard = http && dashboardOf(miner, { network, account, state })
    closers.unshift(async () => dashboard?.close())
    const page = hasPage ? [{ path: PAGE_PATH, addTo: await pageFor(node.clients, node.account) }] : []
    const extensions = [...(dashboard?.extensions ?? []), ...page]
    const stop = () => asked.abort()
    let token = http?.token
    const faced = { miner, metrics, connection, extensions, stop, token: () => token ?? null }
    const api = http === null ? null : await startFace(http, faced, onEvent)
    if (api !== null) closers.unshift(() => api.close())
    const journal = state && { folder: state.folder, unfinished: state.unfinished.length }
    const setToken = (next: string | undefined) => {
      token = next
    }
    const ends = AbortSignal.any([stopped, faulted.signal, asked.signal])
    const pauses = new Pausing(miner, systemClock, AbortSignal.any([ends, ended.signal]))
    const change = changerOf({ miner, engines: engineSet, origin, chains, pauses, setToken })
    const pageUrl = api !== null && hasPage ? api.url + PAGE_PATH : null
    const told = { source: source.description, payee: account }
    onStart?.({ miner, change, node, ...told, api, journal, rigsAddress: rigs?.address ?? null, pageUrl })
    pauses.set(pausing)
    fleet?.attach({ network, account, ...leaderTies(miner, state?.unfinished, show) })
    origin.attach?.(rigTies(miner))
    miner.takeUp(state?.unfinished ?? [])
    const takeLeft = (unfinished: readonly Unfinished[]) => {
      fleet?.expect(hashesOf(unfinished))
      miner.takeUp(unfinished)
    }
    state
      ?.left(AbortSignal.any([ends, ended.signal]))
      .then(takeLeft)
      .catch(onFault)
    const snapshot = await miner.run(ends)
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
  return openState(state, { ...of, confirmations, clock: systemClock })
}

function sensorsOf(where: Pick<SensorsOptions, 'hwmon' | 'env'>, engines: Engines): Sensors {
  const hasCards = () => engines.running.some(({ name }) => name === 'gpu')
  return new Sensors({ ...where, clock: systemClock, hasCards })
}

function dashboardOf(
  miner: Miner,
  of: Pick<Origin, 'network'> & { readonly account: string; readonly state: KeptState | null },
): ComposedDashboard {
  const { network, account, state } = of
  const snapshot = () => miner.snapshot()
  return dashboardFor({
    ...{ network, account, snapshot },
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
  readonly token: Token
}

async function startFace(
  { host, port, isRequired, fingerprint, configuration }: HttpSetup,
  { miner, metrics, connection, extensions, stop, token }: Faced,
  onEvent: MinerPorts['onEvent'],
): Promise<ApiServer | null> {
  const snapshot = () => miner.snapshot()
  const control = { pause: () => miner.pause(), resume: () => miner.resume(), stop }
  const identity = { version: packageVersion, processor: await readProcessor(), fingerprint: fingerprint ?? null }
  const monitored = { snapshot, connection, identity, control, token }
  const routes = monitorRoutes({ ...monitored, configuration: configuration ?? null })
  try {
    return await startApi({ host, port }, snapshot, metrics, ...extensions, ...routes)
  } catch (error) {
    if (isRequired) throw error
    onEvent({ type: 'warning', message: `${describeError(error)}; mining without metrics` })
    return null
  }
}
