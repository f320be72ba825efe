/** Asks the forked node for a pact below the pin: its first step, whose command has its id, and the next step. */
import { type ExactJson, exactJsonText, fieldsOf, type JsonFields, parseExactJson } from '#ground/base/json.ts'
import type { ChainCopy } from './chain-copy.ts'
import { refusalError } from './pin.ts'

/** The first step of a pact, in a block at or below the pin. */
export interface FirstStep {
  readonly chain: number
  readonly height: number
  /** Hash of the block, base64url. */
  readonly block: string
  /** Milliseconds since the UNIX epoch. */
  readonly createdMs: number
  readonly stepCount: number
  readonly hasRollback: boolean
  /** Chain to which the step yields; null if it yields to none. */
  readonly target: number | null
  /** Name of the pact, with its module. */
  readonly name: string
  readonly args: ExactJson
}

/**
 * @returns null if no block of this chain at or below the pin has the first step
 * @throws NewcutError if the node does not answer
 */
export async function firstStepOf(fork: ChainCopy, pactId: string): Promise<FirstStep | null> {
  const result = await resultOf(fork, pactId)
  if (result === null) return null
  const continuation = fieldsOf(result.continuation)
  if (continuation.pactId !== pactId || continuation.step !== 0) return null
  const { blockHash, blockTime } = fieldsOf(result.metaData)
  const { def, args } = fieldsOf(continuation.continuation)
  const target = targetIn(continuation)
  return {
    chain: fork.block.chain,
    height: heightOf(result),
    block: String(blockHash),
    createdMs: Math.floor(Number(blockTime) / 1000),
    stepCount: Number(continuation.stepCount),
    hasRollback: continuation.stepHasRollback === true,
    target: target === null ? null : Number(target),
    name: String(def),
    args: args ?? [],
  }
}

/**
 * The next step of a pact at the pin of a chain.
 * @returns null if the chain has finished it, 'none' if the chain has no step of it
 * @throws NewcutError if the node does not answer
 */
export async function nextStepAtPin(fork: ChainCopy, pactId: string): Promise<number | null | 'none'> {
  const { pacts } = fork.entries
  if (!pacts.has(pactId)) await fork.fetcher.fetch({ domain: 'pacts', key: pactId })
  const pact = pacts.expect(pactId)
  if (pact === null) return null
  if (pact === false) return 'none'
  return 'step' in pact ? pact.step : Number(fieldsOf(parseExactJson(pact.continuation)).step) + 1
}

const heightOf = (result: JsonFields) => Number(fieldsOf(result.metaData).blockHeight)

/** The result of a command at or below the pin. Neither a result nor its absence changes, so both are cached. */
async function resultOf({ block, entries, fetcher: { caller } }: ChainCopy, key: string): Promise<JsonFields | null> {
  const cached = entries.results.get(key)
  if (cached === false) return null
  if (cached !== undefined) return fieldsOf(parseExactJson(cached))
  const { status, text } = await caller.remote.post(caller.path('poll'), { requestKeys: [key] })
  if (status !== 200) throw refusalError(caller.remote, `the result of ${key}`, status, text)
  const result = fieldsOf(fieldsOf(parseExactJson(text))[key])
  const isBelow = heightOf(result) <= block.height
  entries.results.put(key, isBelow ? exactJsonText(result) : false)
  entries.save()
  return isBelow ? result : null
}

/** Chain to which a step yields. A nested pact may yield for the pact around it. */
function targetIn(continuation: JsonFields): string | null {
  const { targetChainId } = fieldsOf(fieldsOf(continuation.yield).provenance)
  if (typeof targetChainId === 'string') return targetChainId
  for (const each of Object.values(fieldsOf(continuation.nested))) {
    const target = targetIn(fieldsOf(each))
    if (target !== null) return target
  }
  return null
}
