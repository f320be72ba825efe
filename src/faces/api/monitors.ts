/** Serves third-party monitors, and lets them control the miner. */
import type { FastifyInstance } from 'fastify'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { addConfiguration, CONFIGURATION_PATH, type Configuration } from './configuration.ts'
import type { Connection } from './connection.ts'
import { addControl, type MinerControl } from './control.ts'
import { hiveStats, mmpStats } from './rigs.ts'
import type { ServedPart } from './server.ts'
import { backendsOf, type Identity, summaryOf } from './summary.ts'
import type { CurrentToken } from './token.ts'

interface MonitoredMiner {
  readonly snapshot: () => Snapshot
  readonly connection: Connection
  readonly identity: Omit<Identity, 'restricted'>
  readonly control: MinerControl
  /** The configuration, or null if it is not served. */
  readonly configuration: Configuration | null
  /** The token that control requests must send. */
  readonly token: CurrentToken
}

/** Creates the routes for monitors. */
export function monitorRoutes({ snapshot, connection, identity, ...rest }: MonitoredMiner): ServedPart[] {
  const { control, configuration, token } = rest
  const { version } = identity
  const summary = (shape: 1 | 2) => () => {
    return summaryOf(snapshot(), connection, { ...identity, restricted: token() === null }, shape)
  }
  return [
    getRoute('/2/summary', summary(2)),
    getRoute('/1/summary', summary(1)),
    getRoute('/api.json', summary(1)),
    getRoute('/2/backends', () => backendsOf(snapshot())),
    { path: '/json_rpc', addTo: (app) => addControl(app, control, token) },
    ...(configuration === null
      ? []
      : [{ path: CONFIGURATION_PATH, addTo: (app: FastifyInstance) => addConfiguration(app, configuration, token) }]),
    getRoute('/hiveos', () => hiveStats(snapshot(), version)),
    getRoute('/mmpos', () => mmpStats(snapshot(), version)),
  ]
}

function getRoute(path: string, value: () => unknown): ServedPart {
  return { path, addTo: (app) => void app.get(path, (_request, reply) => reply.send(value())) }
}
