/** `newcut local CODE`: evaluates code on a node, and prints its value. */
import { NewcutError } from '../base/errors.ts'
import type { Config } from '../cli/config.ts'
import type { localOptions } from '../cli/options/wallet.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { valueFromJson, valueToJson } from '../contracts/values/wire.ts'
import { answer } from '../wallet/ask.ts'
import { dataOf } from '../wallet/failure.ts'
import { givenCode, givenJson } from './given-text.ts'
import { answerWith, overridesFrom } from './local-overrides.ts'
import { valueText } from './value-text.ts'
import { checkChain, withNode } from './with-node.ts'

/** Throws CommandFailed for code that fails. */
export function runLocal(
  given: string,
  config: Config<typeof localOptions>,
  { out, nowMs, untilStopped }: Surroundings,
): Promise<number> {
  const print = printerTo(out)
  const { chain, data, 'gas-limit': gasLimit, sender = '', rewind: rewindDepth, json, set } = config.values
  const overrides = set === undefined ? null : overridesFrom(set)
  if (overrides !== null && rewindDepth > 0) {
    throw new NewcutError('BAD_OPTION', '--rewind has no effect with --set: the code runs on top of the chain')
  }
  const code = givenCode(given)
  const question = { code, gasLimit, sender, rewindDepth, data: data === undefined ? '{}' : givenJson(data, '--data') }
  return withNode(config, { untilStopped }, async (client, signal) => {
    checkChain(client, chain, '--chain')
    const call = { signal, nowMs: nowMs() }
    const result = await (overrides === null
      ? answer(client, chain, question, call)
      : answerWith(overrides, client, chain, question, call))
    const data = (async () => dataOf(result, 'the code failed'))()
    const failed = async (error: unknown) => {
      throw (await import('./syntax-advice.ts')).withSyntaxAdvice(given, code, error)
    }
    const value = valueFromJson(await data.catch(failed))
    print(json ? `{"chain":${chain},"value":${valueToJson(value)},"gas":${result.gas}}` : valueText(value))
    return 0
  })
}
