/** The second half of a transfer between chains: the proof of the first, and the continuation with it. */
import { NewcutError } from '../core/errors.ts'
import type { CommandResult } from '../schema/command-bodies.ts'
import { GAS } from './capability.ts'
import { CommandFailed } from './failure.ts'
import type { SigningKey } from './keys.ts'
import type { Order, Teller } from './teller.ts'

/** A step that has something for another chain. */
export interface Crossing {
  readonly chain: number
  readonly requestKey: string
  readonly targetChain: number
  readonly pactId: string
  /** The step that comes next. */
  readonly step: number
}

const ALREADY_COMPLETE = /already completed/i
const GRACE_MS = 60_000

/** What the result of a command on this chain hands to another. Throws NewcutError BAD_OPTION if it hands on nothing. */
export function crossingOf(result: CommandResult, chain: number): Crossing {
  const { continuation, reqKey: requestKey } = result
  const targetChain = targetOf(continuation?.yield)
  if (!continuation || targetChain === null) {
    throw new NewcutError(
      'BAD_OPTION',
      `${requestKey} on chain ${chain} is no first step of a transfer between chains`,
      {
        hint: 'give the request key of the step that took the coins from the sender',
      },
    )
  }
  return { chain, requestKey, targetChain, pactId: continuation.pactId, step: continuation.step + 1 }
}

function targetOf(yielded: unknown): number | null {
  const { provenance } = (yielded ?? {}) as { readonly provenance?: { readonly targetChainId?: unknown } | null }
  const target = provenance?.targetChainId
  return typeof target === 'string' && /^\d{1,9}$/.test(target) ? Number(target) : null
}

/**
 * Waits for the proof, and continues on the target chain, where `gasPayer` pays. Null: somebody has done it already.
 * Throws as Teller does.
 */
export async function completeCrossing(
  teller: Teller,
  crossing: Crossing,
  { gasPayer, keys }: { readonly gasPayer: string; readonly keys: readonly SigningKey[] },
): Promise<CommandResult | null> {
  const { chain, requestKey, targetChain, pactId, step } = crossing
  const { signal, onStep, terms } = teller.options
  onStep({ type: 'proof', chain, targetChain })
  const proof = await teller.node.waitForProof(chain, requestKey, targetChain, {
    signal,
    limitMs: terms.ttlMs + GRACE_MS,
    onProgress: (progress) => onStep({ ...progress, chain }),
  })
  const payload = { pactId, step, rollback: false, proof, data: '{}' }
  const order: Order = { chain: targetChain, payload, sender: gasPayer, keys, capabilities: [GAS] }
  try {
    return await teller.carryOut(order)
  } catch (error) {
    if (error instanceof CommandFailed && ALREADY_COMPLETE.test(error.error.message)) return null
    throw error
  }
}
