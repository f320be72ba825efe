/** The page runs the project's own modules: all that it needs is served, nothing else, and none of it is Node's. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path/posix'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { ENTRY, HASH_MODULES, MODULES, readMinePage } from '../../../src/web/mine-page/files.ts'

const dist = new URL('../../../dist/src/', import.meta.url)
const hashes = pathToFileURL(createRequire(import.meta.url).resolve('@noble/hashes/utils.js'))
const HASHES = '@noble/hashes/'

/** What compiled code imports, dynamic imports included. */
function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  return [...code.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g)].map(([, specifier]) => specifier)
}

/** Everything that a module reaches: `core/pow.js`, `@noble/hashes/utils.js`, or a specifier as it stands. */
function reachedFrom(entry: string): Set<string> {
  const reached = new Set<string>()
  const visit = (name: string) => {
    if (reached.has(name)) return
    reached.add(name)
    if (!name.endsWith('.js')) return
    const isHash = name.startsWith(HASHES)
    const file = isHash ? new URL(name.slice(HASHES.length), hashes) : new URL(name, dist)
    for (const specifier of importsOf(readFileSync(file, 'utf8'))) {
      visit(specifier.startsWith('.') ? join(dirname(name), specifier) : specifier)
    }
  }
  visit(entry)
  return reached
}

it('the modules that are served are those that the page reaches: no more, no fewer', () => {
  const served = [...MODULES.map((name) => `${name}.js`), ...HASH_MODULES.map((name) => HASHES + name)]
  expect([...reachedFrom(`${ENTRY}.js`)].toSorted()).toEqual(served.toSorted())
})

it('none of them uses what browsers do not have', () => {
  const forbidden = /\b(setImmediate|process\.|Buffer\b|require\(|__dirname)|['"]node:/
  const wrong = MODULES.filter((name) => {
    const code = readFileSync(new URL(`${name}.js`, dist), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    return forbidden.test(code)
  })
  expect(wrong).toEqual([])
})

it('the page loads nothing from elsewhere, and its import map is the one that its policy allows', () => {
  const assets = readMinePage()
  const { text: page = '', policy } = assets.get('/mine') ?? {}
  const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link)
  expect(links.length).toBeGreaterThan(2)
  expect(links.filter((link) => !assets.has(link))).toEqual([])
  expect(policy).toMatch(/^default-src 'self'; script-src 'self' 'sha256-[\w+/]{43}='; /)
  for (const { text } of assets.values())
    expect(text).not.toMatch(/@import|url\(|https?:\/\/(?!www\.w3\.org\/2000\/svg)\S+\.(js|css)/)
})

it('the files are as large as a page may be', () => {
  const bytes = [...readMinePage().values()].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  expect(bytes).toBeLessThan(400_000)
})
