/** One transition of the state machine in state.ts: its state so far, and its effects in order. */
import type { Work } from '#ground/chain/work.ts'
import type { JobReason } from '../source.ts'
import { type Effect, type State, searchedChain, spareOf, type WorkNeed } from './state.ts'

export class Transition {
  state: State
  readonly effects: Effect[] = []
  /** Monotonic time of the event. */
  readonly atMs: number

  constructor(state: State, atMs: number) {
    this.state = state
    this.atMs = atMs
  }

  /** The chain of the current job, or null without one. */
  get searched(): number | null {
    return searchedChain(this.state)
  }

  /** The standby work, also while it is renewed. */
  get spare(): Work | null {
    return spareOf(this.state)
  }

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change }
  }

  needOf(reason: JobReason): WorkNeed {
    return { reason, noticedAtMs: this.atMs }
  }

  /** Returns the number for a new request. */
  takeRequest(): number {
    const request = this.state.nextRequest
    this.set({ nextRequest: request + 1 })
    return request
  }

  hasOtherChain(chain: number): boolean {
    return this.state.chains.some((other) => other !== chain)
  }
}
