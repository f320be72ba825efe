/**
 * Puts the dashboard on the miner's HTTP server: the page at `/`, its files below `/dashboard/`. They are read once at
 * the start, and their list is fixed: no path of a request reaches the file system.
 */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

export const DASHBOARD_PATH = '/'

/** The module that the page starts; those below are what it imports, directly or not (test/web/dashboard/served.test.ts). */
export const ENTRY = 'web/dashboard/browser/main'

/** Modules of src/, without their ending. */
export const MODULES: readonly string[] = [
  ENTRY,
  'web/dashboard/browser/blocks',
  'web/dashboard/browser/braid',
  'web/dashboard/browser/chains',
  'web/dashboard/browser/chart',
  'web/dashboard/browser/control',
  'web/dashboard/browser/devices',
  'web/dashboard/browser/dom',
  'web/dashboard/browser/nodes',
  'web/dashboard/browser/numbers',
  'web/dashboard/browser/rigs',
  'web/dashboard/browser/stream',
  'web/dashboard/browser/view',
  'web/dashboard/lines',
  'core/units',
]

const TYPES = {
  html: 'text/html;charset=utf-8',
  css: 'text/css;charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript;charset=utf-8',
} as const

/** All that the page loads and asks comes from its own origin, and no other site may put it into its own. */
const POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const SAFE_HEADERS = {
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}

export interface Asset {
  readonly type: string
  readonly text: string
}

/** Compiled modules lie beside this folder, and so do copies of libraries; the page's own files lie in the source folder. */
const moduleFile = (name: string) => new URL(`../../${name}.js`, import.meta.url)
const keptFile = (name: string) => new URL(`kept/${name}`, import.meta.url)
const siteFile = (name: string) => new URL(`../../../../src/web/dashboard/site/${name}`, import.meta.url)

/** All files by their path. Throws where the package is incomplete. */
export function readDashboard(): ReadonlyMap<string, Asset> {
  const asset = (kind: keyof typeof TYPES, file: URL): Asset => ({
    type: TYPES[kind],
    text: readFileSync(file, 'utf8'),
  })
  const assets = new Map<string, Asset>([
    [DASHBOARD_PATH, asset('html', siteFile('dashboard.html'))],
    ['/dashboard/dashboard.css', asset('css', siteFile('dashboard.css'))],
    ['/dashboard/parts.css', asset('css', siteFile('parts.css'))],
    ['/dashboard/icon.svg', asset('svg', siteFile('icon.svg'))],
    ['/dashboard/uplot.js', asset('js', keptFile('uPlot.iife.min.js'))],
    ['/dashboard/uplot.css', asset('css', keptFile('uPlot.min.css'))],
  ])
  for (const name of MODULES) assets.set(`/dashboard/src/${name}.js`, asset('js', moduleFile(name)))
  return assets
}

/** Adds the routes, to be called before the server listens. Reads the files of the page. */
export function addDashboard(app: FastifyInstance): void {
  for (const [path, { type, text }] of readDashboard()) {
    const headers = { ...SAFE_HEADERS, ...(path === DASHBOARD_PATH && { 'content-security-policy': POLICY }) }
    app.get(path, (_request, reply) => reply.type(type).headers(headers).send(text))
  }
}
