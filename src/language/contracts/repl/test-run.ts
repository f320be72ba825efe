/** State of one run of a test file: transactions, environment, results of expectations. */
import { ContractError, NOWHERE, type TextPlace } from '../errors.ts'
import type { BlockScope, GasCharge, Message } from '../machine/environment.ts'
import { Evaluator } from '../machine/evaluate/evaluator.ts'
import type { Language } from '../machine/expand/expander.ts'
import { shadowsNative } from '../machine/expand/load-errors.ts'
import { refuseShadows, shadowsIn } from '../machine/expand/shadows.ts'
import { runForm } from '../machine/load/execute.ts'
import { addLocation, newTransaction } from '../machine/scopes.ts'
import { Layer } from '../machine/state.ts'
import type { Form } from '../syntax/form.ts'
import { readProgram, readTest } from '../syntax/program.ts'
import type { RunObserver } from '../trace/observer.ts'
import { TracingEvaluator } from '../trace/tracing-evaluator.ts'
import type { Value } from '../values/value.ts'
import { SourceSpans } from './source-spans.ts'
import { isContract, moduleIn } from './test-forms.ts'
import { type FormGas, TestGas } from './test-gas.ts'
import type { FailureDetail, TestCase, TestFailure, TestStart } from './test-results.ts'
import {
  endAtFailure,
  type ForkedChain,
  initialBlock,
  initialMessage,
  type OpenTransaction,
  type TestFiles,
  type TestLanguages,
  type TestRunOptions,
  testDefinitions,
} from './test-start.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

export class TestRun {
  passed = 0
  readonly failures: TestFailure[] = []
  readonly output: string[] = []
  readonly files: TestFiles
  file: string
  /** Source text of the current file. */
  text = ''
  readonly gas: TestGas
  /** Gas of each form at the top level of the files so far. A form that loads a file does not include its forms. */
  readonly formGas: FormGas[] = []
  /** Definitions at the top level of test files. */
  readonly definitions = testDefinitions()
  /** Evaluator of the open transaction, or of the commands outside of transactions. */
  evaluator: Evaluator
  /** The innermost form at the top level of a file that failed, unless a form around it caught the error. */
  failedForm: { readonly file: string; readonly place: TextPlace } | null = null
  /** All expectations so far, in the order of their evaluation. */
  readonly cases: TestCase[] = []
  readonly #observer: RunObserver | null
  readonly #languages: TestLanguages
  /** Qualified name of a module -> the file that loaded it. */
  readonly #fileOfModule = new Map<string, string>()
  /** The language of the current command. */
  #language: Language
  readonly #block: Writable<BlockScope>
  readonly #message: Writable<Message>
  /** True if modules of test files may use the natives of tests. */
  areNativesInModules = false
  readonly start: TestRunOptions
  readonly #nowMs: () => number
  /** The chain below everything; null for an empty one. */
  #chain: ForkedChain | null
  #base: Layer
  #isInTransaction = false
  #topLevel: Form | null = null
  /** The transaction that was begun. Null if another `begin-tx` failed meanwhile. */
  #tx: OpenTransaction | null = null
  #nextTx = 0
  readonly #spans = new SourceSpans()

  constructor(
    files: TestFiles,
    file: string,
    languagesOf: (test: TestRun) => TestLanguages,
    start: TestRunOptions = {},
  ) {
    const { observe = null, chain = null, nowMs = () => 0 } = start
    this.#nowMs = nowMs
    this.start = start
    this.gas = new TestGas(start.bounds)
    this.#chain = chain
    this.#base = new Layer(chain?.state)
    this.#languages = languagesOf(this)
    this.#language = this.#languages.all
    this.files = files
    this.file = file
    this.#observer = observe?.(this) ?? null
    this.#block = initialBlock(chain)
    this.#message = initialMessage()
    this.evaluator = this.#newEvaluator(this.#base)
  }

  /**
   * Runs a file.
   * @throws ContractError if it fails outside of an expectation
   */
  runFile(file: string): Value {
    const text = this.files.read(file)
    const [around, textAround, language] = [this.file, this.text, this.#language]
    this.#enterFile(file, text)
    // A .pact file sees nothing of the file that loads it.
    if (isContract(file)) this.evaluator.program.imports.clear()
    try {
      let last: Value = ''
      const forms = isContract(file) ? readProgram(text) : readTest(text)
      for (const form of forms) this.#refuseShadows(form)
      for (const form of forms) {
        this.#topLevel = form
        last = this.#runCommand(form, text)
      }
      return last
    } catch (error) {
      if (error instanceof ContractError) error.addLocation({ file })
      throw error
    } finally {
      this.#enterFile(around, textAround)
      this.#useLanguage(language)
    }
  }

  #enterFile(file: string, text: string): void {
    Object.assign(this, { file, text })
    this.changeBlock({ file: this.#spans.addFile(this.#nameOf(file), text) })
  }

  /** Refuses a file whose form gives the name of a native to something of its own, but warns only of bindings. */
  #refuseShadows(form: Form): void {
    let refused: ContractError | null = null
    for (const { name, place, isBound } of shadowsIn([form], this.#reserved, this.text)) {
      const error = shadowsNative(name, place)
      if (!isBound) refused ??= error
      if (refused !== error) this.output.push(`WARNING ${this.locationOf(place)}: ${error.message}`)
    }
    this.failedForm = refused && { file: this.file, place: form.place }
    if (refused !== null) throw refused
  }

  /** Refuses names of natives in a form that an expectation runs. Those at the top level are reported before. */
  refuseShadows(form: Form): void {
    if (form !== this.#topLevel) refuseShadows(form, this.#reserved)
  }

  get #reserved(): ReadonlySet<string> {
    return this.#languages[isContract(this.file) ? 'core' : 'all'].reserved
  }

  /**
   * Runs a top-level form as a command of its own.
   *
   * `load` reads a file inside a call, so the call stack is cleared first.
   */
  #runCommand(form: Form, text: string): Value {
    const { call } = this.evaluator
    call.frames.length = 0
    call.depth = 0
    this.#useLanguage(this.#languageOf(form))
    const [charged, listed, failed] = [this.gas.charged, this.formGas.length, this.failures.length]
    const { file } = this
    let ended: unknown = null
    this.#observer?.beginForm({ file, place: form.place, text: text.slice(form.from, form.to) })
    try {
      const result = runForm(this.evaluator, form, text) as Value
      const name = moduleIn(form)
      const { namespace } = this.evaluator.program
      if (name !== null) this.#fileOfModule.set(namespace === null ? name : `${namespace}.${name}`, file)
      this.failedForm = null
      return result
    } catch (error) {
      ended = error
      this.failedForm ??= { file, place: form.place }
      if (error instanceof ContractError) this.#locate(error, form)
      throw error
    } finally {
      this.#observer?.endForm(ended !== null || this.failures.length > failed, ended)
      const within = this.formGas.slice(listed).reduce((sum, { milligas }) => sum + milligas, 0)
      const [line] = text.slice(form.from, form.to).split('\n', 1)
      const milligas = this.gas.charged - charged - within
      this.formGas.splice(listed, 0, { file, place: form.place, text: line, milligas })
    }
  }

  /** Adds the place of the form to an error that has none, and the file of its place: that of the module that failed. */
  #locate(error: ContractError, form: Form): void {
    if (error.file !== null) return
    const module = this.evaluator.call.frames.at(-1)?.module.name
    if (error.place === null) error.addLocation({ place: form.place })
    else if (module !== undefined) error.addLocation({ file: this.#fileOf(module) })
  }

  /** The file of a module. One that no file of this run has comes from a forked network: its text has a name. */
  #fileOf(module: string): string | null {
    return this.#fileOfModule.get(module) ?? (this.#chain === null ? null : `module ${module}`)
  }

  /** Runs a module or an import within an expectation. */
  runInside(form: Form): Value {
    const language = this.#language
    this.#useLanguage(this.#languageOf(form))
    try {
      return runForm(this.evaluator, form, this.text) as Value
    } finally {
      this.#useLanguage(language)
    }
  }

  #languageOf(form: Form): Language {
    const { all, core, guarded } = this.#languages
    if (isContract(this.file)) return core
    return moduleIn(form) !== null && !this.areNativesInModules ? guarded : all
  }

  #useLanguage(language: Language): void {
    this.#language = language
    this.evaluator.useLanguage(language)
  }

  /** Changes the block data that code sees, at once. */
  changeBlock(changes: Partial<BlockScope>): void {
    Object.assign(this.#block, changes)
  }

  /** Changes the command's message, at once. */
  changeMessage(changes: Partial<Message>): void {
    Object.assign(this.#message, changes)
  }

  /**
   * Begins a transaction. Capabilities, imports and the namespace of earlier commands stay.
   * @returns null if a transaction is open
   */
  begin(name: string | null): OpenTransaction | null {
    if (this.#isInTransaction) {
      this.#tx = null
      return null
    }
    this.#isInTransaction = true
    this.#tx = { id: this.#nextTx, name }
    this.evaluator.transaction.state = new Layer(this.#base)
    return this.#tx
  }

  /**
   * Ends the transaction, and commits or discards its writes.
   * @returns `none` if no transaction is open
   */
  end(keeps: boolean): OpenTransaction | null | 'none' {
    if (!this.#isInTransaction) return 'none'
    this.#isInTransaction = false
    if (keeps) {
      this.evaluator.transaction.state.mergeInto(this.#base)
      this.#nextTx++
    }
    this.#renewEvaluator(this.#base)
    const ended = this.#tx
    this.#tx = null
    return ended
  }

  /** Forgets transactions, data, environment and fork, as at the start. Results and output stay. */
  reset(): void {
    this.#chain = this.start.chain ?? null
    this.#base = new Layer(this.#chain?.state)
    this.#isInTransaction = false
    this.#tx = null
    this.#nextTx = 0
    Object.assign(this.#block, initialBlock(this.#chain))
    Object.assign(this.#message, initialMessage())
    this.gas.reset()
    this.definitions.definitions.clear()
    this.#renewEvaluator(this.#base)
  }

  /**
   * Runs `body` as if all before was committed: its transactions begin from the current state, without capabilities and
   * imports. Nothing of it stays, except results and output.
   */
  runIsolated<T>(body: () => T): T {
    const { evaluator } = this
    const [base, isInTransaction, tx, nextTx] = [this.#base, this.#isInTransaction, this.#tx, this.#nextTx]
    const [block, message] = [{ ...this.#block }, { ...this.#message }]
    this.#base = new Layer(evaluator.transaction.state)
    this.#isInTransaction = false
    this.#renewEvaluator(this.#base)
    try {
      return body()
    } finally {
      this.evaluator = evaluator
      this.#base = base
      this.#isInTransaction = isInTransaction
      this.#tx = tx
      this.#nextTx = nextTx
      Object.assign(this.#block, block)
      Object.assign(this.#message, message)
    }
  }

  get isInTransaction(): boolean {
    return this.#isInTransaction
  }

  get chain(): ForkedChain | null {
    return this.#chain
  }

  /** Why another chain would lose something, in words; null if it would not. */
  get unsavedWork(): string | null {
    if (this.#isInTransaction) return 'a transaction is open'
    const [written] = this.#base.entries()
    return written === undefined ? null : `the file has written already: ${written.domain} ${written.key}`
  }

  /** Puts a chain below everything, and its block around. Data, signers and definitions stay. */
  useChain(chain: ForkedChain): void {
    this.#chain = chain
    this.#base = new Layer(chain.state)
    this.changeBlock({ chain: chain.block })
    this.#renewEvaluator(this.#base)
  }

  /**
   * Runs `body`. A ContractError restores capabilities, events, imports and the state of pacts, but not rows, and
   * becomes the result of `failed`, with the place of its cause.
   */
  attempt<T>(body: () => T, failed: (error: ContractError, cause: FailureDetail['cause']) => T): T {
    const { evaluator } = this
    const before = evaluator.snapshot()
    try {
      return body()
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      addLocation(evaluator.call, error)
      const module = evaluator.call.frames.at(-1)?.module.name
      const file = error.file ?? (module === undefined ? this.file : this.#fileOf(module))
      evaluator.restore(before)
      return failed(error, error.place === null || file === null ? null : { file, place: error.place })
    }
  }

  /** A place in the current file, as messages name it. */
  locationOf({ line, column }: TextPlace): string {
    return `${this.#nameOf(this.file)}:${line + 1}:${column + 1}`
  }

  #nameOf(file: string): string {
    return this.files.displayName?.(file) ?? file
  }

  get signers(): Message['signers'] {
    return this.#message.signers
  }

  /** Milligas of all code so far, for observers. */
  get milligas(): number {
    return this.gas.charged
  }

  /** The start of an expectation. @param isByChance whether it is a property test, whose gas depends on chance */
  startTest(isByChance = false): TestStart {
    return { ms: this.#nowMs(), milligas: isByChance ? null : this.milligas }
  }

  /** An expectation holds. */
  pass(name: string, place: TextPlace, start: TestStart): void {
    this.passed++
    this.#add(name, place, start, null, null)
  }

  /** An expectation, or a form at the top level, fails. */
  fail(name: string, place: TextPlace, what: string, start = this.startTest(), detail: FailureDetail | null = null) {
    endAtFailure(this, { file: this.file, place, name, what })
    this.failures.push({ file: this.file, place, name, what })
    this.#add(name, place, start, what, detail)
  }

  #add(name: string, place: TextPlace, start: TestStart, what: string | null, detail: FailureDetail | null): void {
    const milligas = start.milligas === null ? null : this.milligas - start.milligas
    this.cases.push({ file: this.file, place, name, what, detail, milligas, ms: this.#nowMs() - start.ms })
  }

  /** Starts an evaluator without the capabilities, imports and events of the previous transaction. */
  #renewEvaluator(state: Layer): void {
    this.evaluator = this.#newEvaluator(state)
    for (const [name, definition] of this.definitions.definitions) this.evaluator.program.imports.set(name, definition)
  }

  #newEvaluator(state: Layer): Evaluator {
    const whereOf = ({ place, module }: GasCharge) =>
      this.#spans.spanAt(module?.file ?? this.#nameOf(this.file), place ?? this.#topLevel?.place ?? NOWHERE)
    const transaction = newTransaction(this.#message, state, this.gas.meter(whereOf))
    const observer = this.#observer
    return observer === null
      ? new Evaluator(this.#language, this.#block, transaction)
      : new TracingEvaluator(this.#language, this.#block, transaction, observer)
  }
}
