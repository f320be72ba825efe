/** State of one run of a test file: transactions, environment, results of expectations. */
import { ContractError, type TextPlace } from '../errors.ts'
import { language } from '../language.ts'
import { Module } from '../machine/ast.ts'
import { type BlockScope, emptyEnvironment, type GasMeter, type Message } from '../machine/environment.ts'
import { Evaluator } from '../machine/evaluator.ts'
import { runForm } from '../machine/execute.ts'
import type { Language } from '../machine/expander.ts'
import { SHADOW_ADVICE, shadowText } from '../machine/load-errors.ts'
import { newTransaction } from '../machine/scopes.ts'
import { refuseShadows, shadowsIn } from '../machine/shadows.ts'
import { Layer } from '../machine/state.ts'
import type { Form } from '../syntax/form.ts'
import { readProgram, readTest } from '../syntax/program.ts'
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
  /** The language of test files. */
  readonly #tests: Language
  /** The language of the current file. */
  #language: Language
  readonly #block: Writable<BlockScope>
  readonly #message: Writable<Message>
  #base = new Layer()
  #isInTransaction = false
  #topLevel: Form | null = null

  constructor(files: Files, file: string, languageOf: (test: TestRun) => Language) {
    const { block, message } = emptyEnvironment
    this.#tests = languageOf(this)
    this.#language = this.#tests
    this.files = files
    this.file = file
    this.#block = { ...block, rules: { ...block.rules, areKeysChecked: false } }
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
      for (const form of this.#open(file, text)) {
        this.#topLevel = form
        this.#reportShadows(form, around !== file && isContract(file))
        last = this.#runCommand(form, text)
      }
      return last
    } catch (error) {
      if (error instanceof ContractError) error.file ??= file
      throw error
    } finally {
      this.file = around
      this.text = textAround
      this.#speak(isContract(around) ? language : this.#tests)
    }
  }

  /**
   * Reads a file. A contract has no functions of test files and sees no imports at the top level.
   * @returns its top-level forms
   */
  #open(file: string, text: string): readonly Form[] {
    const isOfTests = !isContract(file)
    if (!isOfTests) this.evaluator.program.imports = new Map()
    this.#speak(isOfTests ? this.#tests : language)
    return isOfTests ? readTest(text) : readProgram(text)
  }

  #speak(spoken: Language): void {
    this.#language = spoken
    this.evaluator.speak(spoken)
  }

  /**
   * Reports names of natives that a form gives to something of its own. The form runs as on the network. A contract that
   * a test loads gets warnings, since networks accept it; anything else fails.
   */
  #reportShadows(form: Form, isLoaded: boolean): void {
    for (const { name, place, isBound } of shadowsIn([form], this.#language.reserved)) {
      const text = shadowText(name)
      if (isLoaded || isBound) this.output.push(`WARNING ${placeText(this.file, place)}: ${text}: ${SHADOW_ADVICE}`)
      else this.fail(text, place, SHADOW_ADVICE)
    }
  }

  /** Refuses names of natives in a form that an expectation runs. Those at the top level are reported before. */
  refuseShadows(form: Form): void {
    if (form !== this.#topLevel) refuseShadows(form, this.#language.reserved)
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

/** True for a file of contracts, which tests load and networks run. */
function isContract(file: string): boolean {
  return file.endsWith('.pact')
}

/** Lines and columns count from 1 here. */
function placeText(file: string, { line, column }: TextPlace): string {
  return `${file}:${line + 1}:${column + 1}`
}
