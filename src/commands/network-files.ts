/** The networks of `--network-file`. The reader of the files is loaded only if there are some. */
import type { NetworkDefinition } from '../core/network.ts'

/** @throws NewcutError BAD_CONFIG for a file that cannot be used */
export async function networksOf(files: readonly string[] = []): Promise<readonly NetworkDefinition[]> {
  if (files.length === 0) return []
  return (await import('../cli/network-file.ts')).readNetworkFiles(files)
}
