/** The update streams of the mined chains. */
import { describeError, type NewcutError } from '#ground/base/errors.ts'
import type { MiningNode } from './mining-node.ts'
import type { Outage } from './outage.ts'

/** Grace period of an outage: streams end and reopen all the time. */
const REOPEN_MS = 10_000

interface NewsStreamsOptions {
  readonly node: Pick<MiningNode, 'followNews'>
  /** Ends all streams. */
  readonly signal: AbortSignal
  /** Receives streams that stay broken. */
  readonly outage: () => Outage
  readonly onNewCut: (chain: number) => void
  /** The stream of the chain is open. */
  readonly onOpen: (chain: number) => void
  /** A stream has ended, and reopens. */
  readonly onBroken: () => void
}

export class NewsStreams {
  readonly #options: NewsStreamsOptions
  /** Chain -> whether its stream is open. */
  readonly #streams = new Map<number, boolean>()

  constructor(options: NewsStreamsOptions) {
    this.#options = options
  }

  isOpen(chain: number): boolean {
    return this.#streams.get(chain) === true
  }

  /** Opens the stream of a chain, once. */
  follow(chain: number): void {
    if (this.#streams.has(chain)) return
    this.#streams.set(chain, false)
    const { node, signal, outage, onNewCut, onOpen, onBroken } = this.#options
    const name = `stream of chain ${chain}`
    node.followNews(chain, {
      signal,
      onNewCut: () => onNewCut(chain),
      onOpen: () => {
        this.#streams.set(chain, true)
        outage().reportSuccess(name)
        onOpen(chain)
      },
      onBroken: (error: NewcutError) => {
        this.#streams.set(chain, false)
        onBroken()
        outage().reportFailure(name, `no news: update ${name}: ${describeError(error)}`, REOPEN_MS)
      },
    })
  }

  /** Marks all streams as closed. */
  clear(): void {
    this.#streams.clear()
  }
}
