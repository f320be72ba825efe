/**
 * Build step of `npm run build`: fewer and larger files, which load faster.
 *
 * 1. Bundles each package of many files into the compiled module that re-exports it.
 * 2. Bundles the command line and its threads into dist/src/bundled/. Rarely used modules have files of their own there.
 */
import { rmSync } from 'node:fs'
import { relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const dist = fileURLToPath(new URL('../../dist/', import.meta.url))

/** Modules of dist/src. `instead`: packages that are replaced, and the text of what replaces them. */
const modules = [
  { name: 'schema/typebox.js' },
  { name: 'platform/fastify.js' },
  { name: 'node/undici.js' },
  {
    name: 'api/prom-client.js',
    instead: {
      // For default metrics of a process, which newcut does not use.
      '@opentelemetry/api': 'export {}',
    },
  },
]

for (const { name, instead = {} } of modules) {
  const file = `${dist}src/${name}`
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

const bundled = `${dist}src/bundled/`
/** @param {string} file */
const fromBundles = (file) => relative(bundled, file)
const apart = modules.map(({ name }) => `${dist}src/${name}`)

rmSync(bundled, { recursive: true, force: true })
await build({
  input: {
    newcut: `${dist}src/newcut.js`,
    'execution-thread': `${dist}src/devnet/execution/thread.js`,
    'contract-thread': `${dist}src/commands/contract-thread.js`,
  },
  platform: 'node',
  // They load files of their own folders.
  external: ['classic-level', 'piscina', 'webgpu'],
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
