/** Scripts of pages: what they load, and their use of Node. */
import type { Asset } from '../../src/faces/web/assets.ts'

/** Names that browsers lack. */
const FOREIGN = /\b(setImmediate|process\.|Buffer\b|require\(|__dirname)|['"]node:/
const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm

type Assets = ReadonlyMap<string, Asset>

const textOf = (assets: Assets, path: string) => assets.get(path)?.text ?? ''

/** Paths of all scripts that newcut bundles for a page. */
export const scriptsIn = (assets: Assets) =>
  [...assets.keys()].filter((path) => path.endsWith('.js') && !path.endsWith('/uplot.js'))

/** The scripts that use names which browsers lack. */
export const foreignIn = (assets: Assets) =>
  scriptsIn(assets).filter((path) => FOREIGN.test(textOf(assets, path).replace(COMMENTS, '')))

/** All scripts that these load, themselves included, sorted. A script that is not served is there too. */
export function loadedBy(assets: Assets, ...entries: readonly string[]): string[] {
  const loaded = new Set<string>()
  const visit = (path: string) => {
    if (loaded.has(path)) return
    loaded.add(path)
    const specifiers = textOf(assets, path).matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g)
    for (const [, specifier] of specifiers) visit(new URL(specifier, `http://page${path}`).pathname)
  }
  for (const entry of entries) visit(entry)
  return [...loaded].toSorted()
}

/** The scripts that a page names. */
export const entriesOf = (page: string) =>
  [...page.matchAll(/<script type="module" src="([^"]+)"/g)].map(([, path]) => path)
