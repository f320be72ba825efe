/** One step of the state machine in state.ts: the state as far as it has come, and the effects in order. */
import type { Work } from '../../core/work.ts'
import type { JobReason } from '../source.ts'
import { type Effect, type Need, type State, searchedChain, spareOf } from './state.ts'

export class Transition {
  state: State
  readonly effects: Effect[] = []
  /** The time of the event. */
  readonly atMs: number

  constructor(state: State, atMs: number) {
    this.state = state
    this.atMs = atMs
  }

  /** The chain of the job that is searched; null when none is. */
  get searched(): number | null {
    return searchedChain(this.state)
  }

  /** The work that stands by, even while newer is asked for. */
  get spare(): Work | null {
    return spareOf(this.state)
  }

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change }
  }

  need(reason: JobReason): Need {
    return { reason, noticedAtMs: this.atMs }
  }

  /** Takes the number of the next request. */
  takeRequest(): number {
    const request = this.state.nextRequest
    this.set({ nextRequest: request + 1 })
    return request
  }

  hasOtherChain(chain: number): boolean {
    return this.state.chains.some((other) => other !== chain)
  }
}
