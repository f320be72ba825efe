/**
 * Runs read-only code of a node at the pinned block of a chain. Every success tells where it ran, so every answer is
 * checked against the pin.
 */

import { encodeBase64Url } from '../base/bytes.ts'
import { NewcutError } from '../base/errors.ts'
import { type ExactJson, fieldsOf, type JsonFields, parseExactJson } from '../base/json.ts'
import { blake2b256 } from '../core/blake2b.ts'
import type { PinnedBlock } from './cache.ts'
import { exactText } from './exact-text.ts'
import { orphaned, presentCut, refused, rootOf } from './pin.ts'
import { type RemoteNode, shown } from './remote-node.ts'

/** A result of code at the pin: a value, or the text of its failure. */
export type AtPin = { readonly value: ExactJson } | { readonly failure: string }

/** A command as `/local` takes it. */
export interface PinCommand {
  readonly hash: string
  readonly sigs: readonly []
  readonly cmd: string
}

/** Far above what any question needs; nodes may have a lower limit of their own. */
const GAS_LIMIT = 10_000_000
/** Most times that one question is asked again because the head of the chain has moved. */
const MAX_CORRECTIONS = 40
const encoder = new TextEncoder()

export class Asker {
  readonly block: PinnedBlock
  readonly remote: RemoteNode
  /** Blocks between the pin and the head of the chain; null if not known yet. */
  #depth: number | null
  #nonce = 0

  /** @param head height of the head of the chain, if it is known */
  constructor(remote: RemoteNode, block: PinnedBlock, head: number | null = null) {
    this.remote = remote
    this.block = block
    this.#depth = head === null ? null : head - block.height
  }

  /** Path of an endpoint for commands of the chain. */
  path(endpoint: string): string {
    const { network, chain } = this.block
    return `${rootOf(network)}/chain/${chain}/pact/api/v1/${endpoint}`
  }

  /** Runs code. Throws NewcutError if there is no answer, or none that can be right. */
  exec(code: string): Promise<AtPin> {
    return this.run({ exec: { data: {}, code } })
  }

  /** Like exec, for any payload of a command. */
  async run(payload: unknown): Promise<AtPin> {
    const { status, data, error } = fieldsOf((await this.answer(this.command(payload))).result)
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

  /** The whole answer to a command at the pin. Throws like exec. */
  async answer(command: PinCommand): Promise<JsonFields> {
    for (let corrections = 0; corrections <= MAX_CORRECTIONS; ) {
      const { answer, depth } = await this.#local(command)
      const { status } = fieldsOf(answer.result)
      if (status === 'success') {
        if (this.#isAtPin(answer, depth)) return answer
        corrections++
      } else if (status === 'failure') {
        // A failure does not tell where it ran: a success at the same depth does.
        const check = await this.#local(this.command({ exec: { data: {}, code: 'true' } }))
        if (check.depth === depth && this.#isAtPin(check.answer, depth)) return answer
        corrections++
      } else throw this.#misbehaved(`a result without a status: ${shown(exactText(answer))}`)
    }
    throw this.#misbehaved(`${MAX_CORRECTIONS} answers at other heights than ${this.block.height + 1}`)
  }

  /**
   * Checks where an answer ran.
   * @param used depth at which it ran
   * @returns false if the head has moved: the depth is corrected, ask again
   */
  #isAtPin(answer: JsonFields, used: number): boolean {
    const { blockHeight, prevBlockHash } = fieldsOf(answer.metaData)
    const { height, hash, chain } = this.block
    if (typeof blockHeight !== 'number' || typeof prevBlockHash !== 'string') {
      throw this.#misbehaved(`a success that names no block: ${shown(exactText(answer))}`)
    }
    const ahead = blockHeight - (height + 1)
    if (ahead === 0) {
      if (prevBlockHash === hash) return true
      throw orphaned(this.remote, chain, hash)
    }
    const depth = used + ahead
    if (depth < 0) {
      const text = `the chain ${chain} of the forked node ${this.remote.url} is only at height ${blockHeight - 1}`
      throw new NewcutError('NODE_REFUSED', `${text}, below the pin at ${height}`, {
        hint: 'wait until the node has caught up, or name another node of the network',
      })
    }
    this.#depth = depth
    return false
  }

  async #local(command: PinCommand): Promise<{ readonly answer: JsonFields; readonly depth: number }> {
    if (this.#depth === null) this.#depth = await this.#depthNow()
    let depth = this.#depth
    // Other answers may correct the depth while this request waits for its turn.
    const path = () => {
      depth = this.#depth ?? depth
      return `${this.path('local')}?signatureVerification=false&rewindDepth=${depth}`
    }
    const { status, text } = await this.remote.post(path, command)
    if (status !== 200) throw this.#refused(status, text)
    try {
      const json = parseExactJson(text)
      if (typeof json === 'object' && json !== null) return { answer: json as JsonFields, depth }
      if (typeof json === 'string') throw this.#timedOut(json)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
    throw this.#misbehaved(`an answer that is no result: ${shown(text)}`)
  }

  async #depthNow(): Promise<number> {
    const { network, chain, height } = this.block
    const head = (await presentCut(this.remote, network)).heads.get(chain)
    if (head === undefined) throw this.#misbehaved(`a cut without chain ${chain}`)
    return Math.max(0, head.height - height)
  }

  #refused(status: number, text: string): NewcutError {
    const { height } = this.block
    if (status < 500) return refused(this.remote, `a call at height ${height}`, status, text)
    const message = `the forked node ${this.remote.url} cannot run code at height ${height}: status ${status}: ${shown(text)}`
    return new NewcutError('NODE_REFUSED', message, {
      hint: 'a node with compacted state has old blocks no longer: take a newer pin, or a node with the full history',
    })
  }

  #timedOut(text: string): NewcutError {
    return new NewcutError('NODE_REFUSED', `the forked node ${this.remote.url} ran out of its time: ${shown(text)}`, {
      hint: 'another node may have no limit for local calls',
    })
  }

  #misbehaved(what: string): NewcutError {
    return new NewcutError('NODE_MISBEHAVED', `the forked node ${this.remote.url} gives ${what}`)
  }
}
