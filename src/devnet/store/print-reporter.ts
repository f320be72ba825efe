/** Reports the texts that code prints, and notes the blocks that need `print` to execute. */
import { printable } from '#ground/base/printable.ts'
import type { PrintEvent } from '#ground/schema/devnet-events.ts'
import type { PrintView } from '#ground/schema/view.ts'
import type { CommandPrintOutput, PrintOutput } from '#language/contracts/trace/print-log.ts'
import type { Block } from './block-store.ts'
import type { Exemptions } from './exemptions.ts'

/** A call that is in no block. */
export interface PrintingCall {
  readonly by: 'local' | 'preflight'
  readonly chain: number
  readonly requestKey: string
}

interface PrintReporterOptions {
  /** Whether code may call `print`. */
  readonly isAllowed: boolean
  readonly onPrint?: ((event: PrintEvent) => void) | undefined
  /** Called with a warning when a module that names `print` is in a block for the first time. */
  readonly onNotice: (message: string) => void
}

/** Printed texts that a page shows. */
const MAX_RECENT = 200
const MAX_RECENT_CHARACTERS = 512

export class PrintReporter {
  readonly #recent: PrintView[] = []
  readonly #options: PrintReporterOptions
  readonly #warned = new Set<string>()
  #exemptions: Exemptions | null = null

  constructor(options: PrintReporterOptions) {
    this.#options = options
  }

  get isAllowed(): boolean {
    return this.#options.isAllowed
  }

  /** Exempts blocks that print there from now on. */
  noteIn(exemptions: Exemptions): this {
    this.#exemptions = exemptions
    return this
  }

  /** Reports what the commands of a new block printed. */
  reportBlock(block: Block, printed: readonly CommandPrintOutput[]): void {
    if (printed.length === 0) return
    this.#exemptions?.exemptBlock(block.id)
    for (const { requestKey, ...each } of printed) {
      for (const module of each.modules) this.#warn(module)
      this.#report({ by: 'block', chain: block.chain, height: Number(block.height), requestKey }, each)
    }
  }

  /** Reports what a call printed. */
  reportCall(call: PrintingCall, printed: PrintOutput): void {
    this.#report({ ...call, height: null }, printed)
  }

  /** Number of the last text; the first one is number 1. */
  get newest(): number {
    return this.#recent.at(-1)?.id ?? 0
  }

  /** The last texts with higher numbers, oldest first. */
  since(id: number): readonly PrintView[] {
    return this.#recent.filter((each) => each.id > id)
  }

  #report(by: Pick<PrintEvent, 'by' | 'chain' | 'height' | 'requestKey'>, { lines }: PrintOutput): void {
    for (const line of lines) {
      const event = { ...by, ...line }
      this.#recent.push({ id: this.newest + 1, ...event, text: printable(line.text, MAX_RECENT_CHARACTERS) })
      if (this.#recent.length > MAX_RECENT) this.#recent.shift()
      this.#options.onPrint?.(event)
    }
  }

  #warn(module: string): void {
    if (this.#warned.has(module)) return
    this.#warned.add(module)
    this.#options.onNotice(
      `${module} calls print: live networks refuse to load it. Take print out before you deploy it`,
    )
  }
}
