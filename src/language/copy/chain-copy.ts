/** One chain of a fork: its state, and runs that wait for what they miss. */
import { operatingError } from '#ground/base/errors.ts'
import type { JsonFields } from '#ground/base/json.ts'
import type { Header } from '#ground/chain/header.ts'
import type { LanguageRules } from '../contracts/machine/environment.ts'
import { MissingEntry, type ReadableState } from '../contracts/machine/state.ts'
import { AncestorHeaders } from './ancestor-headers.ts'
import { CopyCache, type PinnedBlock } from './cache.ts'
import { type CopyEntries, entriesIn, type FetchOptions } from './entries.ts'
import { copyErrors } from './errors.ts'
import { Fetcher } from './fetcher.ts'
import { modulesIn, namespaceOf, stringsIn } from './module-text.ts'
import { forgetPactsWithoutState } from './pacts.ts'
import { pinnedPayload } from './payload-fetch.ts'
import { PinnedCaller } from './pinned-caller.ts'
import { PinnedState } from './pinned-state.ts'
import type { RemoteNode } from './remote-node.ts'

/** Maximum number of restarts of one run. A node that answers differently each time would restart it forever. */
export const MAX_ROUNDS = 500

export interface ChainCopyOptions extends FetchOptions {
  /** Folder of the cache; null keeps it in memory. */
  readonly cacheFolder: string | null
  /** Rules by which sizes of modules are measured; default: those of nodes. */
  readonly rules?: LanguageRules | undefined
  /** Called with a message if the cache is damaged. */
  readonly onNotice?: ((message: string) => void) | undefined
}

/**
 * Life cycle of an entry of the state:
 *
 * 1. A run reads it: `PinnedState` throws MissingEntry, because the cache does not have it.
 * 2. `complete` catches that. `Fetcher` asks the node for the entry at the pin, and for others that the run will probably
 *    read. A second run that misses the same entry waits for the same request.
 * 3. The answer is checked against the pin, put into the cache, and saved. An entry that the chain lacks is cached too.
 * 4. The run starts again, on a fresh layer, and finds the entry. A pinned block never changes, so it stays forever.
 */
export class ChainCopy {
  readonly block: PinnedBlock
  readonly state: PinnedState
  readonly entries: CopyEntries
  readonly fetcher: Fetcher
  #ancestors: AncestorHeaders | null = null

  /** @param head height of the chain of the node, if it is known */
  constructor(remote: RemoteNode, block: PinnedBlock, options: ChainCopyOptions, head: number | null = null) {
    this.block = block
    this.entries = entriesIn(new CopyCache(options.cacheFolder, block, options.onNotice))
    forgetPactsWithoutState(this.entries, options.pactKeys)
    this.state = new PinnedState(this.entries, options.rules)
    this.fetcher = new Fetcher({ caller: new PinnedCaller(remote, block, head), entries: this.entries, options })
  }

  /** The payload of the pinned block as JSON. @returns null if the node no longer has it */
  payload(): Promise<JsonFields | null> {
    return pinnedPayload(this.fetcher.caller, this.entries)
  }

  /** Headers below the pinned block. @param pinned its header */
  ancestors(pinned: Header): AncestorHeaders {
    this.#ancestors ??= new AncestorHeaders(this.fetcher.caller, this.entries, pinned)
    return this.#ancestors
  }

  /**
   * A module as code that deploys it: where it is from as comments, its namespace, the imports before it, and its text.
   * @param full its name, which `fetchModules` has fetched
   */
  moduleSource(full: string): string {
    const { network, chain, height } = this.block
    const { code, hash, txHash } = this.entries.modules.expect(full)
    const { imports = '' } = this.entries.origins.get(full) ?? {}
    const namespace = namespaceOf(full)
    const head = [
      `; ${full} of ${network}, chain ${chain}, at height ${height}`,
      `; hash ${hash}, deployed by ${txHash}`,
      ...(namespace === null ? [] : [`(namespace "${namespace}")`]),
      ...(imports === '' ? [] : [imports]),
    ]
    return `${head.join('\n')}\n\n${code}\n`
  }

  /** Texts in code that are probably keys of rows. */
  hints(texts: readonly string[]): readonly string[] {
    return texts.flatMap(stringsIn)
  }

  /** Whether a state is that of this copy, perhaps with modules of its own. */
  owns(state: ReadableState): boolean {
    return state instanceof PinnedState && state.entries === this.entries
  }

  /** Fetches the modules that code names, so that its run misses less. */
  async warm(texts: readonly string[]): Promise<void> {
    const known = new Set(await this.fetcher.moduleNames())
    const named = new Set(texts.flatMap((text) => modulesIn(text, null, known)))
    await this.fetcher.fetchModules([...named])
  }

  /**
   * Runs `run` until it misses nothing. Each time, it must start again, on a fresh layer.
   * @param hints texts that are probably keys of rows
   * @throws NewcutError if the node cannot supply what is missing
   */
  async complete<T>(run: () => T | Promise<T>, hints: () => readonly string[] = () => []): Promise<T> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof MissingEntry)) throw error
        await this.fetcher.fetch(error, hints())
      }
    }
    throw operatingError(copyErrors.tooManyRounds, { rounds: MAX_ROUNDS })
  }
}
