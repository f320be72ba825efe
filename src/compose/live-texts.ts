/** Texts of the modules of a forked network, for editors. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { makeFolders } from '#ground/base/replace-file.ts'
import type { ChainCopy } from '#language/copy/chain-copy.ts'
import type { NetworkCopyOptions } from '#language/copy/network-copy.ts'
import { type Pin, pinText } from '#language/copy/pin.ts'
import type { ModuleText, ModuleTexts } from '#language/editor/workspace/live-modules.ts'
import { openTestFork } from '#language/testing/fork.ts'
import { composeErrors } from './errors.ts'

/** A request for the text of a module that waits for the next round. */
interface TextRequest {
  readonly full: string
  readonly resolve: (text: ModuleText | null) => void
  readonly reject: (error: unknown) => void
}

/** Who hears of the fork. */
interface LiveTextsEvents {
  /** Called when the network is pinned. */
  readonly onPinned: (pin: Pin, chain: number) => void
  /** Called with lines such as that the node is slow. */
  readonly onNotice: (line: string) => void
}

export class LiveTexts implements ModuleTexts {
  readonly #options: NetworkCopyOptions
  readonly #events: LiveTextsEvents
  /** Advice for a cache that cannot be written. */
  readonly #cacheHint: string
  readonly #chain: number
  #opening: Promise<ChainCopy> | null = null
  #pin: Pin | null = null
  #waiting: TextRequest[] = []
  #isFetching = false
  /** Folder for texts, made when the first is kept. */
  #folder: string | null = null

  /** @param chain the only chain that an editor sees */
  constructor(options: NetworkCopyOptions, chain: number, events: LiveTextsEvents & { readonly cacheHint: string }) {
    this.#chain = chain
    this.#options = options
    this.#events = events
    this.#cacheHint = events.cacheHint
  }

  /** Options of the same fork, with its pin as soon as there is one. */
  get options(): NetworkCopyOptions {
    const cut = this.#pin === null ? this.#options.cut : pinText(this.#pin)
    return { ...this.#options, chains: [this.#chain], cut }
  }

  textOf(full: string): Promise<ModuleText | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ full, resolve, reject })
      if (!this.#isFetching) void this.#fetchAll()
    })
  }

  names(): Promise<readonly string[]> {
    return this.#onFork(({ fetcher }) => fetcher.moduleNames())
  }

  /** Fetches in rounds. The names that come while one is on its way share the next. */
  async #fetchAll(): Promise<void> {
    this.#isFetching = true
    // An analysis asks for many names at once.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const round = this.#waiting
      this.#waiting = []
      try {
        await this.#onFork((chain) => this.#fetch(chain, round))
      } catch (error) {
        for (const { reject } of round) reject(error)
      }
    }
    this.#isFetching = false
  }

  async #fetch(chain: ChainCopy, round: readonly TextRequest[]): Promise<void> {
    const known = new Set(await chain.fetcher.moduleNames())
    const names = [...new Set(round.map(({ full }) => full))].filter((full) => known.has(full))
    await chain.fetcher.fetchModules(names)
    const { network, hash } = chain.block
    for (const { full, resolve } of round) {
      const path = `${network}/${chain.block.chain}-${hash}/${full}.pact`
      resolve(known.has(full) ? { path, text: chain.moduleSource(full) } : null)
    }
  }

  /** Pins the network at the first use. After a failure, the next use starts again, perhaps with a newer pin. */
  async #onFork<T>(use: (chain: ChainCopy) => Promise<T>): Promise<T> {
    this.#opening ??= this.#open()
    try {
      return await use(await this.#opening)
    } catch (error) {
      this.#opening = null
      this.#pin = null
      throw error
    }
  }

  async #open(): Promise<ChainCopy> {
    const options = { ...this.#options, chains: [this.#chain] }
    const { pin, source } = await openTestFork(options, 'chains', this.#events.onNotice)
    this.#pin = pin
    this.#events.onPinned(pin, this.#chain)
    return source
  }

  /**
   * Writes a text into the cache of the fork, read-only. Without a cache, the folder goes when the process ends.
   * @throws NewcutError DATA_UNUSABLE if the text cannot be written
   */
  keep({ path, text }: ModuleText): string {
    try {
      const file = join(this.#textFolder(), ...path.split('/').map(encodeURIComponent))
      if (existsSync(file) && readFileSync(file, 'utf8') === text) return file
      makeFolders(dirname(file))
      rmSync(file, { force: true })
      writeFileSync(file, text)
      chmodSync(file, 0o444)
      return file
    } catch (error) {
      throw operatingError(
        composeErrors.textNotKept,
        { path, why: describeError(error), advice: this.#cacheHint },
        error,
      )
    }
  }

  #textFolder(): string {
    if (this.#folder !== null) return this.#folder
    const { cacheFolder } = this.#options
    if (cacheFolder !== null) this.#folder = join(cacheFolder, 'texts')
    else {
      const folder = mkdtempSync(join(tmpdir(), 'newcut-fork-'))
      process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
      this.#folder = folder
    }
    return this.#folder
  }
}
