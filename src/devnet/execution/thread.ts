/**
 * Main module of the execution thread: runs one task after the other. The node ends the thread if a task takes too long,
 * and leaves it to the next network of the process when it closes.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { evalError } from '#language/contracts/errors.ts'
import type { SpvSupport } from '#language/contracts/machine/environment.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import { decodeStoredValue, encodeStoredValue, type StoredValue } from '#language/contracts/values/keep.ts'
import type { ObjectValue } from '#language/contracts/values/value.ts'
import { CommandFault, readCommand } from '../command/read.ts'
import { CommandTrace } from '../ledger/command-trace.ts'
import { encodeEntry } from '../ledger/entry-codec.ts'
import { executeInBlock } from '../ledger/execute.ts'
import { gatherPrints } from '../ledger/gather-prints.ts'
import { codeFault, payerFault, runLocally, runPreflight, trialFault } from '../ledger/local.ts'
import { provenPact } from '../ledger/proven-pact.ts'
import { textOfTrace, traceOf } from '../ledger/trace.ts'
import type { ProofReader } from '../ledger/transaction.ts'
import { loadSlhDsa, verdictsOn } from '../mempool/slh-dsa.ts'
import { executionErrors } from './errors.ts'
import {
  type CommandTask,
  type FromThread,
  type SignatureTask,
  type TaskResult,
  type ThreadAnswer,
  type ThreadData,
  type ThreadQuestion,
  TO_NODE,
  TO_THREAD,
} from './messages.ts'
import { addSigners } from './overrides.ts'
import { linuxThreadId } from './processor-time.ts'
import { RemoteModules, RemoteState } from './remote-state.ts'

/** Executes tasks for a network, until the node closes the port. */
class ThreadService {
  readonly #port: MessagePort
  readonly #signals: ThreadData['signals']
  readonly #modules: RemoteModules

  constructor({ port, signals, genesis }: ThreadData) {
    this.#port = port
    this.#signals = signals
    this.#modules = new RemoteModules(this.#ask, genesis)
    port.on('message', (task: CommandTask | SignatureTask) => {
      if (task.kind === 'signatures') {
        void loadSlhDsa()
          .then(() => this.#answer(() => ({ verdicts: verdictsOn(task.command) })))
          .catch((error: unknown) => this.#send({ broken: describeError(error) }))
      } else {
        this.#answer(() => this.#run(task))
      }
    })
    this.#send({ ready: true, threadId: linuxThreadId() })
  }

  #answer(run: () => TaskResult): void {
    try {
      this.#send({ result: run() })
    } catch (error) {
      this.#send({ broken: describeError(error) })
    }
  }

  #send(message: FromThread): void {
    this.#port.postMessage(message)
    Atomics.add(this.#signals, TO_NODE, 1)
    Atomics.notify(this.#signals, TO_NODE)
  }

  readonly #ask = (question: ThreadQuestion): unknown => {
    this.#send({ question })
    for (;;) {
      const seen = Atomics.load(this.#signals, TO_THREAD)
      const received = receiveMessageOnPort(this.#port) as { readonly message: ThreadAnswer } | undefined
      if (received === undefined) {
        Atomics.wait(this.#signals, TO_THREAD, seen)
        continue
      }
      if ('refused' in received.message) throw evalError(received.message.refused)
      if ('failed' in received.message) throw operatingError(executionErrors.stateUnreadable)
      return received.message.answer
    }
  }

  readonly #readProof: ProofReader = (run, _context, proof) => {
    const verified = this.#ask({ ask: 'proof', proof }) as { readonly output: string } | { readonly fault: string }
    if ('fault' in verified) throw evalError(`Continuation error: ${verified.fault}`)
    return provenPact(run, verified.output)
  }

  readonly #spv: SpvSupport = (type, proof) => {
    const verified = this.#ask({ ask: 'spv', type, object: encodeStoredValue(proof) }) as
      | { readonly kept: StoredValue }
      | { readonly fault: string }
    return 'fault' in verified ? verified : { value: decodeStoredValue(verified.kept) as ObjectValue }
  }

  #run({ kind, command: signed, context: sent, block, keys = [], isTraced = false }: CommandTask): TaskResult {
    const context = { ...sent, spv: this.#spv }
    const command = readCommand(signed)
    if (command instanceof CommandFault) throw new Error(`a command does not parse: ${command.message}`)
    const readProof = this.#readProof
    const state: ReadableState = new RemoteState(this.#ask, this.#modules)
    switch (kind) {
      case 'local': {
        const [text, printed] = gatherPrints(context, (within) => runLocally(state, within, command, readProof))
        return { text, isPlain: true, printed }
      }
      case 'preflight': {
        // Live nodes report code that does not parse in the plain form, without preflight.
        if (codeFault(command) !== null) return { text: runLocally(state, context, command, readProof), isPlain: true }
        const fault = payerFault(state, context, command)
        if (fault !== null) return { refused: fault, isFinal: true }
        const [text, printed] = gatherPrints(context, (within) => runPreflight(state, within, command, readProof))
        return { text, isPlain: false, printed }
      }
      case 'trial': {
        const fault = trialFault(state, context, command)
        return fault === null ? { passed: true } : { refused: fault, isFinal: true }
      }
      case 'trace':
        return traceOf(state, { context, readProof }, addSigners(command, keys), block)
      case 'execute': {
        if (block === undefined) throw new Error('a task without a block')
        const { miner, isPrivileged, ...options } = block
        const executing = { context, miner, readProof, isPrivileged: () => isPrivileged }
        const trace = isTraced ? new CommandTrace() : undefined
        const executed = executeInBlock(state, executing, addSigners(command, keys), {
          ...options,
          ...(trace && { trace }),
        })
        if ('refused' in executed) return executed
        const { output, gas, hasFailed, layer, printed } = executed
        const writes = layer.entries().map(({ domain, key, value }) => {
          return { domain, key, json: encodeEntry(domain, value, this.#modules) }
        })
        const outcome = { output, gas, hasFailed, writes, modules: this.#modules.takeCreated(), printed }
        return trace === undefined ? outcome : { ...outcome, traceText: textOfTrace(trace) }
      }
    }
  }
}

const serve = (data: ThreadData) => void new ThreadService(data)
serve(workerData)
// The next network, once this one has closed.
parentPort?.on('message', serve)
