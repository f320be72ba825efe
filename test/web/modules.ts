/** Imports of the compiled modules of a page, and their use of Node. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path/posix'
import { pathToFileURL } from 'node:url'

export const dist = new URL('../../dist/src/', import.meta.url)
export const HASHES = '@noble/hashes/'
const hashes = pathToFileURL(createRequire(import.meta.url).resolve(`${HASHES}utils.js`))

/** Names that browsers lack. */
const FOREIGN = /\b(setImmediate|process\.|Buffer\b|require\(|__dirname)|['"]node:/
const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm

/** The code of a module of src/ (name without extension) or of a file of @noble/hashes, without comments. */
function codeOf(name: string): string {
  const file = name.startsWith(HASHES) ? new URL(name.slice(HASHES.length), hashes) : new URL(`${name}.js`, dist)
  return readFileSync(file, 'utf8').replace(COMMENTS, '')
}

/** The imports of a module, dynamic ones included. A specifier that is no path, such as a package, stays as it is. */
function importsOf(name: string): string[] {
  return [...codeOf(name).matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g)].map(([, specifier]) => {
    if (!specifier.startsWith('.')) return specifier
    const path = join(dirname(name), specifier)
    return name.startsWith(HASHES) ? path : path.replace(/\.js$/, '')
  })
}

/** All modules that these reach, themselves included, sorted. */
export function reachedFrom(...entries: readonly string[]): string[] {
  const reached = new Set<string>()
  const visit = (name: string) => {
    if (reached.has(name)) return
    reached.add(name)
    const isOurs = /^(web|base|core|engine|mine|source|schema|node)\//.test(name)
    if (isOurs || name.startsWith(HASHES)) for (const each of importsOf(name)) visit(each)
  }
  for (const entry of entries) visit(entry)
  return [...reached].toSorted()
}

/** The modules among these that use names which browsers lack. */
export const foreignTo = (names: readonly string[]) => names.filter((name) => FOREIGN.test(codeOf(name)))
