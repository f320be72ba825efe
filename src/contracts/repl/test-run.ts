/** A run of a test file of the language: its transactions, its environment, and what it expected. */
import { ContractError, type Place } from '../errors.ts'
import { Module } from '../machine/ast.ts'
import type { NativeFunction } from '../machine/callables.ts'
import { type Environment, emptyEnvironment, type GasMeter } from '../machine/environment.ts'
import { Evaluator } from '../machine/evaluator.ts'
import { runForm } from '../machine/execute.ts'
import type { SpecialForms } from '../machine/expander.ts'
import type { PactRun } from '../machine/pacts.ts'
import { Layer } from '../machine/state.ts'
import { read } from '../syntax/reader.ts'
import type { Value } from '../values/value.ts'

export interface Failure {
  readonly file: string
  readonly place: Place
  readonly name: string
  /** What was expected and what came, as a sentence. */
  readonly what: string
}

/** Reads a file that a test loads. Throws when it cannot. */
export interface Files {
  /** `path` relative to the file `from`. */
  resolve(from: string, path: string): string
  read(file: string): string
}

export interface Language {
  readonly natives: ReadonlyMap<string, NativeFunction | Value>
  readonly forms: SpecialForms
}

/** Hash of no command. */
const TEST_HASH = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g'

export class TestRun {
  passed = 0
  readonly failures: Failure[] = []
  readonly output: string[] = []
  readonly files: Files
  file: string
  /** What the file says. */
  text = ''
  gas: { used: number; limit: number } = { used: 0, limit: Number.POSITIVE_INFINITY }
  /** Whether gas is counted; else everything is free. */
  isGasCounted = false
  /** Definitions at the top level. */
  readonly definitions = new Module({
    name: '#test',
    namespace: null,
    isInterface: false,
    code: '',
    hash: '',
    txHash: '',
    place: { line: 0, column: 0 },
  })
  machine: Evaluator
  readonly #language: Language
  #base = new Layer()
  #isInTransaction = false

  constructor(language: Language, files: Files, file: string) {
    this.#language = language
    this.files = files
    this.file = file
    this.machine = this.#newMachine(this.#base, {
      ...emptyEnvironment,
      data: new Map(),
      hash: TEST_HASH,
      rules: { ...emptyEnvironment.rules, areKeysChecked: false },
    })
  }

  /** Runs a file. Throws ContractError where it fails outside of what it expects. */
  runFile(file: string): Value {
    const [around, textAround] = [this.file, this.text]
    this.file = file
    try {
      const text = this.files.read(file)
      this.text = text
      let last: Value = ''
      for (const form of read(text)) {
        this.machine.frames = []
        this.machine.depth = 0
        this.machine.hasRunPact = false
        last = runForm(this.machine, this.#language.forms, form, text) as Value
      }
      return last
    } catch (error) {
      if (error instanceof ContractError) error.file ??= file
      throw error
    } finally {
      this.file = around
      this.text = textAround
    }
  }

  get forms(): SpecialForms {
    return this.#language.forms
  }

  setEnvironment(changes: Partial<Environment>): void {
    this.machine.environment = { ...this.machine.environment, ...changes }
  }

  begin(): boolean {
    if (this.#isInTransaction) return false
    this.#isInTransaction = true
    this.#fresh(new Layer(this.#base))
    return true
  }

  /** Ends the transaction: keeps what it wrote, or drops it. */
  end(keeps: boolean): boolean {
    if (!this.#isInTransaction) return false
    this.#isInTransaction = false
    if (keeps) this.machine.state.mergeInto(this.#base)
    this.#fresh(this.#base)
    return true
  }

  /** Runs what may fail. A failure takes back all that it did. */
  attempt<T>(run: () => T, failed: (error: ContractError) => T): T {
    const { machine } = this
    const before = machine.snapshot()
    const { imports, namespace, pact, lastPact, hasRunPact, loading, state } = machine
    const kept = { imports: new Map(imports), admin: new Set(machine.admin) }
    const layer = new Layer(state)
    machine.state = layer
    try {
      const result = run()
      // A transaction may have ended meanwhile.
      if (this.machine === machine) machine.state = state
      layer.mergeInto(state)
      return result
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      machine.restore(before)
      Object.assign(machine, {
        imports: kept.imports,
        admin: kept.admin,
        namespace,
        pact,
        lastPact,
        hasRunPact,
        loading,
        state,
      })
      return failed(error)
    }
  }

  pass(): void {
    this.passed++
  }

  fail(name: string, place: Place, what: string): void {
    this.failures.push({ file: this.file, place, name, what })
  }

  /** A machine without capabilities, imports and events of the transaction before. */
  #fresh(state: Layer): void {
    const lastPact: PactRun | null = this.machine.lastPact
    const { environment } = this.machine
    this.machine = this.#newMachine(state, environment)
    this.machine.lastPact = lastPact
  }

  #newMachine(state: Layer, environment: Environment): Evaluator {
    const run = this
    const gas: GasMeter = {
      get used() {
        return run.gas.used
      },
      set used(used: number) {
        if (run.isGasCounted) run.gas.used = used
      },
      get limit() {
        return run.gas.limit
      },
    }
    return new Evaluator(environment, state, gas, this.#language.natives)
  }
}
