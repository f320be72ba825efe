/** State of one run of a test file: transactions, environment, results of expectations. */
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
  /** Expected and actual result, as a sentence. */
  readonly what: string
}

/** Access to the files that a test loads. */
export interface Files {
  /** Resolves `path` relative to the file `from`. */
  resolve(from: string, path: string): string
  read(file: string): string
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Default transaction hash of tests. */
const TEST_HASH = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g'

export class TestRun {
  passed = 0
  readonly failures: TestFailure[] = []
  readonly output: string[] = []
  readonly files: Files
  file: string
  /** Source text of the current file. */
  text = ''
  gas: { used: number; limit: number } = { used: 0, limit: Number.POSITIVE_INFINITY }
  /** True if gas is counted; otherwise everything is free. */
  isGasCounted = false
  /** Definitions at the top level of test files. */
  readonly definitions = new Module({
    name: '#test',
    namespace: null,
    isInterface: false,
    code: '',
    hash: '',
    txHash: '',
    place: { line: 0, column: 0 },
  })
  /** Evaluator of the open transaction, or of the commands outside of transactions. */
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
    this.#block = { ...block, rules: { ...block.rules, areKeysChecked: false, areSizesOfRunner: true } }
    this.#message = { ...message, data: new Map(), hash: TEST_HASH }
    this.evaluator = this.#newEvaluator(this.#base)
  }

  /**
   * Runs a file.
   * @throws ContractError if it fails outside of an expectation
   */
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
   * Runs a top-level form as a command of its own, which may run a pact.
   *
   * `load` reads a file inside a call, so the call stack is cleared first.
   */
  #runCommand(form: Form, text: string): Value {
    const { call, program } = this.evaluator
    call.frames.length = 0
    call.depth = 0
    program.hasRunPact = false
    return runForm(this.evaluator, form, text) as Value
  }

  /** Changes the block data that code sees, at once. */
  changeBlock(changes: Partial<BlockScope>): void {
    Object.assign(this.#block, changes)
  }

  /** Changes the command's message, at once. */
  changeMessage(changes: Partial<Message>): void {
    Object.assign(this.#message, changes)
  }

  begin(): boolean {
    if (this.#isInTransaction) return false
    this.#isInTransaction = true
    this.#fresh(new Layer(this.#base))
    return true
  }

  /**
   * Ends the transaction, and commits or discards its writes.
   * @returns false if no transaction is open
   */
  end(keeps: boolean): boolean {
    if (!this.#isInTransaction) return false
    this.#isInTransaction = false
    if (keeps) this.evaluator.transaction.state.mergeInto(this.#base)
    this.#fresh(this.#base)
    return true
  }

  /** Runs `body`. A ContractError rolls back all its effects and becomes the result of `failed`. */
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

  /** Starts an evaluator without the capabilities, imports and events of the previous transaction. */
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
