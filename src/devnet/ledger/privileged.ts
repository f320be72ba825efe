/** Executes a command of the node's owner: without gas, with capabilities granted and admin rights on modules. */

import { evalError } from '#language/contracts/errors.ts'
import { Layer, type ReadableState } from '#language/contracts/machine/state.ts'
import { grantForTest, grantWithoutBody, startTransaction } from '#language/contracts/run.ts'
import type { Command } from '../command/command.ts'
import { readPrivileges } from '../command/privileges.ts'
import { OUTPUT_LIMITS, resultText } from './command-result.ts'
import { environmentOf } from './gas.ts'
import { attempt } from './runner.ts'
import { type ExecutedCommand, type ExecuteOptions, type ExecutingBlock, runPayload } from './transaction.ts'

/** Like executeCommand, but nobody pays, and the command begins with its privileges. */
export function executePrivileged(
  state: ReadableState,
  { context, readProof }: ExecutingBlock,
  command: Command,
  { txId, gasLimit, metaData = 'null', limits = OUTPUT_LIMITS, trace }: ExecuteOptions,
): ExecutedCommand {
  const { admin, capabilities, areAsked } = readPrivileges(command.cmd)
  const layer = new Layer(state)
  const gas = { used: 0, limit: gasLimit * 1000 }
  const evaluator = startTransaction(environmentOf(context, command), layer, gas, trace?.tracer)
  const printed = attempt(() => {
    const run = () => {
      for (const name of admin) {
        if (evaluator.findModule(name) === undefined) throw evalError(`there is no module ${name}`)
        evaluator.transaction.admin.add(name)
      }
      for (const token of capabilities) (areAsked ? grantForTest : grantWithoutBody)(evaluator, token)
      return runPayload(evaluator, context, command, readProof)
    }
    const value = trace === undefined ? run() : trace.part('privileged code', gas, run)
    const { events } = evaluator.transaction
    const used = Math.ceil(gas.used / 1000)
    const ran = { gas: used, result: { value }, key: command.key, writes: layer.entries(), metaData }
    const output = resultText({ ...ran, events, pact: evaluator.program.pact, txId: txId + 1 }, limits)
    trace?.settle(used, { value })
    return { output, gas: used, hasFailed: false, layer }
  })
  if ('value' in printed) return printed.value
  const used = Math.min(gasLimit, Math.ceil(gas.used / 1000))
  trace?.settle(used, printed)
  const failed = { gas: used, result: { error: printed.error }, key: command.key, writes: null, metaData }
  const output = resultText({ ...failed, events: [], pact: null, txId: null }, limits)
  return { output, gas: used, hasFailed: true, layer: new Layer(state) }
}
