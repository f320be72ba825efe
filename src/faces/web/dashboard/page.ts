/** Serves the dashboard on the miner's HTTP server: the page at `/`, its files below `/dashboard/`. */
import type { FastifyInstance } from 'fastify'
import { type Asset, fileAsset, pageAssets, policyWith, sendAsset } from '../assets.ts'

export const DASHBOARD_PATH = '/'

/** A library that the build copies beside the scripts. */
const packageAsset = (name: string) => fileAsset(new URL(`kept/${name}`, import.meta.url))

/**
 * Reads all files, by path.
 * @throws if the package is incomplete
 */
export function readDashboard(): ReadonlyMap<string, Asset> {
  return new Map<string, Asset>([
    ...pageAssets('dashboard', '/dashboard', policyWith(), () => DASHBOARD_PATH),
    ['/dashboard/uplot.js', packageAsset('uPlot.iife.min.js')],
    ['/dashboard/uplot.css', packageAsset('uPlot.min.css')],
  ])
}

/** Adds the routes and reads the files. Call it before the server listens. */
export function addDashboard(app: FastifyInstance): void {
  for (const [path, asset] of readDashboard()) app.get(path, (_request, reply) => sendAsset(reply, asset))
}
