/** Waiting for what a command results in, and for its proof: asks again and again, at times that are drawn by chance. */
import { type Clock, sleep } from '../core/clock.ts'
import { NewcutError } from '../core/errors.ts'
import { formatDuration } from '../core/units.ts'
import type { CommandResult } from '../schema/command-bodies.ts'
import { isRetryable, NodeMisbehaved, NodeRefusal } from './errors.ts'
import type { CallOptions } from './requests.ts'

/** How a command stands. `trouble`: the node did not answer as a node does; it is asked again after `retryInMs`. */
export type WaitProgress =
  /** In no block of the chain; `wasIncluded`: it was in one, which another branch has replaced. */
  | { readonly type: 'pending'; readonly wasIncluded: boolean }
  /** In the block of this height, on which `depth` of the wanted `of` blocks stand. */
  | { readonly type: 'included'; readonly height: number; readonly depth: number; readonly of: number }
  | { readonly type: 'trouble'; readonly error: NewcutError; readonly retryInMs: number }

/** How long, how often and how deep. */
export interface WaitOptions {
  /** How many blocks have to stand on that of the command. Default 0. */
  readonly depth?: number
  /** Longest wait for the command to get into a block, and then for each block on top of it; default 5 minutes. */
  readonly limitMs?: number
  /** Mean time between two questions; default 1 second. */
  readonly pollMs?: number
  /** When it aborts, the wait ends with its reason. */
  readonly signal?: AbortSignal
  /** Hears of every change, and of none twice in a row. */
  readonly onProgress?: (progress: WaitProgress) => void
}

/** What a wait asks. */
export interface WaitNode {
  poll(
    chain: number,
    requestKeys: readonly string[],
    options: CallOptions & { readonly confirmationDepth?: number },
  ): Promise<ReadonlyMap<string, CommandResult>>
  cut(
    options: CallOptions,
  ): Promise<{ readonly hashes: Readonly<Record<string, { readonly height: number | bigint }>> }>
  spv(chain: number, requestKey: string, targetChain: number, options: CallOptions): Promise<string>
}

/** Time and chance. */
export interface WaitMachine {
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
}

const DEFAULT_LIMIT_MS = 300_000
const DEFAULT_POLL_MS = 1_000
/** Longest pause while the node is away. */
const MAX_PAUSE_MS = 15_000
/** What a node says while the proof has not come to the target chain yet (PROTOCOL.md E.1). */
const TOO_YOUNG = /target chain not reachable|too young/i

/** A command on its chain. */
export interface CommandPlace {
  readonly chain: number
  readonly requestKey: string
}

/**
 * The result of a command once so many blocks stand on that of it. Throws NewcutError NO_RESULT after the limit,
 * NodeRefusal for what the node itself refuses, NodeMisbehaved, and the reason of the signal.
 */
export function waitForResult(
  node: WaitNode,
  { chain, requestKey }: CommandPlace,
  options: WaitOptions,
  machine: WaitMachine,
): Promise<CommandResult> {
  const { depth: of = 0 } = options
  let wasIncluded = false
  const what = `no result of ${requestKey} on chain ${chain}`
  return asked(what, options, machine, async (call, tell) => {
    const result = (await node.poll(chain, [requestKey], call)).get(requestKey)
    if (result === undefined) {
      tell({ type: 'pending', wasIncluded })
      return null
    }
    const height = heightOf(result)
    // A result without a block: the node has dropped the command for good.
    if (height === null || of === 0) {
      if (height !== null) tell({ type: 'included', height, depth: 0, of })
      return result
    }
    wasIncluded = true
    const head = Number((await node.cut(call)).hashes[chain]?.height ?? height)
    tell({ type: 'included', height, depth: Math.min(of, Math.max(0, head - height)), of })
    if (head - height < of) return null
    // The branch may have changed between the two answers.
    return (await node.poll(chain, [requestKey], { ...call, confirmationDepth: of })).get(requestKey) ?? null
  })
}

/** The proof of a command's result for another chain, once it can be made. Throws as waitForResult does. */
export function waitForProof(
  node: WaitNode,
  { chain, requestKey, targetChain }: CommandPlace & { readonly targetChain: number },
  options: WaitOptions,
  machine: WaitMachine,
): Promise<string> {
  const what = `no proof of ${requestKey} on chain ${chain} for chain ${targetChain}`
  return asked(what, options, machine, async (call) => {
    try {
      return await node.spv(chain, requestKey, targetChain, call)
    } catch (error) {
      if (error instanceof NodeRefusal && error.isNodesOwn && TOO_YOUNG.test(error.excerpt)) return null
      throw error
    }
  })
}

type Tell = (progress: WaitProgress) => void

/** Asks until there is an answer. Whatever brings the answer nearer starts the limit anew. */
async function asked<T>(
  what: string,
  { limitMs = DEFAULT_LIMIT_MS, pollMs = DEFAULT_POLL_MS, signal, onProgress = () => undefined }: WaitOptions,
  { clock, random }: WaitMachine,
  ask: (call: CallOptions, tell: Tell) => Promise<T | null>,
): Promise<T> {
  let endMs = clock.monotonicMs() + limitMs
  let last = ''
  const tell = (progress: WaitProgress) => {
    const key = progress.type === 'trouble' ? progress.error.message : JSON.stringify(progress)
    if (key === last) return
    last = key
    if (progress.type === 'included') endMs = clock.monotonicMs() + limitMs
    onProgress(progress)
  }
  for (let failures = 0; ; ) {
    let pauseMs = pollMs * (0.5 + random())
    try {
      const answer = await ask(signal ? { signal } : {}, tell)
      if (answer !== null) return answer
      failures = 0
    } catch (error) {
      signal?.throwIfAborted()
      if (!isOutage(error)) throw error
      pauseMs = Math.min(MAX_PAUSE_MS, pollMs * 2 ** failures++) * (0.5 + random())
      tell({ type: 'trouble', error, retryInMs: Math.round(pauseMs) })
    }
    const leftMs = endMs - clock.monotonicMs()
    if (leftMs <= 0) throw new NewcutError('NO_RESULT', `${what} after ${formatDuration(limitMs)}`)
    await sleep(clock, Math.min(pauseMs, leftMs), signal)
    signal?.throwIfAborted()
  }
}

/** Whether an error may come from an outage: no answer, or that of something that stands before the node. */
export function isOutage(error: unknown): error is NewcutError {
  if (isRetryable(error)) return true
  if (error instanceof NodeRefusal) return !error.isNodesOwn
  return error instanceof NodeMisbehaved && !error.isFromNode
}

function heightOf({ metaData }: CommandResult): number | null {
  return metaData === null || metaData === undefined ? null : Number(metaData.blockHeight)
}
