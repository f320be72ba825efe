/** Modules of a live network. Their texts are fetched when a name leads to them, and editors show them as documents. */
import { describeError } from '#ground/base/errors.ts'
import { type ParsedFile, parseFile } from '../text/parsed-file.ts'
import { type ModuleSymbol, modulesOf } from '../text/symbols.ts'

/** Scheme of the URIs of live modules, for editors that ask the server for texts. */
export const LIVE_SCHEME = 'newcut-fork'

/** The text of a module from elsewhere. */
export interface ModuleText {
  /** Its place among the texts of its source: `NETWORK/CHAIN-HASH/MODULE.pact`. */
  readonly path: string
  /** Code that deploys it, in its namespace. */
  readonly text: string
}

/** Finds texts of modules that no file of the workspace has, such as those of a live network. */
export interface ModuleTexts {
  /**
   * @param full name of the module, with its namespace
   * @returns null if there is none
   * @throws Error with a message for the user
   */
  textOf(full: string): Promise<ModuleText | null>
  /**
   * Full names of all modules.
   * @throws Error with a message for the user
   */
  names(): Promise<readonly string[]>
  /**
   * Keeps a text in a file, for editors that show files only.
   * @returns the name of the file
   * @throws Error with a message for the user
   */
  keep(text: ModuleText): string
}

/** How a session shows live modules. */
export interface LiveOptions {
  /** True if the editor asks the server for the text of a document that is not a file. */
  readonly areVirtual: boolean
  /** Called when a text has arrived, or cannot be had. */
  readonly onArrival: () => void
  /** Called with a message for the user. */
  readonly onTrouble: (message: string) => void
}

/** A module, or the reason why there is none: `failed` if the source gave no answer. */
export type LiveFinding = ModuleSymbol | 'pending' | 'failed' | null

/** Maximum wait of an answer for texts that are on their way: the user waits for it. */
const MAX_WAIT_MS = 10_000

export class LiveModules {
  readonly #texts: ModuleTexts
  readonly #options: LiveOptions
  readonly #found = new Map<string, LiveFinding>()
  /** File -> its text. */
  readonly #files = new Map<string, ParsedFile>()
  #names: readonly string[] | 'pending' | 'failed' | null = null
  /** Called at the next arrival. */
  #waiting: (() => void)[] = []
  #lastTrouble: string | null = null

  constructor(texts: ModuleTexts, options: LiveOptions) {
    this.#texts = texts
    this.#options = options
  }

  find(full: string): LiveFinding {
    const before = this.#found.get(full)
    if (before === undefined) void this.#fetch(full)
    return before ?? this.#found.get(full) ?? null
  }

  /** @returns null for a file that is not a live module */
  parsedFile(file: string): ParsedFile | null {
    return this.#files.get(file) ?? null
  }

  get files(): readonly string[] {
    return [...this.#files.keys()]
  }

  /** Modules whose texts are here. */
  get modules(): ModuleSymbol[] {
    return [...this.#found.values()].filter((each) => each !== null && typeof each === 'object')
  }

  /** Full names of all modules; none until they have arrived. */
  get names(): readonly string[] {
    if (this.#names === null) void this.#fetchNames()
    return Array.isArray(this.#names) ? this.#names : []
  }

  /** Forgets failures of the source, so that the next use asks again. */
  retry(): void {
    for (const [full, found] of this.#found) if (found === 'failed') this.#found.delete(full)
    if (this.#names === 'failed') this.#names = null
  }

  /** Waits for the next arrival. @returns false if nothing is on its way, or it takes too long */
  async awaitArrival(): Promise<boolean> {
    const isPending = this.#names === 'pending' || [...this.#found.values()].includes('pending')
    if (!isPending) return false
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), MAX_WAIT_MS)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }

  async #fetch(full: string): Promise<void> {
    this.#found.set(full, 'pending')
    try {
      const text = await this.#texts.textOf(full)
      this.#found.set(full, text === null ? null : this.#read(full, text))
      this.#lastTrouble = null
    } catch (error) {
      this.#found.set(full, 'failed')
      this.#reportTrouble(error)
    }
    this.#announceArrival()
  }

  #read(full: string, text: ModuleText): ModuleSymbol {
    const virtual = `${LIVE_SCHEME}:/${text.path.split('/').map(encodeURIComponent).join('/')}`
    const file = this.#options.areVirtual ? virtual : this.#texts.keep(text)
    const parsed = parseFile(file, text.text)
    const module = modulesOf(parsed).find((each) => each.full === full)
    if (module === undefined) throw new Error(`the network returned a text of ${full} that does not define it`)
    // The readable part still helps. Usually, the text is older than the current language.
    const [wrong] = parsed.findings
    if (wrong !== undefined) this.#options.onTrouble(`the text of ${full} cannot be read as a whole: ${wrong.message}`)
    this.#files.set(file, parsed)
    return module
  }

  async #fetchNames(): Promise<void> {
    this.#names = 'pending'
    try {
      this.#names = await this.#texts.names()
      this.#lastTrouble = null
    } catch (error) {
      this.#names = 'failed'
      this.#reportTrouble(error)
    }
    this.#announceArrival()
  }

  /** Reports a failure. Many modules may fail for one reason, which is reported once. */
  #reportTrouble(error: unknown): void {
    const hint = error instanceof Error && 'hint' in error && typeof error.hint === 'string' ? ` (${error.hint})` : ''
    const message = describeError(error) + hint
    if (message !== this.#lastTrouble) this.#options.onTrouble(message)
    this.#lastTrouble = message
  }

  #announceArrival(): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#options.onArrival()
    for (const each of waiting) each()
  }
}
