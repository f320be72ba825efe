/** Automatic mining without proof of work: makes blocks when commands arrive. */
import type { Clock } from '#ground/base/clock.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import type { BlockMaker } from './block-maker.ts'
import { ControlError } from './control-error.ts'

interface ArrivalMinerOptions {
  /** Blocks on every chain after those with commands. */
  readonly confirmations: number
  readonly maker: BlockMaker
  readonly clock: Clock
  /** Gets the reason why a command waits. */
  readonly onNotice: (message: string) => void
}

/** Commands that arrive within this time after the first share a block, so that a burst of them makes few blocks. */
const ARRIVAL_BATCH_MS = 2

/**
 * Makes a block on each chain that gets a command. Chains that hold it up grow too. Once no command waits, every chain
 * gets the confirmations.
 */
export class ArrivalMiner {
  readonly #options: ArrivalMinerOptions
  readonly #stopped = new AbortController()
  readonly #unsubscribe: () => void
  /** Chains with commands that no block was made for. */
  readonly #waiting = new Set<number>()
  /** Cancels the timer of the next run; null if none is due. */
  #cancel: (() => void) | null = null
  #running = false

  /** Starts at once, with the commands that are pending already. */
  constructor(options: ArrivalMinerOptions) {
    this.#options = options
    const { pools } = options.maker.coordinator
    this.#unsubscribe = pools.listen({ onEntered: (chain) => this.#wake([chain]), onDropped: () => undefined })
    this.#wake([...options.maker.chains.cut.keys()].filter((chain) => pools.poolOf(chain).size > 0))
  }

  stop(): void {
    this.#unsubscribe()
    this.#cancel?.()
    this.#stopped.abort(new ControlError({ kind: 'stopping' }))
  }

  #wake(chains: readonly number[]): void {
    for (const chain of chains) this.#waiting.add(chain)
    if (this.#running || this.#cancel !== null || this.#waiting.size === 0) return
    this.#cancel = this.#options.clock.after(ARRIVAL_BATCH_MS, () => void this.#run())
  }

  async #run(): Promise<void> {
    const { confirmations, maker } = this.#options
    this.#cancel = null
    this.#running = true
    try {
      while (this.#waiting.size > 0) {
        await this.#mineWaiting()
        for (let round = 0; round < confirmations && this.#waiting.size === 0; round++) {
          const all = [...maker.chains.cut.keys()].filter((chain) => !maker.coordinator.paused.has(chain))
          if (!(await this.#make(all))) break
        }
      }
    } catch (error) {
      if (!this.#stopped.signal.aborted) throw error
    } finally {
      this.#running = false
    }
  }

  /** Makes blocks until each waiting chain has no command left that a block takes. */
  async #mineWaiting(): Promise<void> {
    const { pools } = this.#options.maker.coordinator
    while (this.#waiting.size > 0) {
      const chains = [...this.#waiting]
      this.#waiting.clear()
      const before = new Map(chains.map((chain) => [chain, pools.poolOf(chain).size]))
      for (const chain of chains) await this.#make([chain])
      for (const [chain, size] of before) {
        const left = pools.poolOf(chain).size
        if (left > 0 && left < size) this.#waiting.add(chain)
      }
    }
  }

  /** Makes a block on each of these chains. @returns false if a chain may not grow; a notice says which */
  async #make(chains: readonly number[]): Promise<boolean> {
    const { maker, onNotice } = this.#options
    const { signal } = this.#stopped
    try {
      await maker.make(new Map(chains.map((chain) => [chain, 1])), signal, 'auto-mine')
      return true
    } catch (error) {
      if (error instanceof ControlError && error.problem.kind === 'paused-chain-grows') {
        onNotice(`no block on chain ${chains.join(', ')}: chain ${error.problem.chain} is paused`)
        return false
      }
      if (isForkedNodeError(error)) {
        onNotice(`no block on chain ${chains.join(', ')}: ${describeError(error)}`)
        return false
      }
      // A disk that fails stops the node.
      if (error instanceof NewcutError && error.code === 'DATA_UNUSABLE') return false
      throw error
    }
  }
}

/** Whether the forked node gave no answer to what a block reads. The next command tries again. */
function isForkedNodeError(error: unknown): error is NewcutError {
  return error instanceof NewcutError && error.code.startsWith('NODE_')
}
