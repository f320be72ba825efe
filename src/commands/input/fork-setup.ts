/** Makes the options of a fork from what the user typed. */
import { join } from 'node:path'
import type { forkOptions } from '#faces/cli/options/fork.ts'
import type { Values } from '#faces/cli/options/row.ts'
import type { NetworkCopyOptions } from '#language/copy/network-copy.ts'
import { cacheFolder } from '#mining/engine/cache-folder.ts'

export type ForkValues = Values<typeof forkOptions>

/** Options of the fork that the user wants, or null for none. */
export function forkSetup(
  values: ForkValues,
  environment: Readonly<Record<string, string | undefined>>,
): NetworkCopyOptions | null {
  return values.fork === undefined ? null : forkOf(values.fork, values, environment)
}

/** Options of a fork of this node. */
export function forkOf(
  url: string,
  values: Omit<ForkValues, 'fork'>,
  environment: Readonly<Record<string, string | undefined>>,
): NetworkCopyOptions {
  const { 'fork-cache': cache, 'fork-cut': cut } = values
  return {
    url,
    cut: cut ?? null,
    chains: values['fork-chains'] ?? null,
    cacheFolder: cache === 'off' ? null : (cache ?? join(cacheFolder(environment, process.platform), 'fork')),
    perSecond: values['fork-limit'],
    timeoutMs: values['fork-timeout'],
    tableRows: values['fork-table-rows'],
    pactKeys: values['fork-pact'] ?? [],
  }
}
