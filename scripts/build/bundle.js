/** Makes fewer and larger files, which load faster. */
import { readdirSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { dist } from './places.js'

/** Modules of src that re-export a package. `instead`: packages that are replaced, and the text of what replaces them. */
const modules = [
  { name: 'ground/schema/typebox' },
  { name: 'ground/platform/fastify' },
  { name: 'client/node/undici' },
  {
    name: 'faces/api/prom-client',
    instead: {
      // For default metrics of a process, which newcut does not use.
      '@opentelemetry/api': 'export {}',
    },
  },
]

const compiled = (/** @type {string} */ name) => `${dist}src/${name}.js`

/**
 * Bundles each package of many files into the emitted module that re-exports it.
 * @param {readonly string[]} emitted the modules that this build has emitted; others are bundled already
 */
export async function bundlePackages(emitted) {
  const wanted = modules.filter(({ name }) => emitted.includes(`src/${name}.ts`))
  for (const { name, instead = {} } of wanted) {
    const file = compiled(name)
    await build({ input: file, platform: 'node', plugins: [replacing(instead)], output: { file, format: 'esm' } })
  }
}

/**
 * A plugin that replaces modules.
 * @param {Readonly<Record<string, string>>} instead name of a module -> the text of what replaces it
 * @param {RegExp} importers paths of the modules for which it is replaced
 */
function replacing(instead, importers = /^/) {
  const prefix = '\0instead:'
  return {
    name: 'instead',
    /** @param {string} id @param {string | undefined} from */
    resolveId: (id, from = '') => (id in instead && importers.test(from) ? prefix + id : null),
    /** @param {string} id */
    load: (id) => (id.startsWith(prefix) ? instead[id.slice(prefix.length)] : null),
  }
}

/** Folders of src/faces/web with pages. The entry modules of a page have names that end with `main`. */
export const pages = ['dashboard', 'explorer', 'mine-page']

/** Bundles the scripts of each page into dist/src/faces/web/PAGE/served/, from where newcut serves all files. */
export async function bundlePages() {
  for (const page of pages) {
    const modules = `${dist}src/faces/web/${page}/browser/`
    const entries = readdirSync(modules).filter((name) => /(^|-)main\.js$/.test(name))
    await bundlePage(
      Object.fromEntries(entries.map((name) => [name.slice(0, -'.js'.length), modules + name])),
      `${dist}src/faces/web/${page}/served/`,
    )
  }
}

/**
 * Bundles scripts for browsers, with one more file for each set of modules that several of them share.
 * @param {Readonly<Record<string, string>>} entries name of a script -> its module
 * @param {string} folder takes the scripts; what was there goes
 * @throws {Error} for a module of Node.js, which no browser has
 */
export async function bundlePage(entries, folder) {
  rmSync(folder, { recursive: true, force: true })
  await build({
    input: entries,
    platform: 'browser',
    plugins: [
      {
        name: 'no modules of Node.js',
        resolveId: (id, from) => {
          if (isBuiltin(id)) throw new Error(`a page cannot load ${id}, which ${from} imports`)
          return null
        },
      },
    ],
    output: {
      dir: folder,
      format: 'esm',
      minify: true,
      comments: { legal: true, jsdoc: false, annotation: false },
      chunkFileNames: '[name].js',
    },
  })
}

/** Modules with the steps of a start, in this order. The last two are for commands with option tables. */
const START = ['newcut', 'commands/command-line', 'commands/commands', 'cli/config']
const THREADS = {
  'execution-thread': 'devnet/execution/thread',
  'contract-thread': 'language/testing/thread',
  'mutation-thread': 'language/mutation/thread',
}

/**
 * Groups of the modules that START imports. Each module is in the file of the first step that imports it. Modules that
 * `others` import too have files of their own. By default, each set of commands with a common module would have a file.
 * @param {readonly string[]} others modules of threads and of other programs
 */
function startGroups(others) {
  /** @type {Map<string, string> | undefined} */
  let names
  /** @type {import('rolldown').CodeSplittingNameFunction} */
  const nameOf = (id, context) => {
    const reached = (/** @type {readonly string[]} */ entries) => {
      const found = new Set(entries)
      for (const each of found) for (const to of context.getModuleInfo(each)?.importedIds ?? []) found.add(to)
      return found
    }
    if (names === undefined) {
      const inThreads = reached(others)
      names = new Map()
      for (const entry of START) {
        for (const each of reached([compiled(entry)])) {
          if (!names.has(each)) names.set(each, `${inThreads.has(each) ? 'threads' : 'start'}-${basename(entry)}`)
        }
      }
      // It awaits the command, which could not load what it imports from the same file.
      names.delete(compiled('newcut'))
    }
    return names.get(id) ?? null
  }
  const files = START.flatMap((entry) => [`threads-${basename(entry)}`, `start-${basename(entry)}`])
  // A group takes what its modules import too, except what an earlier one has.
  return files.map((file, i) => ({
    /** @type {import('rolldown').CodeSplittingNameFunction} */
    name: (id, context) => (nameOf(id, context) === file ? file : null),
    debugName: file,
    priority: files.length - i,
  }))
}

/**
 * @typedef {object} BundleOptions
 * @property {string} [folder] takes the files; what was there goes
 * @property {Readonly<Record<string, string>>} [programs] further entries, whose modules are files of their own: name -> module
 * @property {Readonly<Record<string, string>>} [packages] packages that are files already: name -> file, in place of the package
 */

/** Packages that load files of their own folders, or that the user's project has. */
const APART = ['classic-level', 'piscina', 'webgpu', '@noble/post-quantum/slh-dsa.js', '@jest/globals', 'vitest']

/**
 * Bundles the command line and its threads. Rarely used modules have files of their own.
 * @param {BundleOptions} options
 * @returns {Promise<string[]>} the modules in the files, as paths
 */
export async function bundleCommands({ folder, programs = {}, packages = {} } = {}) {
  const bundled = `${dist}src/bundled/`
  /** @param {string} file */
  const fromBundles = (file) => relative(bundled, file)
  const apart = modules.map(({ name }) => compiled(name))
  const threads = Object.fromEntries(Object.entries(THREADS).map(([name, module]) => [name, compiled(module)]))
  const input = { newcut: compiled('newcut'), ...threads, ...programs }
  const dir = folder ?? bundled
  rmSync(dir, { recursive: true, force: true })
  const { output } = await build({
    input,
    platform: 'node',
    // The library for SLH-DSA, which hardly any node loads, shares modules with all commands: in a bundle, it would split
    // these into more files.
    external: APART.filter((name) => !(name in packages)),
    plugins: [
      // For commands that are programs of their own, which newcut does not have.
      replacing({ 'node:child_process': 'export {}' }, /\/commander\//),
      {
        name: 'packages stay apart',
        resolveId: (id, from) => {
          if (id in packages) return { id: fromBundles(packages[id]), external: true }
          if (!/^[.#]/.test(id) || from === undefined) return null
          const file = id.startsWith('#') ? `${dist}src/${id.slice(1)}` : fileURLToPath(new URL(id, `file://${from}`))
          return apart.includes(file) ? { id: fromBundles(file), external: true } : null
        },
      },
      {
        name: 'modules find their files',
        transform: (code, id) => {
          if (!id.startsWith(dist)) return null
          return code
            .replaceAll(/createRequire\(import\.meta\.url\)\(["']([^"']+)["']\)/g, (text, name) =>
              name in packages ? text.replace(name, relative(dirname(id), packages[name])) : text,
            )
            .replaceAll('import.meta.url', `new URL('${fromBundles(id)}', import.meta.url).href`)
        },
      },
    ],
    output: {
      dir,
      format: 'esm',
      comments: false,
      chunkFileNames: '[name].js',
      codeSplitting: { groups: startGroups([...Object.values(threads), ...Object.values(programs)]) },
    },
  })
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
}

/**
 * Bundles a package into one file.
 * @param {{ input: string, file: string, format: 'esm' | 'cjs' }} options the module that re-exports it; where it goes
 * @returns {Promise<string[]>} the modules in the file, as paths
 */
export async function bundlePackage({ input, file, format }) {
  const { output } = await build({
    input,
    platform: 'node',
    external: ['@napi-rs/nice', 'webgpu'],
    // A module of CommonJS finds its own files by its folder.
    ...(format === 'esm' && { transform: { define: { __dirname: 'import.meta.dirname' } } }),
    output: { file, format, comments: false },
  })
  return output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
}
