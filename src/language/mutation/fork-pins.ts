/** Pins of forks, so that all threads run on the same blocks. */
import { NewcutError } from '#ground/base/errors.ts'
import type { NetworkCopyOptions } from '../copy/network-copy.ts'
import type { EnvForkCall } from '../testing/env-forks.ts'
import { type CallReply, replyTo } from '../testing/run.ts'
import { plainError } from '../testing/thread-messages.ts'

export class ForkPins {
  readonly #optionsOf: (call: EnvForkCall) => NetworkCopyOptions
  /** Options as text -> those with the pin. */
  readonly #pinned = new Map<string, Promise<NetworkCopyOptions>>()

  /** @param optionsOf the fork that a call of `env-fork` means. It throws NewcutError for options that no fork has */
  constructor(optionsOf: (call: EnvForkCall) => NetworkCopyOptions) {
    this.#optionsOf = optionsOf
  }

  async replyTo(call: EnvForkCall): Promise<CallReply> {
    const reply = replyTo(call, this.#optionsOf)
    if ('refusal' in reply) return reply
    try {
      return { options: await this.pin(reply.options) }
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      return { refusal: plainError(error) }
    }
  }

  /** The options with the blocks that the network has now. Rejects with NewcutError if the node does not answer. */
  pin(options: NetworkCopyOptions): Promise<NetworkCopyOptions> {
    const key = JSON.stringify(options)
    const pinned = this.#pinned.get(key) ?? pin(options)
    this.#pinned.set(key, pinned)
    return pinned
  }
}

async function pin(options: NetworkCopyOptions): Promise<NetworkCopyOptions> {
  const { openTestFork } = await import('../testing/fork.ts')
  const { pinText } = await import('../copy/pin.ts')
  const fork = await openTestFork(options, '`fork.chains`', () => undefined)
  return { ...options, cut: pinText(fork.pin) }
}
