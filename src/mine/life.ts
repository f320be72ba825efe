/**
 * The life of a solution: handed in -> acknowledged -> confirmed at depth N | credited | stale | orphaned | unconfirmed; or
 * stale, rejected(reason) or lost(reason) when it is handed in. Handing in and following are separate steps, so that a
 * journal of solutions can stand between them.
 */
import type { LifeStep, Receipt, Solution, Source } from '../source/source.ts'

/** What became of a solution. */
export type Verdict = 'accepted' | 'unconfirmed' | 'stale' | 'orphaned' | 'rejected' | 'lost'

export const verdicts: readonly Verdict[] = ['accepted', 'unconfirmed', 'stale', 'orphaned', 'rejected', 'lost']

/** A solution of an earlier run whose life has not come to its end. */
export interface Unfinished {
  /** Solved work. */
  readonly bytes: Uint8Array
  readonly issuer: string
  readonly device: string
  readonly effort: number
  /** Unix time in milliseconds. */
  readonly foundAtMs: number
  /** Whether its issuer took it. */
  readonly isAcknowledged: boolean
  /** What it counted as in the earlier run; null: nothing yet. */
  readonly verdict: Verdict | null
}

/** All steps, in the order of a life: how far a block of ours has come. */
export const blockStates = [
  'found',
  'handed-in',
  'acknowledged',
  'credited',
  'confirmed',
  'unconfirmed',
  'stale',
  'orphaned',
  'rejected',
  'lost',
] as const
export type BlockState = (typeof blockStates)[number]

/** What becomes of a solution that was handed in, to its end: the receipt, and what follows. Never throws. */
export async function* lifeAfter(
  handedIn: Promise<Receipt>,
  source: Source,
  solution: Solution,
  signal: AbortSignal,
): AsyncGenerator<LifeStep, void, void> {
  const receipt = await handedIn
  yield receipt
  if (receipt.step === 'acknowledged') yield* source.follow(solution, signal)
  else yield* afterAll(receipt, source, solution, signal)
}

/**
 * What comes after a verdict that was given without an answer of whom it was handed in to: that its block is in the chain
 * all the same, and all that follows from there; or the same verdict once more, for good.
 */
async function* afterAll(
  receipt: Receipt,
  source: Source,
  solution: Solution,
  signal: AbortSignal,
): AsyncGenerator<LifeStep, void, void> {
  if (!('mayReturn' in receipt) || !receipt.mayReturn) return
  const { mayReturn, ...settled } = receipt
  let wasThere = false
  for await (const step of source.follow(solution, signal)) {
    wasThere ||= step.step === 'confirmed' || step.step === 'orphaned'
    if (wasThere) yield step
    else if (step.step === 'stale' && !step.mayReturn) yield settled
  }
}

/** What a solution counts as after this step; null: nothing yet. */
export function verdictOf({ step }: { readonly step: LifeStep['step'] | 'found' }): Verdict | null {
  switch (step) {
    case 'found':
    case 'handed-in':
    case 'acknowledged':
      return null
    case 'credited':
    case 'confirmed':
      return 'accepted'
    default:
      return step
  }
}
