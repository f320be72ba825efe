/** Executes a command with a trace: as in its block, or on top of a chain. */

import type { MinerAccount } from '#ground/chain/payload.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import type { Command } from '../command/command.ts'
import type { BlockContext } from './block-context.ts'
import { CommandTrace } from './command-trace.ts'
import { executeInBlock } from './execute.ts'
import { codeFault, gasFault, NO_MINER, runLocally } from './local.ts'
import type { ProofReader, RefusedCommand } from './transaction.ts'

/** A command with its trace. */
export interface TracedCommand {
  /** JSON text with the fields `trace`, `nodes`, `omitted` and `modules` of schema/trace.ts. */
  readonly trace: string
  /** JSON text of the result. */
  readonly output: string
  readonly gas: number
  readonly hasFailed: boolean
  /** How the run differs from one in a block; null for no difference. */
  readonly note: string | null
}

/** Place of a command in a block. */
interface TracedBlock {
  readonly miner: MinerAccount
  readonly txId: number
  readonly gasLimit: number
  readonly isPrivileged: boolean
}

/**
 * Executes a command without keeping its writes.
 * @param block null for a command that is in no block. If its sender cannot pay for gas, only its code runs
 */
export function traceOf(
  state: ReadableState,
  { context, readProof }: { readonly context: BlockContext; readonly readProof: ProofReader },
  command: Command,
  block: TracedBlock | undefined,
): TracedCommand | RefusedCommand {
  const trace = new CommandTrace()
  if (block === undefined) {
    const fault = codeFault(command) ?? gasFault(state, context, command)
    if (fault !== null) {
      const output = runLocally(state, context, command, readProof, trace)
      const { gas, status } = resultIn(output)
      return { trace: textOfTrace(trace), output, gas, hasFailed: status !== 'success', note: withoutPayer(fault) }
    }
  }
  const { miner, isPrivileged, ...options } = block ?? {
    miner: NO_MINER,
    isPrivileged: false,
    txId: state.get<number>('counters', 'tx') ?? 0,
    gasLimit: Math.min(command.meta.gasLimit, context.rules.blockGas),
  }
  const executing = { context, miner, readProof, isPrivileged: () => isPrivileged }
  const executed = executeInBlock(state, executing, command, { ...options, trace })
  if ('refused' in executed) return executed
  const { output, gas, hasFailed } = executed
  return { trace: textOfTrace(trace), output, gas, hasFailed, note: null }
}

function withoutPayer(fault: string): string {
  return `only the code ran, without its gas being bought: ${fault}`
}

function resultIn(output: string): { readonly gas: number; readonly status: string } {
  const { gas, result } = JSON.parse(output) as { readonly gas: number; readonly result: { readonly status: string } }
  return { gas, status: result.status }
}

/** JSON text of the fields of a trace. */
export function textOfTrace({ tracer: { root, nodes, omitted, modules } }: CommandTrace): string {
  return JSON.stringify({ trace: root, nodes, omitted, modules })
}
