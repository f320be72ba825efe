/** `newcut result REQUESTKEY`: the result of a transaction. */
import { NewcutError } from '../base/errors.ts'
import type { Config } from '../cli/config.ts'
import { checkRequestKey, findResult } from '../cli/input/sender.ts'
import { checkChain, withNode } from '../cli/input/with-node.ts'
import type { resultOptions } from '../cli/options/wallet.ts'
import { StepLines } from '../cli/results/step-lines.ts'
import { resultJson, valueText } from '../cli/results/value-lines.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import type { NodeClient } from '../node/client.ts'
import type { WaitProgress } from '../node/wait-for.ts'
import type { CommandResult } from '../schema/command-bodies.ts'
import { dataOf } from '../wallet/failure.ts'

type ResultConfig = Config<typeof resultOptions>

/** Throws CommandFailed for a failed command, NO_RESULT for a command without a result (yet). */
export function runResult(requestKey: string, config: ResultConfig, surroundings: Surroundings): Promise<number> {
  const print = printerTo(surroundings.out)
  const steps = new StepLines(config.values.json, surroundings)
  checkRequestKey(requestKey, 'result')
  const { json } = config.values
  return withNode(config, surroundings, async (client, stopped) => {
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
  throw new NewcutError('NO_RESULT', `no chain has a result of ${requestKey}`, {
    hint: 'it may be in no block yet: --chain N waits for it on that chain',
  })
}
