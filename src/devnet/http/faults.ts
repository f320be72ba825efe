/** Fault injection: wrong or delayed responses to the next calls of an operation, for tests of clients. */

import { setMaxListeners } from 'node:events'
import type { FastifyReply } from 'fastify'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import type { FaultRequest } from '#ground/schema/control.ts'
import { type Operation, TEXT } from '#ground/schema/operation.ts'
import type { Static } from '#ground/schema/typebox.ts'
import { RequestRefused } from './refusal.ts'

type Fault = Static<typeof FaultRequest>

export class Faults {
  readonly #faults = new Map<string, Fault>()
  readonly #clock: Clock
  readonly #signal: AbortSignal

  /** @param signal aborted when the node stops */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
    // Any number of calls may be delayed at once. Node.js would warn of a leak.
    setMaxListeners(0, signal)
  }

  /** All active faults, with the number of calls that remain. */
  get list(): readonly Fault[] {
    return [...this.#faults.values()]
  }

  /**
   * Replaces the fault of an operation; count 0 clears it.
   * @throws RequestRefused if it is invalid or not in `served`
   */
  set(fault: Fault, served: readonly Operation[]): void {
    const names = served.filter(({ group }) => group !== 'devnet').map(({ id }) => id)
    if (!names.includes(fault.operation)) {
      const guess = suggestName(fault.operation, names)
      const known = `use ${names.join(', ')}${guess}`
      throw new RequestRefused(400, `there is no operation ${JSON.stringify(fault.operation)}: ${known}`)
    }
    this.#faults.delete(fault.operation)
    if (fault.count === 0) return
    if (fault.status === undefined && fault.delayMs === undefined) {
      throw new RequestRefused(400, 'a fault has a status, a delayMs, or both')
    }
    if (fault.status === undefined && (fault.body !== undefined || fault.contentType !== undefined)) {
      throw new RequestRefused(400, 'a fault with body or contentType needs a status')
    }
    this.#faults.set(fault.operation, fault)
  }

  /** Ends all faults. */
  clear(): void {
    this.#faults.clear()
  }

  /** Delays or answers a call if its operation has a fault. @returns true if it has responded */
  intercept({ id }: Operation, reply: FastifyReply): boolean | Promise<boolean> {
    const fault = this.#faults.get(id)
    return fault === undefined ? false : this.#answer(id, fault, reply)
  }

  async #answer(id: string, fault: Fault, reply: FastifyReply): Promise<boolean> {
    const { count, status, body, contentType = TEXT, delayMs } = fault
    if (count > 1) this.#faults.set(id, { ...fault, count: count - 1 })
    else this.#faults.delete(id)
    // The node closes all connections when it stops, so nobody waits for this response.
    if (delayMs !== undefined) await sleep(this.#clock, delayMs, this.#signal)
    if (status === undefined) return false
    void reply.code(status).type(contentType)
    // As bytes: fastify would rewrite text of a JSON type.
    await reply.send(body === undefined ? undefined : Buffer.from(body))
    return true
  }
}
