/**
 * Bundles of the command line and of its threads. The build makes them (scripts/build/bundle.js), because hundreds of modules load
 * slowly.
 */
import { existsSync } from 'node:fs'

/** @returns undefined if there is no bundle: sources in TypeScript have none, and neither has a run with coverage */
export function bundleOf(name: 'newcut' | 'execution-thread' | 'contract-thread' | 'mutation-thread'): URL | undefined {
  const file = new URL(`../../bundled/${name}.js`, import.meta.url)
  return existsSync(file) ? file : undefined
}
