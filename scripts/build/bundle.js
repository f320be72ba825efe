/** Makes fewer and larger files, which load faster. */
import { readdirSync, rmSync } from 'node:fs'
import { relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { dist } from './places.js'

/** Modules of src that re-export a package. `instead`: packages that are replaced, and the text of what replaces them. */
const modules = [
  { name: 'schema/typebox' },
  { name: 'platform/fastify' },
  { name: 'node/undici' },
  {
    name: 'api/prom-client',
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
    const prefix = '\0instead:'
    const plugin = {
      name: 'instead',
      /** @param {string} id */
      resolveId: (id) => (id in instead ? prefix + id : null),
      /** @param {string} id */
      load: (id) => (id.startsWith(prefix) ? Reflect.get(instead, id.slice(prefix.length)) : null),
    }
    await build({ input: file, platform: 'node', plugins: [plugin], output: { file, format: 'esm' } })
  }
}

/** Folders of src/web with pages. The entry modules of a page have names that end with `main`. */
const pages = ['dashboard', 'explorer', 'mine-page']

/** Bundles the scripts of each page into dist/src/web/PAGE/served/, from where newcut serves all files. */
export async function bundlePages() {
  for (const page of pages) {
    const modules = `${dist}src/web/${page}/browser/`
    const served = `${dist}src/web/${page}/served/`
    const entries = readdirSync(modules).filter((name) => /(^|-)main\.js$/.test(name))
    rmSync(served, { recursive: true, force: true })
    await build({
      input: Object.fromEntries(entries.map((name) => [name.slice(0, -'.js'.length), modules + name])),
      platform: 'browser',
      output: {
        dir: served,
        format: 'esm',
        comments: { legal: true, jsdoc: false, annotation: false },
        chunkFileNames: '[name].js',
      },
    })
  }
}

/** Bundles the command line and its threads into dist/src/bundled/. Rarely used modules have files of their own there. */
export async function bundleCommands() {
  const bundled = `${dist}src/bundled/`
  /** @param {string} file */
  const fromBundles = (file) => relative(bundled, file)
  const apart = modules.map(({ name }) => compiled(name))
  rmSync(bundled, { recursive: true, force: true })
  await build({
    input: {
      newcut: compiled('newcut'),
      'execution-thread': compiled('devnet/execution/thread'),
      'contract-thread': compiled('testing/thread'),
    },
    platform: 'node',
    // They load files of their own folders. The library for SLH-DSA, which hardly any node loads, shares modules with all
    // commands: in a bundle, it would split these into more files.
    external: ['classic-level', 'piscina', 'webgpu', '@noble/post-quantum/slh-dsa.js'],
    plugins: [
      {
        name: 'packages stay apart',
        resolveId: (id, from) => {
          if (!id.startsWith('.') || from === undefined) return null
          const file = fileURLToPath(new URL(id, `file://${from}`))
          return apart.includes(file) ? { id: fromBundles(file), external: true } : null
        },
      },
      {
        name: 'modules find their files',
        transform: (code, id) => {
          if (!id.startsWith(dist)) return null
          return code.replaceAll('import.meta.url', `new URL('${fromBundles(id)}', import.meta.url).href`)
        },
      },
    ],
    output: { dir: bundled, format: 'esm', comments: false, chunkFileNames: '[name].js' },
  })
}
