/** Sends the commands of users, with their gas terms, and finds them again by request keys. */

import type { NodeClient } from '#client/node/client.ts'
import { CommandSender, type CommandStep, type FeeTerms } from '#client/wallet/command-sender.ts'
import { operatingError } from '#ground/base/errors.ts'
import { systemClock } from '#ground/platform/clock.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { commandErrors } from './errors.ts'
import { chainsOf } from './with-node.ts'

/** The options that limit the cost of a command. */
export interface FeeTermOptions {
  readonly 'gas-limit': number
  readonly 'gas-price': string
  readonly ttl: number
  readonly depth: number
}

export function termsOf(values: Pick<FeeTermOptions, 'gas-limit' | 'gas-price' | 'ttl'>): FeeTerms {
  return { gasLimit: values['gas-limit'], gasPrice: values['gas-price'], ttlMs: values.ttl }
}

/** Creates the sender of commands to this node. */
export function commandSenderFor(
  client: NodeClient,
  values: FeeTermOptions,
  onStep: (step: CommandStep) => void,
  signal: AbortSignal,
): CommandSender {
  const { depth } = values
  return new CommandSender(client, { terms: termsOf(values), depth, clock: systemClock, signal, onStep })
}

/** @returns the command with its result in a block, or null if no chain has it. */
export async function findResult(
  client: NodeClient,
  requestKey: string,
  signal: AbortSignal,
): Promise<{ readonly chain: number; readonly result: CommandResult } | null> {
  const answers = await Promise.all(
    chainsOf(client).map(async (chain) => {
      return { chain, result: (await client.poll(chain, [requestKey], { signal })).get(requestKey) }
    }),
  )
  for (const { chain, result } of answers) if (result !== undefined) return { chain, result }
  return null
}

/** @throws NewcutError BAD_OPTION for an invalid request key. `name` is its argument or flag, for the message */
export function checkRequestKey(text: string, name: string): void {
  if (/^[\w-]{43}$/.test(text)) return
  throw operatingError(commandErrors.wrongRequestKey, { place: name, text })
}
