/** `newcut send`: signs code or a request file, sends it, and waits for its result. */

import { readCapability } from '#client/wallet/capability.ts'
import type { SignedCommand } from '#client/wallet/command.ts'
import type { CommandSender } from '#client/wallet/command-sender.ts'
import { dataOf } from '#client/wallet/failure.ts'
import type { Config } from '#faces/cli/config.ts'
import type { sendOptions } from '#faces/cli/options/wallet.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import { valueFromJson } from '#language/contracts/values/wire.ts'
import { readCode, readJsonArgument } from './input/code-argument.ts'
import { commandErrors } from './input/errors.ts'
import { commandSenderFor } from './input/sender.ts'
import { signingKeys } from './input/signing-keys.ts'
import { checkChain, withNode } from './input/with-node.ts'
import { StepLines } from './results/step-lines.ts'
import { resultJson, valueText } from './results/value-lines.ts'

/** @throws CommandFailed for code that fails */
export function runSend(
  given: string | undefined,
  config: Config<typeof sendOptions>,
  context: CommandContext,
): Promise<number> {
  const { request } = config.values
  if ((given === undefined) === (request === undefined)) {
    throw operatingError(commandErrors.codeOrRequest)
  }
  if (request !== undefined) return sendRequest(request, config, context)
  return sendCode(given ?? '', config, context)
}

function sendCode(given: string, config: Config<typeof sendOptions>, context: CommandContext): Promise<number> {
  const { values } = config
  const { chain, data, cap, json, preflight } = values
  const code = readCode(given)
  const payload = { code, data: data === undefined ? '{}' : readJsonArgument(data, '--data') }
  const capabilities = (cap ?? []).map(readCapability)
  const steps = new StepLines(json, context)
  return withNode(config, context, async (client, stopped) => {
    checkChain(client, chain, '--chain')
    const keys = signingKeys(values.key, client.info.nodeVersion, (message) => steps.warn(message))
    const sender = values.sender ?? keys[0].account
    const commandSender = commandSenderFor(client, values, steps.show, stopped)
    const request = { chain, payload, sender, keys: keys.map(({ key }) => key), capabilities }
    const command = await commandSender.submit(request, preflight).catch(async (error: unknown) => {
      const advised = (await import('./input/syntax-advice.ts')).withSyntaxAdvice(given, code, error)
      const call = { signal: stopped, nowMs: context.nowMs() }
      throw await (await import('./input/name-advice.ts')).withNameAdvice(advised, { code, client, chain, call })
    })
    return report({ commandSender, chain, command, steps, stopped }, values, context)
  })
}

async function sendRequest(path: string, config: Config<typeof sendOptions>, context: CommandContext): Promise<number> {
  const { values } = config
  const { readRequestFile } = await import('./input/request-file.ts')
  const {
    completeCommand,
    mergeCommands: mergedCommand,
    addSignatures: withSignatures,
  } = await import('./input/request-signatures.ts')
  const steps = new StepLines(values.json, context)
  return withNode(config, context, async (client, stopped) => {
    const networkId = client.info.nodeVersion
    const open = mergedCommand([readRequestFile(path, { networkId, nowMs: context.nowMs() })])
    if (open.networkId !== networkId) {
      throw operatingError(commandErrors.otherNetwork, { file: path, network: open.networkId, other: networkId })
    }
    const { chain, ttl } = open
    checkChain(client, chain, `${path}: chain`)
    const keys = values.key === undefined ? [] : signingKeys(values.key, networkId, (message) => steps.warn(message))
    const command = completeCommand(
      withSignatures(
        open,
        keys.map(({ key }) => key),
      ),
    )
    const commandSender = commandSenderFor(client, { ...values, ttl: ttl * 1000 }, steps.show, stopped)
    if (values.preflight) await commandSender.tryOut(chain, command)
    await commandSender.send(chain, command)
    return report({ commandSender, chain, command, steps, stopped }, values, context)
  })
}

interface SentCommand {
  readonly commandSender: CommandSender
  readonly chain: number
  readonly command: SignedCommand
  readonly steps: StepLines
  readonly stopped: AbortSignal
}

/** Waits for the result unless the user does not want it, and prints it. */
async function report(
  { commandSender, chain, command, steps, stopped }: SentCommand,
  { wait, json }: Pick<Config<typeof sendOptions>['values'], 'wait' | 'json'>,
  { out }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  if (!wait) {
    print(json ? JSON.stringify({ chain, requestKey: command.hash }) : command.hash)
    return 0
  }
  const result = await steps.guide(() => commandSender.waitForResult(chain, command.hash, command), stopped)
  print(json ? resultJson(chain, result) : valueText(valueFromJson(dataOf(result, 'it failed'))))
  return 0
}
