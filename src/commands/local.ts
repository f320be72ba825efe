/** `newcut local CODE`: evaluates code on a node, and prints its value. */
import type { Config } from '../cli/config.ts'
import type { localOptions } from '../cli/options/wallet.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { valueFromJson, valueToJson } from '../contracts/values/wire.ts'
import { answer } from '../wallet/ask.ts'
import { dataOf } from '../wallet/failure.ts'
import { givenCode, givenJson } from './given-text.ts'
import { valueText } from './value-text.ts'
import { checkChain, withNode } from './with-node.ts'

/** Throws CommandFailed for code that fails. */
export function runLocal(
  given: string,
  config: Config<typeof localOptions>,
  { out, nowMs, untilStopped }: Surroundings,
): Promise<number> {
  const print = printerTo(out)
  const { chain, data, 'gas-limit': gasLimit, sender = '', rewind: rewindDepth, json } = config.values
  const code = givenCode(given)
  const question = { code, gasLimit, sender, rewindDepth, data: data === undefined ? '{}' : givenJson(data, '--data') }
  return withNode(config, { untilStopped }, async (client, signal) => {
    checkChain(client, chain, '--chain')
    const result = await answer(client, chain, question, { signal, nowMs: nowMs() })
    const value = valueFromJson(dataOf(result, 'the code failed'))
    print(json ? `{"chain":${chain},"value":${valueToJson(value)},"gas":${result.gas}}` : valueText(value))
    return 0
  })
}
