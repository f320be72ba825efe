/** Values and results of contracts as text: for people, and as JSON. */

import { dataOf } from '#client/wallet/failure.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { showValue } from '#language/contracts/values/print.ts'
import type { Value } from '#language/contracts/values/value.ts'
import { valueFromJson, valueToJson } from '#language/contracts/values/wire.ts'

/** Control characters, except line ends and tabs: a string of a contract may move the cursor. */
const UNPRINTABLE = /[^\P{C}\n\t]/gu

/** The source form of a value, fit for a terminal. */
export function valueText(value: Value): string {
  return withoutControls(showValue(value))
}

/** Untrusted text, fit for a terminal. Its spaces stay as they are. */
export function withoutControls(text: string): string {
  return text.replace(UNPRINTABLE, ' ')
}

/**
 * A result as one line of JSON.
 * @throws CommandFailed
 */
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
