/** The dashboard of a miner: its page and event stream, as parts of the miner's HTTP server. */
import type { ServedPart } from '../api/server.ts'
import type { BlockRecord } from '../journal/record.ts'
import type { MinerEvent } from '../mine/events.ts'
import type { Snapshot } from '../mine/snapshot.ts'
import { systemClock } from '../platform/clock.ts'
import { packageVersion } from '../platform/version.ts'
import { Hub } from '../web/dashboard/hub.ts'
import { addDashboard, DASHBOARD_PATH } from '../web/dashboard/page.ts'
import type { ShownBlock } from '../web/dashboard/state.ts'
import { addEvents, EVENTS_PATH } from '../web/dashboard/stream.ts'

interface DashboardSetup {
  readonly network: string
  /** The paid account. */
  readonly account: string
  readonly snapshot: () => Snapshot
  /** Solutions of earlier runs, oldest first. */
  readonly recent: readonly BlockRecord[]
}

interface ComposedDashboard {
  readonly onEvent: (event: MinerEvent) => void
  readonly extensions: readonly ServedPart[]
  readonly close: () => void
}

/** Creates the dashboard. It samples hashrates until it is closed. */
export function dashboardFor({ network, account, snapshot, recent }: DashboardSetup): ComposedDashboard {
  const about = { version: packageVersion, network, account }
  const hub = new Hub({ about, snapshot, clock: systemClock, earlier: recent.map(shownBlock) })
  return {
    onEvent: (event) => hub.onEvent(event),
    extensions: [
      { path: DASHBOARD_PATH, addTo: addDashboard },
      { path: EVENTS_PATH, addTo: (app) => addEvents(app, hub) },
    ],
    close: () => hub.close(),
  }
}

function shownBlock({ foundAt, reason, message, ...record }: BlockRecord): ShownBlock {
  const { hash, chain, height, device, effort, state, depth, reward } = record
  const foundAtMs = Date.parse(foundAt)
  return { hash, chain, height, device, effort, foundAtMs, state, depth, reward, message: message ?? reason }
}
