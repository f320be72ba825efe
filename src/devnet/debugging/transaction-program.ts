/** A recorded transaction as a program to debug. */
import { parsePlainJson } from '#ground/base/json.ts'
import { evalError, NOWHERE, type TextPlace } from '#language/contracts/errors.ts'
import type { Module } from '#language/contracts/machine/ast.ts'
import type { GasMeter } from '#language/contracts/machine/environment.ts'
import { MissingEntry } from '#language/contracts/machine/state.ts'
import { read } from '#language/contracts/syntax/reader.ts'
import { CodeStops } from '#language/debugger/code-stops.ts'
import { type DebuggedProgram, gasText, type ProgramEnd, placeWithin } from '#language/debugger/debug-program.ts'
import type { ProgramFollower } from '#language/debugger/program-follower.ts'
import type { Command } from '../command/command.ts'
import { CommandFault, readCommand } from '../command/read.ts'
import { contextOf, type EntryRequest, type Recording } from '../execution/recording.ts'
import type { CommandFollower } from '../ledger/command-trace.ts'
import type { EncodedModule } from '../ledger/entry-codec.ts'
import { executeInBlock } from '../ledger/execute.ts'
import { provenPact } from '../ledger/proven-pact.ts'
import { RecordedState } from './recorded-state.ts'
import { TRANSACTION_SOURCE } from './transaction-thread.ts'

export class TransactionProgram implements DebuggedProgram {
  readonly output: readonly string[] = []
  readonly tests = []
  readonly failed = 0
  readonly #command: Command
  readonly #ask: (wanted: EntryRequest) => unknown
  readonly #texts = new Map<string, string>()
  /** Position of each text in that of its transaction. */
  readonly #origins = new Map<string, TextPlace>()
  readonly #stops = new Map<string, CodeStops>()
  #recording: Recording
  /** The module that is rebuilt now. */
  #rebuilt: string | null = null
  #part: { readonly name: string; readonly gas: GasMeter | null } | null = null

  /** @param ask records the transaction again, with an entry more; returns null if the node does not */
  constructor(recording: Recording, ask: (wanted: EntryRequest) => unknown) {
    const command = readCommand(recording.command)
    if (command instanceof CommandFault) throw new Error(`the command does not parse: ${command.message}`)
    this.#command = command
    this.#recording = recording
    this.#ask = ask
    const { payload } = command
    this.#texts.set(TRANSACTION_SOURCE, payload.kind === 'exec' ? payload.code.text : '')
  }

  get sources(): readonly string[] {
    return [...this.#texts.keys()]
  }

  /** Steps lead through the code, not through the purchase of its gas. Breakpoints stop everywhere. */
  get isStoppable(): boolean {
    return this.#part !== null && !this.#part.name.endsWith(' gas')
  }

  get gas() {
    if (this.#part === null) return []
    const { name, gas } = this.#part
    if (gas === null) return [{ name, text: 'free' }]
    return [{ name, text: `${gasText(gas.used)} of ${gasText(gas.limit)}` }]
  }

  sourceOf(_: Module | null): string {
    return this.#rebuilt ?? TRANSACTION_SOURCE
  }

  placeIn(source: string, place: TextPlace): TextPlace {
    return placeWithin(this.#origins.get(source) ?? NOWHERE, place)
  }

  stopsIn(source: string): CodeStops {
    let stops = this.#stops.get(source)
    if (stops === undefined) {
      const { payload } = this.#command
      const own = payload.kind === 'exec' ? payload.code.forms : []
      stops = new CodeStops(source === TRANSACTION_SOURCE ? own : read(this.#texts.get(source) ?? ''))
      this.#stops.set(source, stops)
    }
    return stops
  }

  textOf(source: string): string | null {
    return this.#texts.get(source) ?? null
  }

  run(follower: ProgramFollower): ProgramEnd {
    const { block } = this.#recording
    const { miner, isPrivileged, ...options } = block
    const state = new RecordedState(this.#recording, follower, {
      begin: (module) => this.#beginModule(module),
      end: () => {
        this.#rebuilt = null
      },
      find: (wanted) => this.#find(wanted),
    })
    const executing = {
      context: contextOf(this.#recording),
      miner,
      isPrivileged: () => isPrivileged,
      readProof: (...[run, , proof]: Parameters<Parameters<typeof executeInBlock>[1]['readProof']>) => {
        const known = this.#recording.proofs.find((each) => each.proof === proof)
        if (known === undefined) throw evalError('Continuation error: the recording has no answer to this proof')
        if ('fault' in known) throw evalError(`Continuation error: ${known.fault}`)
        return provenPact(run, known.output)
      },
    }
    const executed = executeInBlock(state, executing, this.#command, { ...options, trace: this.#followerOf(follower) })
    if ('refused' in executed) return { text: executed.refused, hasFailed: true }
    const { result } = parsePlainJson(executed.output) as { readonly result: ExecutedResult }
    const text = result.status === 'success' ? JSON.stringify(result.data) : (result.error?.message ?? '')
    return { text: `${result.status}, gas ${executed.gas}: ${text}`, hasFailed: executed.hasFailed }
  }

  #beginModule({ namespace, code, place }: EncodedModule): void {
    const [form] = read(code)
    const name = form?.form === 'call' && form.items[1]?.form === 'atom' ? form.items[1].name : ''
    this.#rebuilt = namespace === null ? name : `${namespace}.${name}`
    this.#texts.set(this.#rebuilt, code)
    this.#origins.set(this.#rebuilt, place)
  }

  #followerOf(follower: ProgramFollower): CommandFollower {
    return {
      tracer: follower,
      part: (name, gas, body) => {
        this.#part = { name, gas }
        return follower.runPart(name, body)
      },
      line: () => undefined,
      settle: () => undefined,
    }
  }

  /** Asks the node for an entry that stands by itself. */
  #find(wanted: EntryRequest): Recording | null {
    return this.#ask(wanted) as Recording | null
  }

  supply(error: unknown): boolean {
    if (!(error instanceof MissingEntry)) return false
    const { domain, key } = error
    const more = this.#ask({ domain, key }) as Recording | null
    if (more === null) return false
    this.#recording = more
    return true
  }
}

interface ExecutedResult {
  readonly status: 'success' | 'failure'
  readonly data?: unknown
  readonly error?: { readonly message: string }
}
