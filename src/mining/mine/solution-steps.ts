/**
 * Steps of a solution after its submission (steps: chain/solution.ts). Submitting and following are separate, so
 * that a journal can stand between them.
 */
import type { LifeStep, Receipt, Verdict } from '#ground/chain/solution.ts'
import type { Solution, Source } from '../source/source.ts'

/** A solution of an earlier run without a final verdict. */
export interface UnfinishedSolution {
  /** Solved work. */
  readonly bytes: Uint8Array
  readonly issuer: string
  readonly device: string
  readonly effort: number
  /** Unix time in milliseconds. */
  readonly foundAtMs: number
  /** Whether its issuer acknowledged it. */
  readonly isAcknowledged: boolean
  /** Its verdict in the earlier run, or null if it had none. */
  readonly verdict: Verdict | null
}

/** All steps of a solution after its submission: the receipt, then those of following it. Never throws. */
export async function* stepsAfterSubmission(
  submitted: Promise<Receipt>,
  source: Source,
  solution: Solution,
  signal: AbortSignal,
): AsyncGenerator<LifeStep, void, void> {
  const receipt = await submitted
  yield receipt
  if (receipt.step === 'acknowledged') yield* source.follow(solution, signal)
  else yield* followInferredVerdict(receipt, source, solution, signal)
}

/**
 * Follow-up of a verdict that was inferred because the issuer never answered. Yields the corrected steps if the block
 * is in the chain. Otherwise repeats the verdict as final.
 */
async function* followInferredVerdict(
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
