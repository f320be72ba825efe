/** Serves the dashboard on the miner's HTTP server: the page at `/`, its files below `/dashboard/`. */
import type { FastifyInstance } from 'fastify'
import { type Asset, fileAsset, moduleAssets, policyWith, sendAsset, siteAsset } from '../assets.ts'

export const DASHBOARD_PATH = '/'

/** Entry module of the page. */
export const ENTRY = 'web/dashboard/browser/main'

/** Modules of src/ without extension: all direct and indirect imports of the page. */
export const MODULES: readonly string[] = [
  ENTRY,
  'web/dashboard/browser/blocks',
  'web/dashboard/browser/braid',
  'web/dashboard/browser/chains',
  'web/dashboard/browser/chart',
  'web/dashboard/browser/control',
  'web/dashboard/browser/devices',
  'web/dashboard/browser/energy',
  'web/dashboard/browser/money',
  'web/dashboard/browser/nodes',
  'web/dashboard/browser/rig-table',
  'web/dashboard/browser/rigs',
  'web/dashboard/browser/view',
  'web/dashboard/lines',
  'web/kit/dom',
  'web/kit/numbers',
  'web/kit/stream',
  'base/backoff',
  'base/money-text',
  'core/solution',
  'base/units',
]

/** A library that the build copies beside the compiled modules. */
const keptAsset = (name: string) => fileAsset(new URL(`kept/${name}`, import.meta.url))

/** Reads all files, by path. Throws if the package is incomplete. */
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

/** Adds the routes and reads the files. Call it before the server listens. */
export function addDashboard(app: FastifyInstance): void {
  for (const [path, asset] of readDashboard()) app.get(path, (_request, reply) => sendAsset(reply, asset))
}
