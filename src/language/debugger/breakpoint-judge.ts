/** Decides whether breakpoints on lines stop the program: their conditions, their numbers of hits, and what they print. */
import { MissingEntry } from '../contracts/machine/state.ts'
import { shortText } from '../contracts/trace/short-text.ts'
import type { FrameView } from './frame-view.ts'
import { isHit, type LineBreakpoint, missingText } from './messages.ts'

interface PlaceOfProgram {
  readonly source: string
  /** Number of the beginning of the expression. */
  readonly tick: number
  readonly view: FrameView
  /** Takes lines to print; null while the program only searches. */
  readonly tell: ((line: string) => void) | null
}

export class BreakpointJudge {
  /** Breakpoint -> ascending numbers of the expressions at which its condition held. A program that repeats has the same. */
  readonly #hits = new Map<string, number[]>()
  /** Entries that nobody can supply. */
  readonly #refused = new Set<string>()

  /** Notes that an entry cannot be had, so that conditions do without it. @returns false for any other error */
  refuse(error: unknown): boolean {
    if (!(error instanceof MissingEntry) || error !== this.#lack) return false
    this.#refused.add(missingText(error))
    return true
  }

  /** The entry that a condition missed last. */
  #lack: MissingEntry | null = null

  /**
   * Whether a breakpoint stops here. A condition without a truth value stops, and says why.
   * @throws MissingEntry if the state misses what an expression reads
   */
  isMet({ line, condition, hits, log }: LineBreakpoint, { source, tick, view, tell }: PlaceOfProgram): boolean {
    if (condition !== null) {
      const outcome = this.#evaluate(view, condition)
      const value = 'value' in outcome ? outcome.value : null
      if (value === false) return false
      if (value !== true) {
        const why = 'fault' in outcome ? outcome.fault : 'it is neither true nor false'
        tell?.(`condition ${condition}: ${why}`)
      }
    }
    if (hits !== null && !isHit(hits, this.#numberOf(`${source} ${line} ${condition}`, tick))) return false
    if (log === null) return true
    tell?.(
      log.replace(/\{([^{}]+)\}/g, (_, text: string) => {
        const value = this.#evaluate(view, text)
        return 'value' in value ? shortText(value.value) : `{${text}: ${value.fault}}`
      }),
    )
    return false
  }

  #evaluate(view: FrameView, text: string): ReturnType<FrameView['evaluate']> {
    try {
      return view.evaluate(0, text)
    } catch (error) {
      if (!(error instanceof MissingEntry)) throw error
      const fault = missingText(error)
      if (this.#refused.has(fault)) return { fault }
      this.#lack = error
      throw error
    }
  }

  /** Which hit of a breakpoint this is, from 1. */
  #numberOf(breakpoint: string, tick: number): number {
    const ticks = this.#hits.get(breakpoint) ?? []
    this.#hits.set(breakpoint, ticks)
    let at = ticks.length
    while (at > 0 && ticks[at - 1] >= tick) at--
    if (ticks[at] !== tick) ticks.splice(at, 0, tick)
    return at + 1
  }
}
