/** The type of a lie: how the node lies, and how the miner must react. */
import type { Endpoint, Responder } from './proxy.ts'
import { at } from './responders.ts'

/**
 * The required behaviour while the lie holds:
 * - `keepsMining`: the chains keep getting blocks from the miner.
 * - `waits`: the miner reports the outage once, and its /healthz answers 503.
 * - `recovers`: anything goes. The proxy drops the update streams at the end of the lie, so the miner reopens them.
 * In all three cases every chain gets blocks again once the node is honest.
 */
export type Property = 'keepsMining' | 'waits' | 'recovers'

export interface Lie {
  /** A clause, such as `work is answered with 404`. */
  readonly title: string
  /** The endpoints that lie. A lie only counts if the miner requests one of them. */
  readonly at: readonly Endpoint[] | 'all'
  readonly property: Property
  /** Creates the responder, which may keep state. */
  readonly createResponder: () => Responder
}

/** Lies at these endpoints only. @param responders by title */
export function liesAt(
  where: Lie['at'],
  property: Property,
  responders: Readonly<Record<string, () => Responder>>,
): Lie[] {
  const boundTo = (make: () => Responder) => (where === 'all' ? make : () => at(where, make()))
  return Object.entries(responders).map(([title, make]) => ({
    title,
    at: where,
    property,
    createResponder: boundTo(make),
  }))
}

/** The same responders with a prefix before their titles. */
export function prefixTitles(
  before: string,
  responders: Readonly<Record<string, () => Responder>>,
): Record<string, () => Responder> {
  return Object.fromEntries(Object.entries(responders).map(([title, respond]) => [`${before} ${title}`, respond]))
}

/**
 * The required behaviour when the lie holds from the start:
 * - `ends`: the miner exits with code 20 or 21 and prints one line with this error code and text.
 * - `waits`: the miner retries, says so, and mines once the node is honest.
 * - `endsOrGoesOn`: either of these, or it mines despite the lie. If it did not exit, it mines once the node is honest.
 */
export type StartProperty =
  | { readonly kind: 'ends'; readonly code: string; readonly text: RegExp }
  | { readonly kind: 'waits' }
  | { readonly kind: 'endsOrGoesOn' }

export interface StartLie {
  readonly title: string
  readonly property: StartProperty
  /** null if nothing listens at the address. */
  readonly createResponder: (() => Responder) | null
  /** Additional command-line arguments of the miner. */
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
