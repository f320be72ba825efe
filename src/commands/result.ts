/** `newcut result REQUESTKEY`: the result of a transaction. */

import type { NodeClient } from '#client/node/client.ts'
import type { WaitProgress } from '#client/node/wait-for.ts'
import { dataOf } from '#client/wallet/failure.ts'
import type { Config } from '#faces/cli/config.ts'
import type { resultOptions } from '#faces/cli/options/wallet.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { valueFromJson } from '#language/contracts/values/wire.ts'
import { commandErrors } from './input/errors.ts'
import { checkRequestKey, findResult } from './input/sender.ts'
import { checkChain, withNode } from './input/with-node.ts'
import { StepLines } from './results/step-lines.ts'
import { resultJson, valueText } from './results/value-lines.ts'

type ResultConfig = Config<typeof resultOptions>

/** @throws CommandFailed for a failed command, NO_RESULT for a command without a result (yet) */
export function runResult(requestKey: string, config: ResultConfig, context: CommandContext): Promise<number> {
  const print = printerTo(context.out)
  const steps = new StepLines(config.values.json, context)
  checkRequestKey(requestKey, 'result')
  const { json } = config.values
  return withNode(config, context, async (client, stopped) => {
    const { chain, result } = await resultOf(client, requestKey, { values: config.values, steps }, stopped)
    print(json ? resultJson(chain, result) : valueText(valueFromJson(dataOf(result, `it failed on chain ${chain}`))))
    return 0
  })
}

async function resultOf(
  client: NodeClient,
  requestKey: string,
  { values: { chain, wait, depth }, steps }: { readonly values: ResultConfig['values']; readonly steps: StepLines },
  signal: AbortSignal,
): Promise<{ readonly chain: number; readonly result: CommandResult }> {
  if (chain !== undefined) checkChain(client, chain, '--chain')
  const follow = async (on: number) => {
    const onProgress = (progress: WaitProgress) => steps.show({ ...progress, chain: on })
    const options = { depth, signal, onProgress }
    return { chain: on, result: await steps.guide(() => client.waitFor(on, requestKey, options), signal) }
  }
  if (chain !== undefined && wait) return follow(chain)
  const found = await findResult(client, requestKey, signal)
  if (found !== null) return wait ? follow(found.chain) : found
  throw operatingError(commandErrors.noResult, { key: requestKey, what: 'it' })
}
