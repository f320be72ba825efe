/** The forks of a test file that runs again and again, opened on first use. */

import { type ForkRequest, MissingFork } from '../contracts/repl/test-start.ts'
import type { NetworkCopyOptions } from '../copy/network-copy.ts'
import type { EnvForkCall } from './env-forks.ts'
import type { FileForks } from './fork.ts'
import { type CallReply, errorFrom } from './thread-messages.ts'

/**
 * Opens the fork that a whole file runs on, or waits for its calls of `env-fork`.
 * @param options fork of the whole file; null for none
 * @param replyTo says which fork a call of `env-fork` means
 * @throws NewcutError if the fork cannot be opened
 */
export async function openFileForks(
  file: string,
  options: NetworkCopyOptions | null,
  replyTo: (call: EnvForkCall) => CallReply | Promise<CallReply>,
): Promise<FileForks> {
  const silent = () => undefined
  if (options !== null) {
    const { forksOfFile, hintText, openTestFork } = await import('./fork.ts')
    const fork = await openTestFork(options, '`fork.chains`', silent)
    await fork.source.warm([hintText(file)])
    return forksOfFile(file, fork)
  }
  let forks: FileForks | null = null
  const refuse = (request: ForkRequest) => {
    throw new MissingFork(request)
  }
  const open = async () => {
    const { EnvForks } = await import('./env-forks.ts')
    const optionsOf = async (call: EnvForkCall) => {
      const reply = await replyTo(call)
      if ('refusal' in reply) throw errorFrom(reply.refusal)
      return reply.options
    }
    return new EnvForks({ optionsOf, onOpened: silent, onNotice: silent }).forksOf(file)
  }
  return {
    startOf: (probe) => forks?.startOf(probe) ?? { fork: refuse },
    textOf: (module) => forks?.textOf(module) ?? null,
    supply: async (lack) => {
      if (forks === null && !(lack instanceof MissingFork)) throw lack
      forks ??= await open()
      await forks.supply(lack)
    },
  }
}
