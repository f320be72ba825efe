/** The texts of modules at the pin, for people and editors to read. */
import type { ChainFork } from './chain-copy.ts'
import type { CachedModule, CachedOrigin } from './module-fetch.ts'
import { namespaceOf } from './module-text.ts'

/**
 * Full names of all modules of the chain.
 * @throws NewcutError if the node cannot tell them
 */
export async function moduleNames(chain: ChainFork): Promise<readonly string[]> {
  if (!chain.cache.has('modules')) await chain.fetcher.fetch({ domain: 'modules', key: null })
  return chain.cache.get('modules') as readonly string[]
}

/**
 * A module as code that deploys it: where it is from as comments, its namespace, the imports before it, and its text.
 * @param full its name, which `fetchModules` has fetched
 */
export function moduleSource({ block, cache }: ChainFork, full: string): string {
  const { code, hash, txHash } = cache.get(`module:${full}`) as CachedModule
  const { imports = '' } = (cache.get(`origin:${full}`) as CachedOrigin | undefined) ?? {}
  const namespace = namespaceOf(full)
  const head = [
    `; ${full} of ${block.network}, chain ${block.chain}, at height ${block.height}`,
    `; hash ${hash}, deployed by ${txHash}`,
    ...(namespace === null ? [] : [`(namespace "${namespace}")`]),
    ...(imports === '' ? [] : [imports]),
  ]
  return `${head.join('\n')}\n\n${code}\n`
}
