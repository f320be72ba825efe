/** Work of a node, as the miner gets it. */
import { FREE_NONCE } from '../../core/nonce.ts'
import type { Job } from '../source.ts'
import type { Effect } from './state.ts'

type Delivery = Pick<Extract<Effect, { readonly type: 'deliver' }>, 'job' | 'need'>

export function jobOf({ job: { id, work }, need }: Delivery, issuer: string): Job {
  const fixed = { issuer, fixedNonce: FREE_NONCE, manySolutions: false }
  return { id: String(id), work, target: work.fields.target, ...need, ...fixed }
}
