/** Interprets a pool's answer to a share. */

import type { Receipt, RejectReason } from '#ground/chain/solution.ts'
import { failures, type Response } from '../../stratum/messages.ts'

/** Words of pools, for error codes without a meaning of their own. */
const WORDS: readonly (readonly [RegExp, RejectReason | 'stale'])[] = [
  [/stale|expired|not found|(?:unknown|invalid)[- _]?(?:job|work(?!er))|job is over/i, 'stale'],
  [/duplicate|before|already/i, 'duplicate'],
  [/\blow|difficulty|target/i, 'low-difficulty'],
  [/authori[sz]|subscribe/i, 'unauthorized'],
]
const NUMBERS: ReadonlyMap<number, RejectReason | 'stale'> = new Map<number, RejectReason | 'stale'>([
  [failures.stale.code, 'stale'],
  [failures.duplicate.code, 'duplicate'],
  [failures.low.code, 'low-difficulty'],
  [failures.unauthorized.code, 'unauthorized'],
  [failures.unsubscribed.code, 'unauthorized'],
])

export function receiptOf({ result, error }: Response): Receipt {
  if (error === null) {
    // The official server answers a share for an ended job with the result false and nothing else.
    return result === false ? { step: 'stale' } : { step: 'acknowledged' }
  }
  const { code, message } = error
  const reason = NUMBERS.get(code) ?? WORDS.find(([words]) => words.test(message))?.[1] ?? 'unknown'
  return reason === 'stale' ? { step: 'stale' } : { step: 'rejected', reason, message: `${message} (${code})` }
}
