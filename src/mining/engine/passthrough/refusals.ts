/** Reasons to refuse rigs of a pool: a closed set of constant texts, because rigs have a table of few. */
import { type Failure, type MessageId, refusalLine } from '../../stratum/messages.ts'

const refusals = {
  full: { code: 20, message: 'this pool accepts no more rigs' },
  away: { code: 20, message: 'no pool gives work' },
  few: { code: 20, message: 'the pool leaves too few nonces for rigs' },
  digits: { code: 20, message: 'the pool writes nonce1 in digits that rigs cannot read' },
  user: { code: 24, message: 'the pool does not take this user' },
} as const satisfies Readonly<Record<string, Failure>>

export type RefusalName = keyof typeof refusals

/** Minimum size of nonce2 in bytes: with fewer, all boards of a rig search the same nonces. */
const MIN_NONCE2_BYTES = 6
const NONCE_BYTES = 8

/** Why rigs cannot mine with these nonces, or null if they can. Rigs read nonce1 in pairs of digits. */
export function nonceRefusal(nonce1: string, nonce2Bytes: number): RefusalName | null {
  if (nonce2Bytes < MIN_NONCE2_BYTES) return 'few'
  return nonce1.length === 2 * (NONCE_BYTES - nonce2Bytes) ? null : 'digits'
}

/** Answers to the open requests of a refused rig. */
export function refusalLines(ids: readonly MessageId[], why: RefusalName): string {
  return ids.flatMap((id) => (id === null ? [] : [refusalLine(id, refusals[why])])).join('')
}

/** Texts of the same reasons for people. */
export function refusalText(name: RefusalName, most: number): string {
  switch (name) {
    case 'full':
      return `${most} rigs use the pool, and no more are admitted: \`pool-sessions\` sets how many may be`
    case 'away':
      return 'rigs are sent away: no pool gives work'
    case 'few':
      return 'rigs are sent away: the pool keeps three bytes or more of the nonce; CPUs and GPUs can mine for it'
    case 'digits':
      return 'a rig was sent away: the pool left out zeros of its nonce1, which rigs cannot read; it comes again'
    case 'user':
      return 'a rig was sent away: the pool does not take its user'
  }
}
