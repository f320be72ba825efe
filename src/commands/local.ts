/** `newcut local CODE`: evaluates code on a node, and prints its value. */

import type { NodeClient } from '#client/node/client.ts'
import { NodeRefusal } from '#client/node/errors.ts'
import { Requests } from '#client/node/requests.ts'
import { commandOfQuestion, evaluateOnNode, type Question } from '#client/wallet/ask.ts'
import { dataOf } from '#client/wallet/failure.ts'
import type { Config } from '#faces/cli/config.ts'
import type { localOptions } from '#faces/cli/options/wallet.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { traceOperation } from '#ground/schema/trace.ts'
import { valueFromJson, valueToJson } from '#language/contracts/values/wire.ts'
import { readCode, readJsonArgument } from './input/code-argument.ts'
import { commandErrors } from './input/errors.ts'
import { type LocalOverrides, overridesFrom } from './input/overrides.ts'
import { checkChain, withNode } from './input/with-node.ts'
import { valueText } from './results/value-lines.ts'

/** A run has at most 20 s, and may wait for others. */
const OVERRIDDEN_TIMEOUT_MS = 60_000
/** Values of results keep all digits. */
const exactTrace = { ...traceOperation, group: 'command' } as const

/** @throws CommandFailed for code that fails */
export function runLocal(
  given: string,
  config: Config<typeof localOptions>,
  { out, nowMs, untilStopped }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  const { chain, data, 'gas-limit': gasLimit, sender = '', rewind: rewindDepth, json, set } = config.values
  const overrides = set === undefined ? null : overridesFrom(set)
  if (overrides !== null && rewindDepth > 0) {
    throw operatingError(commandErrors.rewindWithSet)
  }
  const code = readCode(given)
  const question = {
    code,
    gasLimit,
    sender,
    rewindDepth,
    data: data === undefined ? '{}' : readJsonArgument(data, '--data'),
  }
  return withNode(config, { untilStopped }, async (client, signal) => {
    checkChain(client, chain, '--chain')
    const call = { signal, nowMs: nowMs() }
    const result = await (overrides === null
      ? evaluateOnNode(client, chain, question, call)
      : answerWith(overrides, client, chain, question, call))
    const data = (async () => dataOf(result, 'the code failed'))()
    const addAdvice = async (error: unknown) => {
      const advised = (await import('./input/syntax-advice.ts')).withSyntaxAdvice(given, code, error)
      throw await (await import('./input/name-advice.ts')).withNameAdvice(advised, { code, client, chain, call })
    }
    const value = valueFromJson(await data.catch(addAdvice))
    print(json ? `{"chain":${chain},"value":${valueToJson(value)},"gas":${result.gas}}` : valueText(value))
    return 0
  })
}

/**
 * Like `answer` of wallet/ask.ts, with overrides.
 * @throws NewcutError NODE_REFUSED if the node has none
 */
async function answerWith(
  overrides: LocalOverrides,
  client: NodeClient,
  chain: number,
  question: Question,
  { signal, nowMs }: { readonly signal: AbortSignal; readonly nowMs: number },
): Promise<CommandResult> {
  const cmd = commandOfQuestion(client, chain, question, nowMs)
  const { body } = await new Requests(client.http, '')
    .json(exactTrace, { body: { cmd, overrides }, signal, timeoutMs: OVERRIDDEN_TIMEOUT_MS })
    .catch((error: unknown) => {
      if (!(error instanceof NodeRefusal) || error.status !== 404 || error.excerpt !== '') throw error
      throw operatingError(commandErrors.noOverrides, undefined, error)
    })
  const { gas, result, requestKey: reqKey } = body
  return { gas, result, reqKey }
}
