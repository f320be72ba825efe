/**
 * Runs read-only code of a node at the pinned block of a chain. Every success states where it ran, so every answer is
 * checked against the pin.
 */

import { encodeBase64Url } from '#ground/base/bytes.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { type ExactJson, exactJsonText, fieldsOf, type JsonFields, parseExactJson } from '#ground/base/json.ts'
import { blake2b256 } from '#ground/chain/blake2b.ts'
import type { PinnedBlock } from './cache.ts'
import { copyErrors } from './errors.ts'
import { HeadDepthGuess, NOTHING_SEEN } from './head-aim.ts'
import { currentCut, networkPath, orphanError, refusalError } from './pin.ts'
import { excerpt, type RemoteNode } from './remote-node.ts'

/** A result of code at the pin: a value, or the text of its failure. */
export type PinnedResult = { readonly value: ExactJson } | { readonly failure: string }

interface LocalAttempt {
  readonly answer: JsonFields
  /** Depth that the request named. */
  readonly depth: number
  /** Depth of the answer before it. */
  readonly last: number
}

/** A command as `/local` takes it. */
export interface PinCommand {
  readonly hash: string
  readonly sigs: []
  readonly cmd: string
}

/** Far above what any question needs; nodes may have a lower limit of their own. */
const GAS_LIMIT = 10_000_000
/**
 * Maximum number of times that a question is asked again because the head of the chain has moved. If blocks come by
 * chance, 100 of them during an answer, an attempt is right once in 25 times.
 */
const MAX_CORRECTIONS = 200
/** Misses of one question after which newcut says that it asks again. */
const NOTICES: ReadonlySet<number> = new Set([8, 64])
const encoder = new TextEncoder()

export class PinnedCaller {
  readonly block: PinnedBlock
  readonly remote: RemoteNode
  readonly #aim: HeadDepthGuess
  #nonce = 0

  /** @param head height of the head of the chain, if it is known */
  constructor(remote: RemoteNode, block: PinnedBlock, head: number | null = null) {
    this.remote = remote
    this.block = block
    this.#aim = new HeadDepthGuess(head === null ? null : head - block.height)
  }

  /** Path of an endpoint for commands of the chain. */
  path(endpoint: string): string {
    const { network, chain } = this.block
    return `${networkPath(network)}/chain/${chain}/pact/api/v1/${endpoint}`
  }

  /**
   * Runs code at the pin.
   * @throws NewcutError if there is no answer, or none that can be right
   */
  exec(code: string): Promise<PinnedResult> {
    return this.run({ exec: { data: {}, code } })
  }

  /** Like exec, for any payload of a command. */
  async run(payload: unknown): Promise<PinnedResult> {
    const { status, data, error } = fieldsOf((await this.localAtPin(this.command(payload))).result)
    return status === 'success' ? { value: data ?? null } : { failure: String(fieldsOf(error).message ?? '') }
  }

  /** A read-only command of the chain, with its hash. */
  command(payload: unknown, gasLimit = GAS_LIMIT): PinCommand {
    const { network, chain } = this.block
    const meta = { chainId: String(chain), sender: '', gasLimit, gasPrice: 1e-8, ttl: 600, creationTime: 0 }
    const cmd = JSON.stringify({
      networkId: network,
      payload,
      signers: [],
      meta,
      nonce: `newcut fork ${this.#nonce++}`,
    })
    return { hash: encodeBase64Url(blake2b256(encoder.encode(cmd))), sigs: [], cmd }
  }

  /** The whole answer to a command at the pin. After an error, the next call starts again. @throws like exec */
  async localAtPin(command: PinCommand): Promise<JsonFields> {
    try {
      return await this.#answer(command)
    } catch (error) {
      this.#aim.forget()
      throw error
    }
  }

  async #answer(command: PinCommand): Promise<JsonFields> {
    let seen = NOTHING_SEEN
    let hasFailed = false
    while (seen.misses <= MAX_CORRECTIONS) {
      const { answer, depth, last } = await this.#local(command, hasFailed ? null : seen.misses)
      const { status } = fieldsOf(answer.result)
      if (status !== 'success' && status !== 'failure') {
        throw this.#misbehaviourError(`a result without a status: ${excerpt(exactJsonText(answer))}`)
      }
      let right = depth
      if (status === 'success') {
        right = this.#rightDepth(answer, depth)
        if (right === depth) {
          this.#aim.noteDepth(depth)
          return answer
        }
      } else {
        // A failure does not state where it ran. The head only rises, so the failure ran between the answers before and
        // after it. If both are at this depth, so was the failure.
        const check = await this.#local(this.command({ exec: { data: {}, code: 'true' } }), null)
        right = this.#rightDepth(check.answer, check.depth)
        if (last === depth && check.depth === depth && right === depth) return answer
        hasFailed = true
      }
      seen = this.#aim.noteMiss(right, seen)
      if (NOTICES.has(seen.misses)) this.remote.notice(this.#movingText(seen.misses))
    }
    throw this.#misbehaviourError(`${MAX_CORRECTIONS} answers at other heights than ${this.block.height + 1}`)
  }

  #movingText(count: number): string {
    const { chain, height } = this.block
    const what = `newcut has asked ${count} times for the state at height ${height}`
    return `chain ${chain} of the forked node ${this.remote.url} gets blocks faster than answers come: ${what}`
  }

  /**
   * Checks where an answer ran.
   * @param used depth at which it ran
   * @returns the depth at which it would have run at the pin: `used` if it did
   */
  #rightDepth(answer: JsonFields, used: number): number {
    const { blockHeight, prevBlockHash } = fieldsOf(answer.metaData)
    const { height, hash, chain } = this.block
    if (typeof blockHeight !== 'number' || typeof prevBlockHash !== 'string') {
      throw this.#misbehaviourError(`a success that names no block: ${excerpt(exactJsonText(answer))}`)
    }
    const ahead = blockHeight - (height + 1)
    if (ahead === 0) {
      if (prevBlockHash === hash) return used
      throw orphanError(this.remote, chain, hash)
    }
    const depth = used + ahead
    if (depth >= 0) return depth
    throw operatingError(copyErrors.belowPin, { chain, url: this.remote.url, head: blockHeight - 1, height })
  }

  /**
   * Asks once. Nodes of newcut take the height, and others the depth.
   * @param misses of the question so far; null asks at the depth of the last answer
   */
  async #local(command: PinCommand, misses: number | null): Promise<LocalAttempt> {
    if (!this.#aim.isKnown) this.#aim.noteDepth(await this.#depthNow())
    let [depth, last] = [0, 0]
    // Other answers may correct the depth while this request waits for its turn.
    const path = () => {
      last = this.#aim.last
      depth = misses === null ? last : this.#aim.next(misses)
      const place = `rewindDepth=${depth}&rewindHeight=${this.block.height}`
      return `${this.path('local')}?signatureVerification=false&${place}`
    }
    const { status, text } = await this.remote.post(path, command)
    if (status !== 200) throw this.#refusalError(status, text)
    try {
      const json = parseExactJson(text)
      if (typeof json === 'object' && json !== null) return { answer: json as JsonFields, depth, last }
      if (typeof json === 'string') throw this.#timeoutError(json)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
    throw this.#misbehaviourError(`an answer that is not a result: ${excerpt(text)}`)
  }

  async #depthNow(): Promise<number> {
    const { network, chain, height } = this.block
    const head = (await currentCut(this.remote, network)).heads.get(chain)
    if (head === undefined) throw this.#misbehaviourError(`a cut without chain ${chain}`)
    return Math.max(0, head.height - height)
  }

  #refusalError(status: number, text: string): NewcutError {
    const { height } = this.block
    if (status < 500) return refusalError(this.remote, `a call at height ${height}`, status, text)
    return operatingError(copyErrors.compacted, { url: this.remote.url, height, status, answer: excerpt(text) })
  }

  #timeoutError(text: string): NewcutError {
    return operatingError(copyErrors.outOfTime, { url: this.remote.url, answer: excerpt(text) })
  }

  #misbehaviourError(what: string): NewcutError {
    return operatingError(copyErrors.wrongAnswer, { url: this.remote.url, what })
  }
}
