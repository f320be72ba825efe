/** A lie, and what the miner does about it. */
import type { Endpoint, Tell } from './proxy.ts'
import { at } from './tell.ts'

/**
 * While the lie holds:
 *   `keepsMining` blocks go on being added;
 *   `waits`       it says so, once, and its /healthz answers 503;
 *   `recovers`    whatever it can; the node restarts before it is honest, so that update streams are opened anew.
 * When the node is honest again, every chain gets blocks from the miner, in all three cases.
 */
export type Property = 'keepsMining' | 'waits' | 'recovers'

export interface Lie {
  /** As a clause: `work is answered with 404`. */
  readonly title: string
  /** Where it is told. It only counts if the miner asks there. */
  readonly at: readonly Endpoint[] | 'all'
  readonly property: Property
  /** Makes the teller, which may remember what it told. */
  readonly tell: () => Tell
}

/** Title -> how to lie, told at these endpoints alone. */
export function lies(where: Lie['at'], property: Property, tells: Readonly<Record<string, () => Tell>>): Lie[] {
  const bounded = (make: () => Tell) => (where === 'all' ? make : () => at(where, make()))
  return Object.entries(tells).map(([title, make]) => ({ title, at: where, property, tell: bounded(make) }))
}

/** The same lies with something in front of their titles. */
export function titled(before: string, tells: Readonly<Record<string, () => Tell>>): Record<string, () => Tell> {
  return Object.fromEntries(Object.entries(tells).map(([title, tell]) => [`${before} ${title}`, tell]))
}

/**
 * At the start:
 *   `ends`        the miner ends with exit code 20 or 21, and one line that has this code and text;
 *   `waits`       it asks again, says so, and mines when the node is honest;
 *   `endsOrGoesOn` it ends like that, or waits, or mines, and mines when the node is honest.
 */
export type StartProperty =
  | { readonly kind: 'ends'; readonly code: string; readonly text: RegExp }
  | { readonly kind: 'waits' }
  | { readonly kind: 'endsOrGoesOn' }

export interface StartLie {
  readonly title: string
  readonly property: StartProperty
  /** null: nothing listens there. */
  readonly tell: (() => Tell) | null
  /** Further arguments of the miner. */
  readonly args?: readonly string[]
}

export const startSentence: Readonly<Record<StartProperty['kind'], string>> = {
  ends: 'the miner ends with one line',
  waits: 'the miner waits, and mines when the node is honest',
  endsOrGoesOn: 'the miner ends with one line, or waits, or mines',
}

export const sentence: Readonly<Record<Property, string>> = {
  keepsMining: 'the miner keeps mining',
  waits: 'the miner waits, and mines on when the node is honest',
  recovers: 'the miner mines on when the node is honest',
}
