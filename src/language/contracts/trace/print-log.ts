/** Gathers the texts that the code of one command prints, within limits. */
import type { PrintSink } from '../machine/environment.ts'
import type { Term } from '../machine/term.ts'
import { shortText, truncate } from './short-text.ts'

/** Maximum bytes in UTF-8 that a command prints, since `print` costs no gas. */
export const MAX_PRINT_BYTES = 65_536
/** Maximum characters of one printed text. */
const MAX_PRINT_CHARACTERS = 4096
/** Bytes that each text takes besides its own: it has a place too. */
const LINE_BYTES = 64

export interface PrintedLine {
  readonly text: string
  /** Module whose code prints; null for code at the top level. */
  readonly module: string | null
  /** Line of the call in the text of the command, or of the one that deployed the module; it counts from 1. */
  readonly line: number
}

/** The printed texts of a command. */
export interface PrintOutput {
  readonly lines: readonly PrintedLine[]
  /** Modules that it loaded and whose code names `print`. */
  readonly modules: readonly string[]
}

/** The printed texts of a command in a block. */
export interface CommandPrintOutput extends PrintOutput {
  readonly requestKey: string
}

export class PrintLog implements PrintSink {
  readonly #lines: PrintedLine[] = []
  readonly #modules = new Set<string>()
  #bytesLeft = MAX_PRINT_BYTES
  #isUsed = false

  /** Strings have no quotes, as with `format`. */
  put(term: Term, module: string | null, line: number): void {
    this.#isUsed = true
    if (this.#bytesLeft <= 0) return
    const text = typeof term === 'string' ? truncate(term, MAX_PRINT_CHARACTERS) : shortText(term, MAX_PRINT_CHARACTERS)
    this.#bytesLeft -= Buffer.byteLength(text) + LINE_BYTES
    const shown =
      this.#bytesLeft > 0 ? text : `(the rest is not shown: a command prints at most ${MAX_PRINT_BYTES} bytes)`
    this.#lines.push({ text: shown, module, line })
  }

  noteUse(module: string | null): void {
    this.#isUsed = true
    if (module !== null) this.#modules.add(module)
  }

  /** Null if no code of the command names `print` or calls it. */
  get output(): PrintOutput | null {
    return this.#isUsed ? { lines: this.#lines, modules: [...this.#modules] } : null
  }
}
