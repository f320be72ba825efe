/**
 * The files of the page, read once at the start. This list is fixed: nothing else of the package can be fetched, since
 * no path of a request reaches the file system. The page runs the project's own compiled modules, as they are.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { shaderText } from '../engine/gpu/shader.ts'

/** For everything that a page loads. */
export const SAFE_HEADERS = {
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}

/** The module that the page starts; those below are what it imports, directly or not (test/web/mine-page/modules.test.ts). */
export const ENTRY = 'web/mine-page/browser/main'

/** Modules of src/, without their ending. */
export const MODULES: readonly string[] = [
  ENTRY,
  'web/mine-page/browser/clock',
  'web/mine-page/browser/device',
  'web/mine-page/browser/gateway',
  'web/mine-page/browser/hand-in',
  'web/mine-page/browser/miner',
  'web/mine-page/browser/news',
  'web/mine-page/browser/problem',
  'web/mine-page/browser/rate',
  'web/mine-page/browser/view',
  'engine/range',
  'engine/gpu/batches',
  'engine/gpu/layout',
  'engine/gpu/runner',
  'engine/gpu/search-loop',
  'engine/gpu/self-test',
  'engine/gpu/software',
  'core/blake2s',
  'core/block-hash',
  'core/bytes',
  'core/clock',
  'core/errors',
  'core/header',
  'core/merkle',
  'core/nonce',
  'core/pow',
  'core/printable',
  'core/target',
  'core/units',
  'core/work',
]

/** Files of @noble/hashes. */
export const HASH_MODULES: readonly string[] = ['_blake.js', '_md.js', '_u64.js', 'blake2.js', 'sha2.js', 'utils.js']

const SCRIPT = 'text/javascript;charset=utf-8'

export interface Asset {
  readonly type: string
  readonly text: string
}

/** What is served: the path of each file, and the policy for the page itself. */
export interface Site {
  readonly assets: ReadonlyMap<string, Asset>
  /** Content-Security-Policy of the page. */
  readonly policy: string
}

/** Compiled modules lie beside this folder; the page's own files lie in the source folder, two levels above dist/src. */
const moduleFile = (name: string) => new URL(`../${name}.js`, import.meta.url)
const siteFile = (name: string) => new URL(`../../../src/web/${name}`, import.meta.url)

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html;charset=utf-8',
  css: 'text/css;charset=utf-8',
  svg: 'image/svg+xml',
}

/** A file of src/web, such as `explorer/site/explorer.html`. Throws where the package is incomplete. */
export function siteAsset(name: string): Asset {
  return { type: TYPES[name.split('.').at(-1) ?? ''], text: readFileSync(siteFile(name), 'utf8') }
}

/** A compiled module. Throws where the package is incomplete. */
export function moduleAsset(name: string): Asset {
  return { type: SCRIPT, text: readFileSync(moduleFile(name), 'utf8') }
}

/** Reads all files. Throws where the package is incomplete. */
export function readSite(): Site {
  const read = (file: URL) => readFileSync(file, 'utf8')
  // Only some of its files are exported under a name; the others lie beside them.
  const hashes = pathToFileURL(createRequire(import.meta.url).resolve('@noble/hashes/utils.js'))
  const page = siteAsset('mine-page/site/mine.html')
  const assets = new Map<string, Asset>([
    ['/mine', page],
    ['/mine/mine.css', siteAsset('mine-page/site/mine.css')],
    ['/mine/icon.svg', siteAsset('mine-page/site/icon.svg')],
    ['/mine/search.wgsl', { type: 'text/plain;charset=utf-8', text: shaderText() }],
  ])
  for (const name of MODULES) assets.set(`/mine/src/${name}.js`, moduleAsset(name))
  for (const name of HASH_MODULES) {
    assets.set(`/mine/hashes/${name}`, { type: SCRIPT, text: read(new URL(name, hashes)) })
  }
  return { assets, policy: policyFor(page.text) }
}

/** All that the page loads comes from its own origin; the import map, which has to be inline, is named by its hash. */
function policyFor(html: string): string {
  const map = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? ''
  const hash = createHash('sha256').update(map).digest('base64')
  return [
    "default-src 'self'",
    `script-src 'self' 'sha256-${hash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    // No other site may put the page into its own, and have visitors click on it.
    "frame-ancestors 'none'",
  ].join('; ')
}
