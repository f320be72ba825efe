/** Second half of a transfer between chains: the proof of the first step, and the continuation with it. */
import { jitteredMs } from '#ground/base/backoff.ts'
import { sleep } from '#ground/base/clock.ts'
import { operatingError } from '#ground/base/errors.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { NodeRefusal } from '../node/errors.ts'
import { GAS } from './capability.ts'
import type { CommandRequest, CommandSender } from './command-sender.ts'
import { walletErrors } from './errors.ts'
import { CommandFailed } from './failure.ts'
import type { SigningKey } from './keys.ts'

/**
 * A first step that hands something to another chain. A transfer between chains
 *
 * 1. takes the coins from the sender: a command with `transfer-crosschain` on the first chain;
 * 2. waits until the target chain has learnt of the block with that step, and the node can prove it there;
 * 3. gives the coins to the receiver: a continuation with the proof on the target chain.
 *
 * Between 1 and 3, no account has the coins. Any account may send 3, repeatedly: the pact completes once. If a reorg
 * removes the block of the first step or that of the proof, 2 and 3 are repeated with another proof.
 */
export interface Crossing {
  readonly chain: number
  readonly requestKey: string
  readonly targetChain: number
  readonly pactId: string
  /** Number of the next step. */
  readonly step: number
}

/** Texts of nodes (PROTOCOL.md E.1). */
const ALREADY_COMPLETE = /already completed/i
const PROOF_ORPHANED = /target header is not in the chain/i
const STEP_ORPHANED = /Transaction hash not found/i
/** A reorg orphans a proof rarely; more rounds mean that the chains do not agree. */
const MAX_ROUNDS = 10
const ROUND_PAUSE_MS = 1000
/** Time for the target chain to learn of the last block that may include the first step. */
const PROOF_GRACE_MS = 60_000

/**
 * @returns the crossing that the result of a command starts
 * @throws NewcutError BAD_OPTION if the command hands nothing to another chain
 */
export function crossingOf(result: CommandResult, chain: number): Crossing {
  const { continuation, reqKey: requestKey } = result
  const targetChain = targetOf(continuation?.yield)
  if (!continuation || targetChain === null) {
    throw operatingError(walletErrors.notFirstStep, { requestKey, chain })
  }
  return { chain, requestKey, targetChain, pactId: continuation.pactId, step: continuation.step + 1 }
}

function targetOf(yielded: unknown): number | null {
  const { provenance } = (yielded ?? {}) as { readonly provenance?: { readonly targetChainId?: unknown } | null }
  const target = provenance?.targetChainId
  return typeof target === 'string' && /^\d{1,9}$/.test(target) ? Number(target) : null
}

/**
 * Waits for the proof, and continues on the target chain, where `gasPayer` pays. If a reorg removes the block of the
 * first step, or that of the proof, another round follows.
 * @returns null if the transfer is complete already
 * @throws like CommandSender.submitAndWait
 */
export async function completeCrossing(
  commandSender: CommandSender,
  crossing: Crossing,
  payment: { readonly gasPayer: string; readonly keys: readonly SigningKey[] },
): Promise<CommandResult | null> {
  for (let round = 1; ; round++) {
    try {
      return await commandSender.submitAndWait({
        ...(await buildContinuation(commandSender, crossing)),
        ...paymentParts(payment),
      })
    } catch (error) {
      if (error instanceof CommandFailed && ALREADY_COMPLETE.test(error.error.message)) return null
      if (round === MAX_ROUNDS || !isOrphaned(error)) throw error
    }
    const { clock, signal } = commandSender.options
    await sleep(clock, jitteredMs(ROUND_PAUSE_MS, Math.random), signal)
    // The first step returns to the chain by itself, or this wait ends.
    await commandSender.waitForResult(crossing.chain, crossing.requestKey)
  }
}

/** The step on the target chain, with a proof of the previous one. */
async function buildContinuation(
  { node, options }: CommandSender,
  { chain, requestKey, targetChain, pactId, step }: Crossing,
): Promise<Pick<CommandRequest, 'chain' | 'payload'>> {
  const { signal, onStep, terms } = options
  onStep({ type: 'proof', chain, targetChain })
  const proof = await node.waitForProof(chain, requestKey, targetChain, {
    signal,
    limitMs: terms.ttlMs + PROOF_GRACE_MS,
    onProgress: (progress) => onStep({ ...progress, chain }),
  })
  return { chain: targetChain, payload: { pactId, step, rollback: false, proof, data: '{}' } }
}

const paymentParts = ({ gasPayer, keys }: { readonly gasPayer: string; readonly keys: readonly SigningKey[] }) => {
  return { sender: gasPayer, keys, capabilities: [GAS] }
}

/** Whether a reorg has removed the first step or the block of the proof. */
function isOrphaned(error: unknown): boolean {
  if (error instanceof CommandFailed) return PROOF_ORPHANED.test(error.error.message)
  return error instanceof NodeRefusal && STEP_ORPHANED.test(error.excerpt)
}
