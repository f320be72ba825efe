/** The HTTP server of a miner: metrics, summary, monitor APIs, dashboard and mining page. */
import { Connection } from '#faces/api/connection.ts'
import { readProcessor } from '#faces/api/machine.ts'
import { Metrics } from '#faces/api/metrics.ts'
import { monitorRoutes } from '#faces/api/monitors.ts'
import { type ApiServer, type ServedPart, startApi } from '#faces/api/server.ts'
import { describeError } from '#ground/base/errors.ts'
import { MAX_PORT } from '#ground/base/host.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { packageVersion } from '#ground/platform/version.ts'
import type { RigHost } from '#mining/engine/rigs.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { Miner } from '#mining/mine/miner.ts'
import { dashboardFor } from './dashboard.ts'
import { isPageOn, PAGE_PATH, pageFor } from './mine-page.ts'
import type { MiningRecord } from './record.ts'
import type { RunEnd } from './run-end.ts'
import type { OpenedSearch } from './search/open.ts'
import type { HttpSetup, MinerSetup } from './setup.ts'
import type { ConnectedSource } from './source/connected-source.ts'

export interface Servers {
  /** The HTTP server, or null if it is off. */
  readonly api: ApiServer | null
  /** URL of the mining page, or null if it is not served. */
  readonly pageUrl: string | null
  readonly onEvent: (event: MinerEvent) => void
  /** Replaces the token of clients that may change the miner. With undefined, nobody may. */
  readonly setToken: (token: string | undefined) => void
}

interface MinerForServers {
  readonly miner: Miner
  readonly reached: ConnectedSource
  readonly search: Pick<OpenedSearch, 'rigs'>
  readonly record: MiningRecord
  readonly end: RunEnd
  /** Called with a warning if the HTTP server cannot start. */
  readonly onEvent: (event: MinerEvent) => void
}

/**
 * Starts the HTTP server.
 * @throws NewcutError PORT_BUSY if the address is required and unusable
 */
export async function openServers(
  { http, source, search: setup }: MinerSetup,
  faced: MinerForServers,
): Promise<Servers> {
  if (http === null) {
    return { api: null, pageUrl: null, onEvent: () => undefined, setToken: () => undefined }
  }
  const { miner, reached, search, record, end } = faced
  let { token } = http
  const connection = new Connection(systemClock)
  const metrics = new Metrics(() => miner.snapshot(), packageVersion)
  const { network, payee: account } = reached
  const recent = record.state?.recent ?? []
  const dashboard = dashboardFor({ network, account, recent, snapshot: () => miner.snapshot() })
  end.onClose(() => dashboard.close())
  const page = await pageOf(source, reached)
  const readToken = () => token ?? null
  const rigs = await rigPartsOf(search, readToken, setup.kind === 'leader')
  const pool = http.poolApi && search.rigs !== undefined ? await poolOf(search.rigs, faced, source) : null
  end.onClose(() => pool?.close())
  const parts = {
    metrics,
    connection,
    extensions: [
      ...dashboard.extensions,
      ...page,
      ...(reached.orders?.(readToken) ?? []),
      ...rigs,
      ...(pool?.parts ?? []),
    ],
    token: readToken,
  }
  const api = await startServer(http, { ...faced, ...parts })
  if (api !== null) end.onClose(() => api.close())
  return {
    api,
    pageUrl: api !== null && page.length > 0 ? api.url + PAGE_PATH : null,
    onEvent: (event) => {
      metrics.onEvent(event)
      connection.onEvent(event)
      dashboard.onEvent(event)
      pool?.onEvent(event)
    },
    setToken: (next) => {
      token = next
    },
  }
}

async function rigPartsOf(
  { rigs }: MinerForServers['search'],
  token: () => string | null,
  leads: boolean,
): Promise<ServedPart[]> {
  const { noRigs, rigRoutes } = await import('#faces/api/rig-routes.ts')
  return rigs === undefined ? noRigs(leads) : rigRoutes(rigs.recorder, token)
}

/** Block delay of all public networks, for miners of a pool, whose network no node describes. */
const USUAL_DELAY_MS = 30_000

async function poolOf({ recorder }: RigHost, faced: MinerForServers, source: MinerSetup['source']) {
  const { PoolResponses } = await import('#faces/api/pool-shapes.ts')
  const { payoutFolder, payoutReader } = await import('./payout-reader.ts')
  const { miner, reached, record, onEvent } = faced
  const { network, payee: account } = reached
  const recent = record.state?.recent ?? []
  const snapshot = () => miner.snapshot()
  const folder = payoutFolder(source, network)
  const payouts = folder === null ? null : await payoutReader(folder, { network, account }, onEvent)
  const [client] = reached.node?.clients() ?? []
  const about = {
    symbol: client?.network.network.symbol ?? 'KDA',
    blockDelayMs: client?.blockDelayMs ?? USUAL_DELAY_MS,
  }
  return new PoolResponses({
    ledger: recorder,
    snapshot,
    network,
    ...about,
    account,
    recent,
    payouts,
    clock: systemClock,
  })
}

async function pageOf(source: MinerSetup['source'], { node, network }: ConnectedSource): Promise<ServedPart[]> {
  const mode = 'page' in source ? source.page : 'off'
  if (node === null || !isPageOn(mode ?? 'off', network)) return []
  return [{ path: PAGE_PATH, addTo: await pageFor(node.clients, node.account) }]
}

interface UserInterfaceParts extends MinerForServers {
  readonly metrics: Metrics
  readonly connection: Connection
  readonly extensions: readonly ServedPart[]
  readonly token: () => string | null
}

/** Ports to try, the default first, so that several miners of one machine have a dashboard each. */
const PORT_TRIES = 10

const portsFrom = (first: number): number[] =>
  Array.from({ length: PORT_TRIES }, (_, i) => first + i).filter((port) => port <= MAX_PORT)

/** Starts it on the next free port where the user chose none. */
async function startServer(
  { host, port, isRequired, ...given }: HttpSetup,
  { miner, metrics, connection, extensions, token, end, onEvent }: UserInterfaceParts,
): Promise<ApiServer | null> {
  const snapshot = () => miner.snapshot()
  const control = { pause: () => miner.pause(), resume: () => miner.resume(), stop: end.request }
  const configuration = given.configuration ?? null
  const fingerprint = given.fingerprint ?? null
  const identity = { version: packageVersion, processor: await readProcessor(), fingerprint }
  const routes = monitorRoutes({ snapshot, connection, identity, control, token, configuration })
  const start = (port: number) => startApi({ host, port }, snapshot, metrics, ...extensions, ...routes)
  if (isRequired) return start(port)
  let refusal: unknown
  for (const next of portsFrom(port)) {
    try {
      const api = await start(next)
      if (next !== port) onEvent({ type: 'warning', message: `port ${port} is taken: the dashboard is at ${api.url}/` })
      return api
    } catch (error) {
      refusal ??= error
    }
  }
  onEvent({ type: 'warning', message: `${describeError(refusal)}; mining without metrics and dashboard` })
  return null
}
