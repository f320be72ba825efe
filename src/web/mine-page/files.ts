/** The files of the mining page: its own, its modules, those of @noble/hashes, and the shader. */
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { shaderText } from '../../engine/gpu/shader.ts'
import { type Asset, fileAsset, moduleAssets, policyWith, siteAsset } from '../assets.ts'

/** Entry module of the page. */
export const ENTRY = 'web/mine-page/browser/main'

/** Modules of src/ without extension: all direct and indirect imports of the page. */
export const MODULES: readonly string[] = [
  ENTRY,
  'web/mine-page/browser/clock',
  'web/mine-page/browser/device',
  'web/mine-page/browser/gateway',
  'web/mine-page/browser/hand-in',
  'web/mine-page/browser/miner',
  'web/mine-page/browser/problem',
  'web/mine-page/browser/rate',
  'web/mine-page/browser/view',
  'web/kit/dom',
  'web/kit/numbers',
  'web/kit/stream',
  'engine/range',
  'engine/gpu/batches',
  'engine/gpu/layout',
  'engine/gpu/runner',
  'engine/gpu/search-loop',
  'engine/gpu/self-test',
  'engine/gpu/software',
  'core/blake2s',
  'core/block-hash',
  'base/backoff',
  'base/bytes',
  'base/clock',
  'base/errors',
  'core/header',
  'core/merkle',
  'core/nonce',
  'core/pow',
  'base/printable',
  'core/target',
  'base/units',
  'core/work',
]

/** Files of `@noble/hashes`. */
export const HASH_MODULES: readonly string[] = ['_blake.js', '_md.js', '_u64.js', 'blake2.js', 'sha2.js', 'utils.js']

/** Reads all files, by path. Throws if the package is incomplete. */
export function readMinePage(): ReadonlyMap<string, Asset> {
  // The package exports only some of its files; the others lie beside them.
  const hashes = pathToFileURL(createRequire(import.meta.url).resolve('@noble/hashes/utils.js'))
  const page = siteAsset('mine-page/site/mine.html')
  return new Map<string, Asset>([
    ['/mine', { ...page, policy: policyFor(page.text) }],
    ['/mine/mine.css', siteAsset('mine-page/site/mine.css')],
    ['/mine/icon.svg', siteAsset('kit/site/icon.svg')],
    ['/mine/search.wgsl', { type: 'text/plain;charset=utf-8', text: shaderText() }],
    ...moduleAssets('/mine/src', MODULES),
    ...HASH_MODULES.map((name) => [`/mine/hashes/${name}`, fileAsset(new URL(name, hashes))] as const),
  ])
}

/** The import map must be inline, so the policy allows it by its hash. */
function policyFor(html: string): string {
  const map = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? ''
  const hash = createHash('sha256').update(map).digest('base64')
  return policyWith(`script-src 'self' 'sha256-${hash}'`)
}
