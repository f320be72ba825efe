/** A run of a test file of the language: its transactions, its environment, and what it expected. */
import { ContractError, type TextPlace } from '../errors.ts'
import { Module } from '../machine/ast.ts'
import { type BlockScope, emptyEnvironment, type GasMeter, type Message } from '../machine/environment.ts'
import { Evaluator } from '../machine/evaluator.ts'
import { runForm } from '../machine/execute.ts'
import type { Language } from '../machine/expander.ts'
import { newTransaction } from '../machine/scopes.ts'
import { Layer } from '../machine/state.ts'
import type { Form } from '../syntax/form.ts'
import { read } from '../syntax/reader.ts'
import type { Value } from '../values/value.ts'

export interface TestFailure {
  readonly file: string
  readonly place: TextPlace
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

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Hash of no command. */
const TEST_HASH = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g'

export class TestRun {
  passed = 0
  readonly failures: TestFailure[] = []
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
  /** Of the transaction under way, or of the commands outside of transactions. */
  evaluator: Evaluator
  readonly #language: Language
  readonly #block: Writable<BlockScope>
  readonly #message: Writable<Message>
  #base = new Layer()
  #isInTransaction = false

  constructor(files: Files, file: string, languageOf: (test: TestRun) => Language) {
    const { block, message } = emptyEnvironment
    this.#language = languageOf(this)
    this.files = files
    this.file = file
    this.#block = { ...block, rules: { ...block.rules, areKeysChecked: false } }
    this.#message = { ...message, data: new Map(), hash: TEST_HASH }
    this.evaluator = this.#newEvaluator(this.#base)
  }

  /** Runs a file. Throws ContractError where it fails outside of what it expects. */
  runFile(file: string): Value {
    const [around, textAround] = [this.file, this.text]
    this.file = file
    try {
      const text = this.files.read(file)
      this.text = text
      let last: Value = ''
      for (const form of read(text)) last = this.#runCommand(form, text)
      return last
    } catch (error) {
      if (error instanceof ContractError) error.file ??= file
      throw error
    } finally {
      this.file = around
      this.text = textAround
    }
  }

  /**
   * Runs a form at the top level as a command of its own, which may run a pact. A file that another one loads is read
   * while the call of `load` is under way: its forms begin without it.
   */
  #runCommand(form: Form, text: string): Value {
    const { call, program } = this.evaluator
    call.frames.length = 0
    call.depth = 0
    program.hasRunPact = false
    return runForm(this.evaluator, form, text) as Value
  }

  /** Changes what code is told of the block, at once. */
  changeBlock(changes: Partial<BlockScope>): void {
    Object.assign(this.#block, changes)
  }

  /** Changes what the command says, at once. */
  changeMessage(changes: Partial<Message>): void {
    Object.assign(this.#message, changes)
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
    if (keeps) this.evaluator.transaction.state.mergeInto(this.#base)
    this.#fresh(this.#base)
    return true
  }

  /** Runs what may fail. A failure takes back all that it did. */
  attempt<T>(body: () => T, failed: (error: ContractError) => T): T {
    const { evaluator } = this
    const { transaction } = evaluator
    const before = evaluator.mark()
    const { state } = transaction
    const layer = new Layer(state)
    transaction.state = layer
    try {
      const result = body()
      transaction.state = state
      layer.mergeInto(state)
      return result
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      evaluator.back(before)
      return failed(error)
    }
  }

  pass(): void {
    this.passed++
  }

  fail(name: string, place: TextPlace, what: string): void {
    this.failures.push({ file: this.file, place, name, what })
  }

  /** An evaluator without capabilities, imports and events of the transaction before. */
  #fresh(state: Layer): void {
    const { lastPact } = this.evaluator.program
    this.evaluator = this.#newEvaluator(state)
    this.evaluator.program.lastPact = lastPact
  }

  #newEvaluator(state: Layer): Evaluator {
    const test = this
    const gas: GasMeter = {
      get used() {
        return test.gas.used
      },
      set used(used: number) {
        if (test.isGasCounted) test.gas.used = used
      },
      get limit() {
        return test.gas.limit
      },
    }
    return new Evaluator(this.#language, this.#block, newTransaction(this.#message, state, gas))
  }
}
