/**
 * Property tests: `for-all` tries random arguments, `for-any-order` random sequences of calls. A failure is shrunk, and
 * printed as the forms that reproduce it.
 */
import { ContractError } from '../errors.ts'
import type { Expr, Run } from '../machine/ast.ts'
import { type Expander, type SpecialForm, syntaxError } from '../machine/expander.ts'
import { exprOf } from '../machine/expressions.ts'
import { asText } from '../machine/forms.ts'
import { Layer } from '../machine/state.ts'
import { asValue, Callable, type Term } from '../machine/term.ts'
import type { CallForm, Form } from '../syntax/form.ts'
import { showValue } from '../values/print.ts'
import type { Value } from '../values/value.ts'
import { generated, isGenerator, type Random, randomOf, simpler } from './generators.ts'
import type { TestRun } from './test-run.ts'

/** How to draw random values. */
export interface Chance {
  readonly seed: number
  /** Number of runs of a property. */
  readonly runs: number
}

/** Whether a listed call ever ended without a failure, and the text of its last failure. */
interface Outcomes {
  hasPassed: boolean
  failure: string | null
}

/** Most calls of a sequence. */
const MAX_CALLS = 16
/** Most runs to shrink a failure. */
const MAX_SHRINKS = 2000

/**
 * `(for-all NAME [GENERATORS] FUNCTION)`
 *
 * FUNCTION must return true for all values. Each run begins from the same state, and nothing that it writes stays.
 */
export const forAll =
  (test: TestRun, chance: Chance): SpecialForm =>
  (call, expander, scope) => {
    const [name, list, fn] = partsOf(call, 3).map((form) => expander.expand(form, scope))
    const source = sourceOf(test, call.items[3])
    return exprOf(call.place, (run, env) => {
      const text = asText(run.evaluate(name, env), name.place)
      const generators = run.value(list, env)
      if (!Array.isArray(generators)) throw syntaxError('for-all takes a list of generators', list.place)
      const property = run.evaluate(fn, env)
      if (!(property instanceof Callable)) throw syntaxError('for-all takes a function', fn.place)
      const fault = (values: readonly Value[]) => {
        return tried(test, () => verdict(run.apply(property, values, call.place)))
      }
      const random = randomFor(chance, text)
      for (let i = 1; i <= chance.runs; i++) {
        const values = generators.map((each: Value) => generated(each, random))
        if (fault(values) === null) continue
        const least = shrunk(
          values,
          (each) => shrinksOf(each, generators),
          (each) => fault(each) !== null,
        )
        const shown = least.map(showValue).join(' ')
        const what = `${fault(least)} for ${shown}, in run ${i} of ${chance.runs} with seed ${chance.seed}`
        reproduce(test, call, [`(expect ${JSON.stringify(text)} true (${source} ${shown}))`])
        test.fail(text, call.place, what, null)
        return `FAILURE: ${text}: ${what}`
      }
      test.pass(text, call.place, null)
      return `For-all: success ${text}`
    })
  }

/** A call of a sequence: its position in the list, its arguments, and the keys that sign. */
interface OneCall {
  readonly at: number
  readonly args: readonly Value[]
  readonly keys: readonly string[]
}

/**
 * `(for-any-order NAME [CALLS] INVARIANT)`
 *
 * Runs the calls in random orders, with random values of the generators among their arguments, signed by some of the
 * keys of `env-keys`. INVARIANT must be true after each call. A call that fails changes nothing. If a call of the list
 * fails each time, a warning tells, because the property says nothing about it then.
 */
export const forAnyOrder =
  (test: TestRun, chance: Chance): SpecialForm =>
  (call, expander, scope) => {
    const [nameForm, list, invariantForm] = partsOf(call, 3)
    if (list.form !== 'list' || list.items.length === 0) {
      throw syntaxError('for-any-order takes a list of calls', list.place)
    }
    const name = expander.expand(nameForm, scope)
    const invariant = expander.expand(invariantForm, scope)
    const calls = list.items.map((item) => callIn(test, expander, item))
    const shownInvariant = sourceOf(test, invariantForm)
    return exprOf(call.place, (run, env) => {
      const text = asText(run.evaluate(name, env), name.place)
      const fixed = calls.map(({ args }) => args.map(({ expr }) => run.value(expr, env)))
      const holds = () => verdict(run.evaluate(invariant, env))
      const outcomes = calls.map((): Outcomes => ({ hasPassed: false, failure: null }))
      const fault = (sequence: readonly OneCall[]) => {
        return tried(test, () => faultOf(test, sequence, { run, calls, holds, outcomes }))
      }
      const random = randomFor(chance, text)
      const keys = [...test.signers.keys()]
      for (let i = 1; i <= chance.runs; i++) {
        const sequence = Array.from({ length: 1 + Math.floor(random() * MAX_CALLS) }, () => drawn(fixed, keys, random))
        if (fault(sequence) === null) continue
        const least = shrunk(
          sequence,
          (each) => shorter(each, fixed),
          (each) => fault(each) !== null,
        )
        const calledTimes = `${least.length} call${least.length === 1 ? '' : 's'}`
        const drawnBy = `in run ${i} of ${chance.runs} with seed ${chance.seed}`
        const what = `${fault(least)} after ${calledTimes}, ${drawnBy}`
        const shown = least.flatMap((each) => callLines(each, calls, fixed))
        reproduce(test, call, [...shown, `(expect ${JSON.stringify(text)} true ${shownInvariant})`])
        test.fail(text, call.place, what, null)
        return `FAILURE: ${text}: ${what}`
      }
      warnOfVain(test, calls, outcomes)
      test.pass(text, call.place, null)
      return `For-any-order: success ${text}`
    })
  }

/** Warns of calls that failed each time. */
function warnOfVain(test: TestRun, calls: readonly ListedCall[], outcomes: readonly Outcomes[]): void {
  for (const [i, { hasPassed, failure }] of outcomes.entries()) {
    if (hasPassed || failure === null) continue
    test.output.push(`WARNING ${test.where(calls[i].fn.place)}: ${calls[i].head} failed each time, at last: ${failure}`)
  }
}

interface ListedCall {
  readonly fn: Expr
  readonly head: string
  readonly args: readonly { readonly expr: Expr; readonly source: string }[]
}

function callIn(test: TestRun, expander: Expander, form: Form): ListedCall {
  if (form.form !== 'call' || form.items.length === 0) throw syntaxError('a call of a function is expected', form.place)
  const [head, ...args] = form.items
  const expanded = args.map((arg) => ({ expr: expander.expand(arg, null), source: sourceOf(test, arg) }))
  return { fn: expander.expand(head, null), head: sourceOf(test, head), args: expanded }
}

function drawn(fixed: readonly (readonly Value[])[], keys: readonly string[], random: Random): OneCall {
  const at = Math.floor(random() * fixed.length)
  return { at, args: fixed[at].map((arg) => generated(arg, random)), keys: keys.filter(() => random() < 0.7) }
}

interface Sequenced {
  readonly run: Run
  readonly calls: readonly ListedCall[]
  readonly holds: () => string | null
  /** For each listed call. */
  readonly outcomes: readonly Outcomes[]
}

/** Runs a sequence. @returns why the invariant does not hold, or null */
function faultOf(test: TestRun, sequence: readonly OneCall[], sequenced: Sequenced): string | null {
  const { run, calls, holds, outcomes } = sequenced
  const signers = test.signers
  try {
    for (const { at, args, keys } of sequence) {
      test.changeMessage({ signers: new Map([...signers].filter(([key]) => keys.includes(key))) })
      const state = test.evaluator.transaction.state
      test.evaluator.transaction.state = new Layer(state)
      const layer = test.evaluator.transaction.state
      const fn = run.evaluate(calls[at].fn, null)
      const hasEnded = test.attempt(
        () => {
          if (fn instanceof Callable) run.apply(fn, args, calls[at].fn.place)
          return true
        },
        ({ message }) => {
          outcomes[at].failure = message
          return false
        },
      )
      test.evaluator.transaction.state = state
      outcomes[at].hasPassed ||= hasEnded
      if (hasEnded) layer.mergeInto(state)
      test.changeMessage({ signers })
      const fault = holds()
      if (fault !== null) return fault
    }
    return null
  } finally {
    test.changeMessage({ signers })
  }
}

function shorter(sequence: readonly OneCall[], fixed: readonly (readonly Value[])[]): OneCall[][] {
  const halves =
    sequence.length > 3 ? [sequence.slice(sequence.length >> 1), sequence.slice(0, sequence.length >> 1)] : []
  const fewer = sequence.length > 1 ? sequence.map((_, i) => sequence.filter((__, j) => j !== i)) : []
  const parts = sequence.flatMap((one, i) =>
    shrinksOf(one.args, fixed[one.at]).map((args) => sequence.with(i, { ...one, args })),
  )
  return [...halves, ...fewer, ...parts]
}

function callLines({ at, args, keys }: OneCall, calls: readonly ListedCall[], fixed: readonly (readonly Value[])[]) {
  const shown = args.map((arg, i) => (isGenerator(fixed[at][i]) ? showValue(arg) : calls[at].args[i].source))
  return [
    `(env-keys [${keys.map((key) => JSON.stringify(key)).join(' ')}])`,
    `(${[calls[at].head, ...shown].join(' ')})`,
  ]
}

/** Variants in which one value is simpler. */
function shrinksOf(values: readonly Value[], generators: readonly Value[]): Value[][] {
  return values.flatMap((value, i) => simpler(value, generators[i]).map((each) => values.with(i, each)))
}

/** The simplest variant that still fails. */
function shrunk<T>(first: T, variants: (of: T) => readonly T[], fails: (each: T) => boolean): T {
  let least = first
  let left = MAX_SHRINKS
  for (;;) {
    const next = variants(least).find((each) => left-- > 0 && fails(each))
    if (next === undefined) return least
    least = next
  }
}

/** Runs a property on a layer of its own. @returns why it does not hold, or null */
function tried(test: TestRun, property: () => string | null): string | null {
  const { evaluator } = test
  const before = evaluator.mark()
  evaluator.transaction.state = new Layer(evaluator.transaction.state)
  try {
    return property()
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    return `failed with "${error.message}"`
  } finally {
    evaluator.back(before)
  }
}

function verdict(term: Term): string | null {
  const value = asValue(term)
  return value === true ? null : `returned ${showValue(value)}`
}

function randomFor({ seed }: Chance, name: string): Random {
  let mixed = seed
  for (const character of name) mixed = (Math.imul(mixed, 31) + (character.codePointAt(0) ?? 0)) | 0
  return randomOf(mixed)
}

function partsOf(call: CallForm, count: number): readonly Form[] {
  const parts = call.items.slice(1)
  if (parts.length === count) return parts
  const [head] = call.items
  const name = head?.form === 'atom' ? head.name : ''
  throw syntaxError(`${name} takes ${count} parts, not ${parts.length}`, call.place)
}

function sourceOf({ text }: TestRun, form: Form): string {
  return text.slice(form.from, form.to)
}

/** Prints forms that fail in the place of the property. */
function reproduce(test: TestRun, call: CallForm, lines: readonly string[]): void {
  test.output.push(`; in the place of ${test.where(call.place)}, this fails:`, ...lines)
}
