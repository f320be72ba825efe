/**
 * `for-any-order` of test files: random sequences of calls, each in a transaction of its own. A failure is shrunk, and
 * printed as the transactions that reproduce it.
 */
import { ContractError } from '../errors.ts'
import { type Expr, ownerOf, type Run } from '../machine/ast.ts'
import { asText } from '../machine/evaluate/forms.ts'
import type { Expander, SpecialForm } from '../machine/expand/expander.ts'
import { exprOf } from '../machine/expand/expressions.ts'
import { Callable } from '../machine/term.ts'
import type { Form } from '../syntax/form.ts'
import { syntaxError } from '../syntax/lexer.ts'
import type { Value } from '../values/value.ts'
import { generate, isGenerator, type Random } from './generators.ts'
import {
  faultOfResult,
  formSource,
  type PropertyRuns,
  partsOf,
  randomFor,
  reproduce,
  shrink,
  shrinksOf,
} from './properties.ts'
import { asSource, signersSource } from './source-text.ts'
import { labelledParts } from './test-results.ts'
import type { TestRun } from './test-run.ts'
import { endAtFailure } from './test-start.ts'

/** Maximum calls of a sequence: longer ones take long to shrink. */
const MAX_CALLS = 16
/** Sequences of each smaller length that are tried after shrinking, and the maximum length of them. */
const SHORTER_DRAWS = 256
const SHORTER_CALLS = 3

/** Whether a listed call ever ended without a failure, and the text of its last failure. */
interface CallOutcomes {
  hasPassed: boolean
  failure: string | null
}

/** A call of a sequence: its position in the list, its arguments, and the keys that sign. */
interface DrawnCall {
  readonly at: number
  readonly args: readonly Value[]
  readonly keys: readonly string[]
}

/**
 * `(for-any-order NAME [CALLS] INVARIANT)`
 *
 * Runs the calls in random orders, with random values of the generators among their arguments. A random subset of the
 * current signers signs each call, with the capabilities of their signatures. Each call is a transaction, which a failure
 * rolls back. INVARIANT must be true after each. At the end of a sequence, everything is as it was before. If a call of
 * the list fails each time, a warning names it, because the property says nothing about it then.
 */
export const forAnyOrder =
  (test: TestRun, { seed, runs }: PropertyRuns): SpecialForm =>
  (call, expander, scope) => {
    const [nameForm, list, invariantForm] = partsOf(call, 3)
    if (list.form !== 'list' || list.items.length === 0) {
      throw syntaxError('for-any-order takes a list of calls', list.place)
    }
    const name = expander.expand(nameForm, scope)
    const invariant = expander.expand(invariantForm, scope)
    const calls = list.items.map((item) => expandListedCall(test, expander, item))
    return exprOf(call.place, (run, env) => {
      const start = test.startTest(true)
      const text = asText(run.evaluate(name, env), name.place)
      const fixed = calls.map(({ args }) => args.map(({ expr }) => run.value(expr, env)))
      const holds = () => faultOfResult(test.evaluator.evaluate(invariant, env))
      const outcomes = calls.map((): CallOutcomes => ({ hasPassed: false, failure: null }))
      const fault = (sequence: readonly DrawnCall[]) => {
        return test.runIsolated(() => faultOf(test, sequence, { calls, holds, outcomes }))
      }
      const random = randomFor(seed, text)
      const keys = [...test.signers.keys()]
      for (let i = 1; i <= runs; i++) {
        const sequence = Array.from({ length: 1 + Math.floor(random() * MAX_CALLS) }, () =>
          drawCall(fixed, keys, random),
        )
        const first = fault(sequence)
        if (first === null) continue
        endAtFailure(test, { file: test.file, place: call.place, name: text, what: first.why })
        const fails = (each: readonly DrawnCall[]) => fault(each) !== null
        const least = shrinkSequence(sequence, fixed, fails, () => drawCall(fixed, keys, random))
        const found = fault(least)
        const calledTimes = `${least.length} call${least.length === 1 ? '' : 's'}`
        const drawnBy = `in run ${i} of ${runs} with seed ${seed}`
        const what = `${found?.why} after ${calledTimes}, ${drawnBy}`
        const expectation = `(expect ${asSource(text)} true ${formSource(test, invariantForm)})`
        reproduce(test, call, linesOf(test, { least, refused: found?.refused ?? [], calls, fixed, expectation }))
        const inputs = least.map((one) => callSource(one, calls[one.at], fixed[one.at]))
        const detail = labelledParts({ expected: 'true', actual: found?.why ?? '', inputs, found: drawnBy })
        test.fail(text, call.place, what, start, detail)
        return `FAILURE: ${text}: ${what}`
      }
      warnOfFailingCalls(test, calls, outcomes)
      test.pass(text, call.place, start)
      return `For-any-order: success ${text}`
    })
  }

/** Shrinks a sequence. A still shorter one that no single step of shrinking leads to is found by chance. */
function shrinkSequence(
  sequence: readonly DrawnCall[],
  fixed: readonly (readonly Value[])[],
  fails: (each: readonly DrawnCall[]) => boolean,
  draw: () => DrawnCall,
): readonly DrawnCall[] {
  const least = shrink(sequence, (each) => shorterSequences(each, fixed), fails)
  for (let length = 1; length < Math.min(least.length, SHORTER_CALLS + 1); length++) {
    for (let i = 0; i < SHORTER_DRAWS; i++) {
      const drawnOne = Array.from({ length }, draw)
      if (fails(drawnOne)) return shrinkSequence(drawnOne, fixed, fails, draw)
    }
  }
  return least
}

/** Warns of calls that failed each time. */
function warnOfFailingCalls(test: TestRun, calls: readonly ListedCall[], outcomes: readonly CallOutcomes[]): void {
  for (const [i, { hasPassed, failure }] of outcomes.entries()) {
    if (hasPassed || failure === null) continue
    test.output.push(
      `WARNING ${test.locationOf(calls[i].fn.place)}: ${calls[i].head} failed each time, at last: ${failure}`,
    )
  }
}

interface ListedCall {
  readonly fn: Expr
  readonly head: string
  readonly args: readonly { readonly expr: Expr; readonly source: string }[]
}

function expandListedCall(test: TestRun, expander: Expander, form: Form): ListedCall {
  if (form.form !== 'call' || form.items.length === 0) throw syntaxError('a call of a function is expected', form.place)
  const [head, ...args] = form.items
  const expanded = args.map((arg) => ({ expr: expander.expand(arg, null), source: formSource(test, arg) }))
  return { fn: expander.expand(head, null), head: formSource(test, head), args: expanded }
}

function drawCall(fixed: readonly (readonly Value[])[], keys: readonly string[], random: Random): DrawnCall {
  const at = Math.floor(random() * fixed.length)
  return { at, args: fixed[at].map((arg) => generate(arg, random)), keys: keys.filter(() => random() < 0.7) }
}

interface SequenceChecks {
  readonly calls: readonly ListedCall[]
  readonly holds: () => string | null
  /** For each listed call. */
  readonly outcomes: readonly CallOutcomes[]
}

/** Why the invariant does not hold after a sequence, and the failures of its calls; null for a call that passed. */
interface SequenceFault {
  readonly why: string
  readonly refused: readonly (string | null)[]
}

/** Runs a sequence, until the invariant does not hold. */
function faultOf(
  test: TestRun,
  sequence: readonly DrawnCall[],
  { calls, holds, outcomes }: SequenceChecks,
): SequenceFault | null {
  const signers = test.signers
  const refused: (string | null)[] = []
  for (const { at, args, keys } of sequence) {
    test.changeMessage({ signers: signersOf(signers, keys) })
    const failure = runTransaction(test, true, () => {
      const run: Run = test.evaluator
      const fn = run.evaluate(calls[at].fn, null)
      if (fn instanceof Callable) run.apply(fn, args, calls[at].fn.place)
      return null
    })
    if (failure === null) outcomes[at].hasPassed = true
    else outcomes[at].failure = failure
    refused.push(failure)
    test.changeMessage({ signers })
    let isOver = false
    const broken = runTransaction(test, false, () => {
      const found = holds()
      isOver = true
      return found
    })
    if (broken !== null) return { why: isOver ? broken : `failed with "${broken}"`, refused }
  }
  return null
}

function signersOf(signers: TestRun['signers'], keys: readonly string[]): TestRun['signers'] {
  return new Map([...signers].filter(([key]) => keys.includes(key)))
}

/** Runs `body` in a transaction. A failure rolls it back, and is the result. */
function runTransaction(test: TestRun, keeps: boolean, body: () => string | null): string | null {
  test.begin(null)
  let hasFailed = true
  try {
    const result = body()
    hasFailed = false
    return result
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    return error.message
  } finally {
    test.end(keeps && !hasFailed)
  }
}

function shorterSequences(sequence: readonly DrawnCall[], fixed: readonly (readonly Value[])[]): DrawnCall[][] {
  const halves =
    sequence.length > 3 ? [sequence.slice(sequence.length >> 1), sequence.slice(0, sequence.length >> 1)] : []
  const fewer = sequence.length > 1 ? sequence.map((_, i) => sequence.filter((__, j) => j !== i)) : []
  const parts = sequence.flatMap((one, i) =>
    shrinksOf(one.args, fixed[one.at]).map((args) => sequence.with(i, { ...one, args })),
  )
  return [...halves, ...fewer, ...parts]
}

interface Counterexample {
  readonly least: readonly DrawnCall[]
  readonly refused: readonly (string | null)[]
  readonly calls: readonly ListedCall[]
  readonly fixed: readonly (readonly Value[])[]
  readonly expectation: string
}

/** The sequence as forms that stand in the place of the property. They leave a transaction open if it was. */
function linesOf(test: TestRun, { least, refused, calls, fixed, expectation }: Counterexample): string[] {
  const { signers, isInTransaction, evaluator } = test
  const { transaction, call, program } = evaluator
  const rights = [transaction.installed.length, transaction.admin.size, call.slots.length]
  // A first transaction takes rights and the namespace of the commands before it.
  const isFresh = rights.every((count) => count === 0) && program.namespace === null
  const written = least.flatMap((one, i) => {
    const source = callSource(one, calls[one.at], fixed[one.at])
    const failed = refused[i] ?? null
    const shown = failed === null ? source : `(expect-failure "refused" ${source})`
    const uses = importsOf(test, source)
    return ['(begin-tx)', ...uses, signersSource(signersOf(signers, one.keys)), shown, endForm(failed === null)]
  })
  return [
    ...(isInTransaction || isFresh ? [] : ['(begin-tx)']),
    ...(isInTransaction || !isFresh ? ['(commit-tx)'] : []),
    ...written,
    signersSource(signers),
    ...(isInTransaction ? ['(begin-tx)'] : []),
    ...importsOf(test, expectation),
    expectation,
  ]
}

const endForm = (keeps: boolean) => (keeps ? '(commit-tx)' : '(rollback-tx)')

function callSource({ args }: DrawnCall, { head, args: listed }: ListedCall, fixed: readonly Value[]): string {
  const shown = args.map((arg, i) => (isGenerator(fixed[i]) ? asSource(arg) : listed[i].source))
  return `(${[head, ...shown].join(' ')})`
}

/** Imports of the names that a text has without their modules: the end of a transaction forgets them. */
function importsOf(test: TestRun, source: string): string[] {
  const { imports } = test.evaluator.program
  const found = source.split(/[\s()[\]{}"',:]+/).flatMap((name) => {
    const definition = imports.get(name)
    return definition === undefined || test.definitions.get(name) === definition ? [] : [ownerOf(definition).name]
  })
  return [...new Set(found)].map((module) => `(use ${module})`)
}
