/** Submits a solution to the gateway, and retries while there is no answer. */
import { backoffMs } from '#ground/base/backoff.ts'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import type { SolutionEnd } from '../wire.ts'
import { GatewayRefusal, mayPass, postSolution } from './gateway.ts'

const MAX_ATTEMPTS = 6
const FIRST_PAUSE_MS = 300
const MAX_PAUSE_MS = 10_000

export interface HandInOptions {
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of retries. */
  readonly random: () => number
}

/**
 * Submits a solution. A retry after a lost answer is safe, because the gateway recognises the solution. Never throws.
 */
export async function handInSolution(
  bytes: Uint8Array<ArrayBuffer>,
  { chain, height }: { readonly chain: number; readonly height: number },
  { clock, random }: HandInOptions,
): Promise<SolutionEnd> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await postSolution(bytes)
    } catch (error) {
      if (!mayPass(error) || attempt === MAX_ATTEMPTS) {
        const verdict = error instanceof GatewayRefusal && !mayPass(error) ? 'rejected' : 'lost'
        const message = error instanceof Error ? error.message : String(error)
        return { verdict, chain, height, hash: encodeBase64Url(blockHash(bytes)), message }
      }
      await sleep(clock, backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS }, attempt, random))
    }
  }
}
