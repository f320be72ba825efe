/** The dashboard of a miner: its page and event stream, as parts of the miner's HTTP server. */
import type { ServedPart } from '#faces/api/server.ts'
import { Hub } from '#faces/web/dashboard/hub.ts'
import { addDashboard, DASHBOARD_PATH } from '#faces/web/dashboard/page.ts'
import type { ShownBlock } from '#faces/web/dashboard/state.ts'
import { addEvents, EVENTS_PATH } from '#faces/web/dashboard/stream.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { packageVersion } from '#ground/platform/version.ts'
import type { BlockRecord } from '#mining/journal/record.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'

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
