/** Shared parts of the commands that sign: gas terms, the sender of commands, results as JSON. */
import { NewcutError } from '../base/errors.ts'
import { valueFromJson, valueToJson } from '../contracts/values/wire.ts'
import type { NodeClient } from '../node/client.ts'
import { systemClock } from '../platform/clock.ts'
import type { CommandResult } from '../schema/command-bodies.ts'
import { CommandSender, type Terms } from '../wallet/command-sender.ts'
import { dataOf } from '../wallet/failure.ts'
import type { StepLines } from './steps.ts'
import { chainsOf } from './with-node.ts'

/** The options that limit the cost of a command. */
export interface TermValues {
  readonly 'gas-limit': number
  readonly 'gas-price': string
  readonly ttl: number
  readonly depth: number
}

export function termsOf(values: Pick<TermValues, 'gas-limit' | 'gas-price' | 'ttl'>): Terms {
  return { gasLimit: values['gas-limit'], gasPrice: values['gas-price'], ttlMs: values.ttl }
}

/** Creates the sender of commands to this node. */
export function commandSenderFor(
  client: NodeClient,
  values: TermValues,
  steps: StepLines,
  signal: AbortSignal,
): CommandSender {
  const { depth } = values
  return new CommandSender(client, { terms: termsOf(values), depth, clock: systemClock, signal, onStep: steps.show })
}

/** A result as one line of JSON. Throws CommandFailed. */
export function resultJson(chain: number, result: CommandResult): string {
  const value = valueToJson(valueFromJson(dataOf(result, `it failed on chain ${chain}`)))
  const { reqKey, gas, metaData } = result
  const place = JSON.stringify({ chain, requestKey: reqKey, gas: Number(gas) }).slice(1, -1)
  const block = JSON.stringify({ height: Number(metaData?.blockHeight ?? 0), blockHash: metaData?.blockHash ?? null })
  const events = (result.events ?? []).map(eventJson).join(',')
  return `{${place},${block.slice(1, -1)},"value":${value},"events":[${events}]}`
}

function eventJson({ module, name, params, moduleHash }: NonNullable<CommandResult['events']>[number]): string {
  const qualified = module.namespace === null ? module.name : `${module.namespace}.${module.name}`
  const values = params.map((each) => valueToJson(valueFromJson(each)))
  const names = JSON.stringify({ name: `${qualified}.${name}`, moduleHash }).slice(1, -1)
  return `{${names},"params":[${values}]}`
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

/** Throws NewcutError BAD_OPTION for an invalid request key. `name` is its argument or flag, for the message. */
export function checkRequestKey(text: string, name: string): void {
  if (/^[\w-]{43}$/.test(text)) return
  throw new NewcutError('BAD_OPTION', `${name} ${text}: not a request key`, {
    hint: 'expected the 43 characters that newcut send or transfer prints',
  })
}
