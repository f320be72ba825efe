/** Events of a development network for tests of its console. */
import type { BlockNotice, TransactionNotice } from '../../src/faces/cli/notices.ts'
import type {
  DroppedTransaction,
  IncludedTransaction,
  PendingTransaction,
  RefusedTransaction,
  UndoneTransaction,
} from '../../src/ground/schema/devnet-events.ts'

export const KEY = 'tDFY8bHNx4dLSHZs4oYxPQ7bCqu0pGKZkZrZ5ZfZxZY'

const about = {
  type: 'transaction',
  requestKey: KEY,
  sender: 'sender00',
  action: { kind: 'code', code: '(+ 1 2)' },
} as const
const place = { chain: 0, height: 12, block: 'b', index: 0, count: 1 }

type Made<Event> = Event & { readonly type: 'transaction' }

export const transferAction = {
  kind: 'transfer',
  sender: 'sender00',
  receiver: 'sender01',
  amount: '10.5',
  token: 'coin',
  toChain: null,
} as const

export function pending(change: Partial<PendingTransaction> = {}): Made<PendingTransaction> {
  return { ...about, step: 'pending', chain: 0, ...change }
}

export function included(change: Partial<IncludedTransaction> = {}): Made<IncludedTransaction> {
  const outcome = { status: 'success', gas: 480, result: '3', place: null, events: ['coin.TRANSFER'] } as const
  return { ...about, step: 'included', ...place, ...outcome, isAgain: false, ...change }
}

export function failed(change: Partial<IncludedTransaction> = {}): Made<IncludedTransaction> {
  return included({ status: 'failure', gas: 600, result: 'no way', ...change })
}

export function undone(change: Partial<UndoneTransaction> = {}): Made<UndoneTransaction> {
  return { ...about, step: 'undone', ...place, by: 'reorganisation', wentTo: 'pool', reason: null, ...change }
}

export function dropped(change: Partial<DroppedTransaction> = {}): Made<DroppedTransaction> {
  return { ...about, step: 'dropped', chain: 0, reason: 'Transaction time-to-live is expired', ...change }
}

export function refused(change: Partial<RefusedTransaction> = {}): Made<RefusedTransaction> {
  return { ...about, step: 'refused', chain: 0, index: 0, count: 1, httpStatus: 400, reason: 'Invalid hash', ...change }
}

export const skipped = (steps: number): TransactionNotice => ({ type: 'transaction', step: 'skipped', steps })

/** All events of a block or a request with `count` transactions. */
export function each<Event>(count: number, make: (placed: { index: number; count: number }) => Event): Event[] {
  return Array.from({ length: count }, (_, index) => make({ index, count }))
}

export function block(change: Partial<BlockNotice> = {}): BlockNotice {
  return { type: 'block', chain: 3, height: 7, difficulty: 100_000, by: 'auto-mine', transactions: 0, ...change }
}
