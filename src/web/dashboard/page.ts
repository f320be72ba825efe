/** Puts the dashboard on the miner's HTTP server: the page at `/`, its files below `/dashboard/`. */
import type { FastifyInstance } from 'fastify'
import { type Asset, fileAsset, moduleAssets, policyWith, sendAsset, siteAsset } from '../assets.ts'

export const DASHBOARD_PATH = '/'

/** The module that the page starts. */
export const ENTRY = 'web/dashboard/browser/main'

/** Modules of src/, without their ending: all that the page imports, directly or not. */
export const MODULES: readonly string[] = [
  ENTRY,
  'web/dashboard/browser/blocks',
  'web/dashboard/browser/braid',
  'web/dashboard/browser/chains',
  'web/dashboard/browser/chart',
  'web/dashboard/browser/control',
  'web/dashboard/browser/devices',
  'web/dashboard/browser/nodes',
  'web/dashboard/browser/rig-table',
  'web/dashboard/browser/rigs',
  'web/dashboard/browser/view',
  'web/dashboard/lines',
  'web/kit/dom',
  'web/kit/numbers',
  'web/kit/stream',
  'core/solution',
  'core/units',
]

/** A copy of a library, which the build puts beside the compiled modules. */
const keptAsset = (name: string) => fileAsset(new URL(`kept/${name}`, import.meta.url))

/** Path -> file. Reads all files. Throws where the package is incomplete. */
export function readDashboard(): ReadonlyMap<string, Asset> {
  return new Map<string, Asset>([
    [DASHBOARD_PATH, { ...siteAsset('dashboard/site/dashboard.html'), policy: policyWith() }],
    ['/dashboard/dashboard.css', siteAsset('dashboard/site/dashboard.css')],
    ['/dashboard/parts.css', siteAsset('dashboard/site/parts.css')],
    ['/dashboard/icon.svg', siteAsset('kit/site/icon.svg')],
    ['/dashboard/uplot.js', keptAsset('uPlot.iife.min.js')],
    ['/dashboard/uplot.css', keptAsset('uPlot.min.css')],
    ...moduleAssets('/dashboard/src', MODULES),
  ])
}

/** Adds the routes, to be called before the server listens. Reads the files of the page. */
export function addDashboard(app: FastifyInstance): void {
  for (const [path, asset] of readDashboard()) app.get(path, (_request, reply) => sendAsset(reply, asset))
}
