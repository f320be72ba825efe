/**
 * Property tests: `for-all` tries random arguments, and `for-any-order` (any-order.ts) random sequences of calls. A failure
 * is shrunk, and printed as the forms that reproduce it.
 */
import { ContractError } from '../errors.ts'
import { asText } from '../machine/evaluate/forms.ts'
import type { SpecialForm } from '../machine/expand/expander.ts'
import { exprOf } from '../machine/expand/expressions.ts'
import { Layer } from '../machine/state.ts'
import { asValue, Callable, type Term } from '../machine/term.ts'
import type { CallForm, Form } from '../syntax/form.ts'
import { syntaxError } from '../syntax/lexer.ts'
import { showValue } from '../values/print.ts'
import type { Value } from '../values/value.ts'
import { generate, type Random, randomOf, simplerValues } from './generators.ts'
import { asSource } from './source-text.ts'
import { labelledParts } from './test-results.ts'
import type { TestRun } from './test-run.ts'
import { endAtFailure } from './test-start.ts'

/** How often a property runs, and the seed of its random values. */
export interface PropertyRuns {
  readonly seed: number
  /** Runs of each property. */
  readonly runs: number
}

/** Maximum runs to shrink a failure: a slow property with long lists would shrink for minutes. */
const MAX_SHRINKS = 2000

/**
 * `(for-all NAME [GENERATORS] FUNCTION)`
 *
 * FUNCTION must return true for all values. Each run begins from the same state, and nothing that it writes stays.
 */
export const forAll =
  (test: TestRun, { seed, runs }: PropertyRuns): SpecialForm =>
  (call, expander, scope) => {
    const [name, list, fn] = partsOf(call, 3).map((form) => expander.expand(form, scope))
    const source = formSource(test, call.items[3])
    return exprOf(call.place, (run, env) => {
      const start = test.startTest(true)
      const text = asText(run.evaluate(name, env), name.place)
      const generators = run.value(list, env)
      if (!Array.isArray(generators)) throw syntaxError('for-all takes a list of generators', list.place)
      const property = run.evaluate(fn, env)
      if (!(property instanceof Callable)) throw syntaxError('for-all takes a function', fn.place)
      const fault = (values: readonly Value[]) => {
        return runProperty(test, () => faultOfResult(run.apply(property, values, call.place)))
      }
      const random = randomFor(seed, text)
      for (let i = 1; i <= runs; i++) {
        const values = generators.map((each: Value) => generate(each, random))
        const found = fault(values)
        if (found === null) continue
        endAtFailure(test, { file: test.file, place: call.place, name: text, what: found })
        const least = shrink(
          values,
          (each) => shrinksOf(each, generators),
          (each) => fault(each) !== null,
        )
        const shown = least.map(asSource).join(' ')
        const drawn = `in run ${i} of ${runs} with seed ${seed}`
        const why = fault(least) ?? ''
        const what = `${why} for ${shown}, ${drawn}`
        const detail = labelledParts({ expected: 'true', actual: why, inputs: least.map(asSource), found: drawn })
        reproduce(test, call, [`(expect ${JSON.stringify(text)} true (${source} ${shown}))`])
        test.fail(text, call.place, what, start, detail)
        return `FAILURE: ${text}: ${what}`
      }
      test.pass(text, call.place, start)
      return `For-all: success ${text}`
    })
  }

/** Variants in which one value is simpler. */
export function shrinksOf(values: readonly Value[], generators: readonly Value[]): Value[][] {
  return values.flatMap((value, i) => simplerValues(value, generators[i]).map((each) => values.with(i, each)))
}

/** The simplest variant that still fails. */
export function shrink<T>(first: T, variants: (of: T) => readonly T[], fails: (each: T) => boolean): T {
  let least = first
  let left = MAX_SHRINKS
  for (;;) {
    const next = variants(least).find((each) => left-- > 0 && fails(each))
    if (next === undefined) return least
    least = next
  }
}

/** Runs a property on a layer of its own. @returns why it does not hold, or null */
function runProperty(test: TestRun, property: () => string | null): string | null {
  const { evaluator } = test
  const before = evaluator.snapshot()
  evaluator.transaction.state = new Layer(evaluator.transaction.state)
  try {
    return property()
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    return `failed with "${error.message}"`
  } finally {
    evaluator.restore(before)
  }
}

export function faultOfResult(term: Term): string | null {
  const value = asValue(term)
  return value === true ? null : `returned ${showValue(value)}`
}

export function randomFor(seed: number, name: string): Random {
  let mixed = seed
  for (const character of name) mixed = (Math.imul(mixed, 31) + (character.codePointAt(0) ?? 0)) | 0
  return randomOf(mixed)
}

/** @throws ContractError (SyntaxError) unless the call has this number of parts */
export function partsOf(call: CallForm, count: number): readonly Form[] {
  const parts = call.items.slice(1)
  if (parts.length === count) return parts
  const [head] = call.items
  const name = head?.form === 'atom' ? head.name : ''
  throw syntaxError(`${name} takes ${count} parts, not ${parts.length}`, call.place)
}

export function formSource({ text }: TestRun, form: Form): string {
  return text.slice(form.from, form.to)
}

/** Prints forms that fail in the place of the property. */
export function reproduce(test: TestRun, call: CallForm, lines: readonly string[]): void {
  test.output.push(`; in the place of ${test.locationOf(call.place)}, this fails:`, ...lines)
}
