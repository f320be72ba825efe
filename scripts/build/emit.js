/**
 * Emits a JavaScript file with a source map for each TypeScript module, without its types. The compiler options
 * `erasableSyntaxOnly` and `isolatedModules` make this exact: no module needs another one to be emitted.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path/posix'
import { transformSync } from 'rolldown/utils'
import { dist, root } from './places.js'

/** A container is built without the tests. */
const FOLDERS = ['src', 'bench', 'scripts', 'test']
/** vitest compiles tests itself. */
const NO_MODULE = /\.test\.ts$|\.d\.ts$/

const targetOf = (/** @type {string} */ source) => `${dist}${source.replace(/\.ts$/, '.js')}`

/**
 * Compares the modules and the files of pages with those of the last build.
 * @param {Readonly<Record<string, string>>} before hash of each source at the last build
 * @returns {{ changed: string[], removed: string[], sources: Record<string, string> }} paths from the root; hashes now
 */
export function changesSince(before) {
  /** @type {Record<string, string>} */
  const sources = {}
  for (const name of inputs()) {
    sources[name] = createHash('sha256')
      .update(readFileSync(`${root}${name}`))
      .digest('base64url')
  }
  const changed = Object.keys(sources).filter(
    (name) => before[name] !== sources[name] || (isModule(name) && !existsSync(targetOf(name))),
  )
  const removed = Object.keys(before).filter((name) => !(name in sources))
  return { changed, removed, sources }
}

/**
 * Removes what an earlier build has made of a module.
 * @param {string} name
 */
export function removeOutput(name) {
  const target = targetOf(name)
  for (const file of [target, `${target}.map`, target.replace(/\.js$/, '.d.ts')]) rmSync(file, { force: true })
}

/** @param {string} name path from the root */
export const isModule = (name) => name.endsWith('.ts') && !NO_MODULE.test(name)

/** Files of pages that are not modules. */
const OF_PAGE = /^src\/faces\/web\/.*\.(html|css|svg)$/

/** @returns {string[]} paths from the root */
const inputs = () =>
  FOLDERS.filter((folder) => existsSync(`${root}${folder}`))
    .flatMap(filesBelow)
    .filter((name) => isModule(name) || OF_PAGE.test(name))

/** @param {string} folder path from the root @returns {string[]} */
function filesBelow(folder) {
  const entries = readdirSync(`${root}${folder}`, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules')
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

/**
 * Emits one module.
 * @param {string} name path from the root
 * @throws {Error} for a syntax error: file and message
 */
export function emit(name) {
  const target = targetOf(name)
  const text = readFileSync(`${root}${name}`, 'utf8')
  const { code, map, errors } = transformSync(name, text, {
    sourcemap: true,
    target: 'es2023',
    typescript: { rewriteImportExtensions: 'rewrite', onlyRemoveTypeImports: true },
  })
  if (errors.length > 0) throw new Error(`${name}: ${errors.map(({ message }) => message).join('; ')}`)
  mkdirSync(dirname(target), { recursive: true })
  const source = relative(dirname(target), `${root}${name}`)
  writeFileSync(`${target}.map`, JSON.stringify({ ...map, sources: [source], sourcesContent: undefined }))
  writeFileSync(target, `${code}//# sourceMappingURL=${basename(target)}.map\n`)
}
