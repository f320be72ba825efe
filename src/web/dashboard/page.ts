/** Serves the dashboard on the miner's HTTP server: the page at `/`, its files below `/dashboard/`. */
import type { FastifyInstance } from 'fastify'
import { type Asset, fileAsset, policyWith, scriptAssets, sendAsset, siteAsset } from '../assets.ts'

export const DASHBOARD_PATH = '/'

/** A library that the build copies beside the scripts. */
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
    ...scriptAssets('dashboard', '/dashboard'),
  ])
}

/** Adds the routes and reads the files. Call it before the server listens. */
export function addDashboard(app: FastifyInstance): void {
  for (const [path, asset] of readDashboard()) app.get(path, (_request, reply) => sendAsset(reply, asset))
}
