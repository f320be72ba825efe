/** `newcut send CODE`: signs code, sends it, and waits for its result. */
import type { Config } from '../cli/config.ts'
import { sendOptions } from '../cli/options/wallet.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import { readCapability } from '../wallet/capability.ts'
import { dataOf } from '../wallet/failure.ts'
import { refuseWithoutEffect } from './effect.ts'
import { givenCode, givenJson } from './given-text.ts'
import { commandSenderFor, resultJson } from './orders.ts'
import { signingKeys } from './signing-keys.ts'
import { StepLines } from './steps.ts'
import { valueText } from './value-text.ts'
import { checkChain, withNode } from './with-node.ts'

/** Throws CommandFailed for code that fails. */
export function runSend(
  given: string,
  config: Config<typeof sendOptions>,
  surroundings: Surroundings,
): Promise<number> {
  const print = printerTo(surroundings.out)
  const { values } = config
  const { chain, data, cap, json, wait, preflight } = values
  const code = givenCode(given)
  const payload = { code, data: data === undefined ? '{}' : givenJson(data, '--data') }
  const capabilities = (cap ?? []).map(readCapability)
  refuseWithoutEffect(sendOptions, config)
  const steps = new StepLines(json, surroundings)
  return withNode(config, surroundings, async (client, stopped) => {
    checkChain(client, chain, '--chain')
    const keys = signingKeys(values.key, client.info.nodeVersion, (message) => steps.warn(message))
    const sender = values.sender ?? keys[0].account
    const commandSender = commandSenderFor(client, values, steps, stopped)
    const request = { chain, payload, sender, keys: keys.map(({ key }) => key), capabilities }
    const command = await commandSender.submit(request, preflight).catch(async (error: unknown) => {
      throw (await import('./syntax-advice.ts')).withSyntaxAdvice(given, code, error)
    })
    if (!wait) {
      print(json ? JSON.stringify({ chain, requestKey: command.hash }) : command.hash)
      return 0
    }
    const result = await steps.guide(() => commandSender.result(chain, command.hash, command), stopped)
    print(json ? resultJson(chain, result) : valueText(valueFromJson(dataOf(result, 'it failed'))))
    return 0
  })
}
