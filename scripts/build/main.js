/**
 * `npm run build`: emits the modules, then bundles them. Builds only what has changed since the last build. Plain
 * JavaScript, because it runs before anything is compiled. It checks no types; `npm run typecheck` does.
 */
import { bundleCommands, bundlePackages, bundlePages } from './bundle.js'
import { copyCharts } from './charts.js'
import { changesSince, emit, isModule, removeOutput } from './emit.js'
import { writeSites } from './sites.js'
import { readState, writeState } from './state.js'

const startMs = performance.now()
const before = readState()
const { changed, removed, sources } = changesSince(before.sources)
const stale = [...changed, ...removed]
// The bundles have the benchmarks too.
const isBundled = before.isBundled && !stale.some((name) => isModule(name) && /^(src|bench)\//.test(name))
const modules = changed.filter(isModule)
if (!isBundled || stale.length > 0) {
  // A build that ends in the middle must not pass for a complete one. The next one knows what it may have left behind.
  const unknown = Object.fromEntries(stale.map((name) => [name, '']))
  writeState({ sources: { ...before.sources, ...unknown }, isBundled })
  for (const name of removed.filter(isModule)) removeOutput(name)
  for (const name of modules) emit(name)
  if (!isBundled) {
    await bundlePackages(modules)
    await bundleCommands()
    await bundlePages()
    copyCharts()
  }
  writeSites()
  writeState({ sources, isBundled: true })
}
const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
console.log(
  `newcut: built in ${seconds} s, ${stale.length === 0 ? 'nothing had changed' : `${modules.length} modules emitted`}`,
)
