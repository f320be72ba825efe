/**
 * How the life of a solution goes on (its steps: core/solution.ts). Handing in and following are separate steps, so that a
 * journal of solutions can stand between them.
 */
import type { LifeStep, Receipt, Verdict } from '../core/solution.ts'
import type { Solution, Source } from '../source/source.ts'

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
