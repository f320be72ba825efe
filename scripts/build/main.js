/**
 * `npm run build`: emits the modules, then bundles them. Builds only what has changed since the last build. Plain
 * JavaScript, because it runs before anything is compiled. It checks no types; `npm run typecheck` does.
 */
import { bundleCommands, bundlePackages, bundlePages } from './bundle.js'
import { copyCharts } from './charts.js'
import { changesSince, emit, removeOutput } from './emit.js'
import { readState, writeState } from './state.js'

const startMs = performance.now()
const before = readState()
const { changed, removed, sources } = changesSince(before.sources)
const stale = [...changed, ...removed]
// The bundles have the benchmarks too.
const isBundled = before.isBundled && !stale.some((name) => /^(src|bench)\//.test(name))
if (!isBundled || stale.length > 0) {
  // A build that ends in the middle must not pass for a complete one.
  const kept = Object.entries(before.sources).filter(([name]) => !stale.includes(name))
  writeState({ sources: Object.fromEntries(kept), isBundled })
  for (const name of removed) removeOutput(name)
  for (const name of changed) emit(name)
  if (!isBundled) {
    await bundlePackages(changed)
    await bundleCommands()
    await bundlePages()
    copyCharts()
  }
  writeState({ sources, isBundled: true })
}
const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
console.log(
  `newcut: built in ${seconds} s, ${stale.length === 0 ? 'nothing had changed' : `${changed.length} modules emitted`}`,
)
