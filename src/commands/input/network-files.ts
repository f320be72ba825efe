/** The networks of `--network-file`. The reader of the files is loaded only if there are some. */
import type { NetworkDefinition } from '#ground/chain/network.ts'
import { definitionOf, type NetworkForm } from '#ground/chain/network-form.ts'

/** @throws NewcutError BAD_CONFIG for a file that cannot be used */
export async function networksOf(files: readonly string[] | undefined): Promise<readonly NetworkDefinition[]> {
  return (await networkFormsOf(files)).map(definitionOf)
}

/** The files themselves, for a development node. @throws like networksOf */
export async function networkFormsOf(files: readonly string[] = []): Promise<readonly NetworkForm[]> {
  if (files.length === 0) return []
  return (await import('#faces/cli/network-file.ts')).readNetworkFiles(files)
}
