/** Main module of the execution thread: runs one task after the other. The node ends the thread if a task takes too long. */
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { evalError } from '../../contracts/errors.ts'
import type { SpvSupport } from '../../contracts/machine/environment.ts'
import type { ReadableState } from '../../contracts/machine/state.ts'
import { type KeptValue, keepValue, keptValue } from '../../contracts/values/keep.ts'
import type { ObjectValue } from '../../contracts/values/value.ts'
import { describeError, NewcutError } from '../../core/errors.ts'
import { CommandFault, readCommand } from '../command/read.ts'
import { executeInBlock } from '../ledger/execute.ts'
import { keepEntry } from '../ledger/kept-entry.ts'
import { codeFault, payerFault, runLocally, runPreflight, trialFault } from '../ledger/local.ts'
import { printing } from '../ledger/printing.ts'
import { provenPact } from '../ledger/proven-pact.ts'
import { traceOf } from '../ledger/trace.ts'
import type { ProofReader } from '../ledger/transaction.ts'
import {
  type CommandTask,
  type FromThread,
  type TaskResult,
  type ThreadAnswer,
  type ThreadData,
  type ThreadQuestion,
  TO_NODE,
  TO_THREAD,
} from './messages.ts'
import { signedToo } from './overrides.ts'
import { RemoteModules, RemoteState } from './remote-state.ts'

const { port, signals, genesis } = workerData as ThreadData & { readonly port: MessagePort }

function tell(message: FromThread): void {
  port.postMessage(message)
  Atomics.add(signals, TO_NODE, 1)
  Atomics.notify(signals, TO_NODE)
}

function ask(question: ThreadQuestion): unknown {
  tell({ question })
  for (;;) {
    const seen = Atomics.load(signals, TO_THREAD)
    const received = receiveMessageOnPort(port) as { readonly message: ThreadAnswer } | undefined
    if (received === undefined) {
      Atomics.wait(signals, TO_THREAD, seen)
      continue
    }
    if ('refused' in received.message) throw evalError(received.message.refused)
    if ('failed' in received.message) throw new NewcutError('DATA_UNUSABLE', 'the node cannot read its state')
    return received.message.answer
  }
}

const modules = new RemoteModules(ask, genesis)

const readProof: ProofReader = (run, _context, proof) => {
  const verified = ask({ ask: 'proof', proof }) as { readonly output: string } | { readonly fault: string }
  if ('fault' in verified) throw evalError(`Continuation error: ${verified.fault}`)
  return provenPact(run, verified.output)
}

const spv: SpvSupport = (type, proof) => {
  const verified = ask({ ask: 'spv', type, object: keepValue(proof) }) as
    | { readonly kept: KeptValue }
    | { readonly fault: string }
  return 'fault' in verified ? verified : { value: keptValue(verified.kept) as ObjectValue }
}

function run({ kind, command: signed, context: sent, block, keys = [] }: CommandTask): TaskResult {
  const context = { ...sent, spv }
  const command = readCommand(signed)
  if (command instanceof CommandFault) throw new Error(`a command does not parse: ${command.message}`)
  const state: ReadableState = new RemoteState(ask, modules)
  switch (kind) {
    case 'local': {
      const [text, printed] = printing(context, (within) => runLocally(state, within, command, readProof))
      return { text, isPlain: true, printed }
    }
    case 'preflight': {
      // Live nodes report code that does not parse in the plain form, without preflight.
      if (codeFault(command) !== null) return { text: runLocally(state, context, command, readProof), isPlain: true }
      const refused = payerFault(state, context, command)
      if (refused !== null) return { refused, isFinal: true }
      const [text, printed] = printing(context, (within) => runPreflight(state, within, command, readProof))
      return { text, isPlain: false, printed }
    }
    case 'trial': {
      const refused = trialFault(state, context, command)
      return refused === null ? { passed: true } : { refused, isFinal: true }
    }
    case 'trace':
      return traceOf(state, { context, readProof }, signedToo(command, keys), block)
    case 'execute': {
      if (block === undefined) throw new Error('a task without a block')
      const { miner, isPrivileged, ...options } = block
      const executing = { context, miner, readProof, isPrivileged: () => isPrivileged }
      const executed = executeInBlock(state, executing, command, options)
      if ('refused' in executed) return executed
      const { output, gas, hasFailed, layer, printed } = executed
      const writes = [...layer.entries()].map(({ domain, key, value }) => {
        return { domain, key, json: keepEntry(domain, value, modules) }
      })
      return { output, gas, hasFailed, writes, modules: modules.takeMade(), printed }
    }
  }
}

port.on('message', (task: CommandTask) => {
  try {
    tell({ result: run(task) })
  } catch (error) {
    tell({ broken: describeError(error) })
  }
})

tell({ ready: true })
