/**
 * Build step of `npm run build`: bundles the packages whose many files load slowly, each into the compiled module that
 * re-exports it. The thread that executes contracts becomes one file beside its own module.
 */
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

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
  const file = fileURLToPath(new URL(`../../dist/src/${name}`, import.meta.url))
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

// After the packages, since it contains some of them. The folder stays the same, from which the contracts are found.
const folder = new URL('../../dist/src/devnet/execution/', import.meta.url)
await build({
  input: fileURLToPath(new URL('thread.js', folder)),
  platform: 'node',
  output: {
    file: fileURLToPath(new URL('bundled-thread.js', folder)),
    format: 'esm',
    comments: false,
  },
})
