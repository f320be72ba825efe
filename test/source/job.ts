import { FREE_NONCE } from '../../src/core/nonce.ts'
import type { Work } from '../../src/core/work.ts'
import type { Job } from '../../src/source/source.ts'

let jobs = 0

/** A job for this work, as a node would give it. */
export function jobOf(work: Work, parts: Partial<Job> = {}): Job {
  const { target } = work.fields
  const fixed = { issuer: 'test', fixedNonce: FREE_NONCE, manySolutions: false }
  return { id: `test ${++jobs}`, work, target, reason: 'newCut', noticedAtMs: 0, ...fixed, ...parts }
}
