/** Special forms of test files: `expect`, `expect-failure`, `expect-that`, and definitions outside of modules. */
import { ContractError, evalError } from '../errors.ts'
import { failure } from '../failures/failure.ts'
import { Const } from '../machine/ast.ts'
import { asText } from '../machine/evaluate/forms.ts'
import type { Expander, Scope, SpecialForm } from '../machine/expand/expander.ts'
import { exprOf } from '../machine/expand/expressions.ts'
import { ofNative } from '../machine/gas/cost-names.ts'
import { defineOutside } from '../machine/load/modules.ts'
import { Callable } from '../machine/term.ts'
import type { CallForm } from '../syntax/form.ts'
import { syntaxError } from '../syntax/lexer.ts'
import { equalValues } from '../values/compare.ts'
import { showValue } from '../values/print.ts'
import type { Value } from '../values/value.ts'
import { forAnyOrder } from './any-order.ts'
import { forAll, formSource, type PropertyRuns } from './properties.ts'
import { comparedValues, type FailureDetail, labelledParts, valueLines } from './test-results.ts'
import type { TestRun } from './test-run.ts'

function partsOf(call: CallForm, expander: Expander, scope: Scope | null, counts: readonly number[]) {
  const forms = call.items.slice(1)
  if (!counts.includes(forms.length)) {
    throw syntaxError(`an expectation takes ${counts.join(' or ')} parts, not ${forms.length}`, call.place)
  }
  return { forms, expand: (index: number) => expander.expand(forms[index], scope) }
}

/**
 * `(expect NAME WANTED GOT)`
 *
 * GOT runs first. Its failure fails the expectation; a failure of WANTED ends the file.
 */
const expectEqual =
  (test: TestRun): SpecialForm =>
  (call, expander, scope) => {
    const { forms, expand } = partsOf(call, expander, scope, [3])
    const name = expand(0)
    return exprOf(call.place, (run, env) => {
      const start = test.startTest()
      const text = asText(run.evaluate(name, env), name.place)
      run.charge(0, ofNative('expect', 3), call.place)
      const value = (index: number) => run.value(expander.expand(forms[index], scope), env)
      const reportFailure = (what: string, shown: string, detail: FailureDetail) => {
        test.fail(text, call.place, what, start, detail)
        return `FAILURE: ${text} ${shown}`
      }
      let cause: FailureDetail['cause'] = null
      const got = test.attempt<Value | ContractError>(
        () => value(2),
        (error, at) => {
          cause = at
          return error
        },
      )
      if (got instanceof ContractError) {
        const shown = `evaluation of actual failed with error message: ${got.message}`
        const detail = labelledParts({ expected: 'a value', actual: `the error: ${got.message}` }, cause)
        return reportFailure(`expected a value, got the error: ${got.message}`, shown, detail)
      }
      const wanted = value(1)
      if (!equalValues(wanted, got)) {
        const [left, right] = [showValue(wanted), showValue(got)]
        const what = `expected ${left}, got ${right}`
        return reportFailure(what, `expected: ${left}, received: ${right}`, comparedValues(wanted, got))
      }
      test.pass(text, call.place, start)
      return `Expect: success ${text}`
    })
  }

/** `(expect-failure NAME [MESSAGE] CODE)`. Capabilities and the like are restored; rows that were written stay. */
const expectFailure =
  (test: TestRun): SpecialForm =>
  (call, expander, scope) => {
    const { forms, expand } = partsOf(call, expander, scope, [2, 3])
    const name = expand(0)
    const wanted = forms.length === 3 ? expand(1) : null
    return exprOf(call.place, (run, env) => {
      const start = test.startTest()
      const text = asText(run.evaluate(name, env), name.place)
      const message = wanted === null ? null : asText(run.evaluate(wanted, env), wanted.place)
      run.charge(0, ofNative('expect-failure', wanted === null ? 2 : 3), call.place)
      const wantedText = message === null ? 'a failure' : `a failure with "${message}"`
      const reportFailure = (what: string, shown: string, detail: FailureDetail) => {
        test.fail(text, call.place, what, start, detail)
        return `FAILURE: ${text}: ${shown}`
      }
      let cause: FailureDetail['cause'] = null
      const got = test.attempt<Value | ContractError>(
        () => run.value(expander.expand(forms[forms.length - 1], scope), env),
        (error, at) => {
          cause = at
          return error
        },
      )
      if (!(got instanceof ContractError)) {
        const shown = showValue(got)
        const detail = labelledParts({ expected: wantedText, actual: valueLines(got) })
        return reportFailure(`expected a failure, got ${shown}`, `expected failure, got result: ${shown}`, detail)
      }
      if (message !== null && !mentions(got, message)) {
        const shown = `expected error message '${message}', got '${got.message}'`
        const detail = labelledParts({ expected: wantedText, actual: `the failure "${got.message}"` }, cause)
        return reportFailure(`expected a failure with "${message}", got "${got.message}"`, shown, detail)
      }
      test.pass(text, call.place, start)
      return `Expect failure: Success: ${text}`
    })
  }

/** Live nodes word some errors differently; a test file may quote either wording. */
function mentions({ message, wireMessage }: ContractError, text: string): boolean {
  return message.includes(text) || wireMessage.includes(text)
}

/** `(expect-that NAME CONDITION GOT)`. A failure of any part ends the file. */
const expectThat =
  (test: TestRun): SpecialForm =>
  (call, expander, scope) => {
    const { expand } = partsOf(call, expander, scope, [3])
    const [name, condition, value] = [0, 1, 2].map(expand)
    const conditionText = formSource(test, call.items[2])
    return exprOf(call.place, (run, env) => {
      const start = test.startTest()
      const text = asText(run.evaluate(name, env), name.place)
      const predicate = run.evaluate(condition, env)
      if (!(predicate instanceof Callable)) throw evalError('expect-that takes a function', call.place)
      const got = run.value(value, env)
      run.charge(0, ofNative('expect-that', 3), call.place)
      const answer = run.apply(predicate, [got], call.place)
      if (typeof answer !== 'boolean') {
        const why = 'Expect-that: condition did not return a boolean'
        throw failure('NATIVE_FAILED', { native: 'expect-that', why }, call.place)
      }
      if (answer) {
        test.pass(text, call.place, start)
        return `Expect-that: success ${text}`
      }
      const detail = labelledParts({ condition: conditionText.split('\n'), actual: valueLines(got) })
      test.fail(text, call.place, `did not satisfy the condition: ${showValue(got)}`, start, detail)
      return `FAILURE: Expect-that: Did not satisfy condition: ${text}`
    })
  }

/** Evaluates a definition outside of a module: a constant at once. */
const definitionForm =
  (test: TestRun): SpecialForm =>
  (call) => {
    return exprOf(call.place, () => {
      test.refuseShadows(call)
      const defined = defineOutside(test.evaluator, test.definitions, call)
      if (defined instanceof Const) defined.evaluate()
      return 'Defined'
    })
  }

/** Runs a top-level form inside an expectation, so that it may fail. */
const topLevelForm =
  (test: TestRun): SpecialForm =>
  (call, expander) => {
    if (expander.module !== null) throw syntaxError('allowed at the top level only', call.place)
    return exprOf(call.place, () => {
      test.refuseShadows(call)
      return test.runInside(call)
    })
  }

/** Special forms of tests, by name. */
export function expectations(test: TestRun, runs: PropertyRuns): Map<string, SpecialForm> {
  return new Map<string, SpecialForm>([
    ...['module', 'interface', 'use'].map((name) => [name, topLevelForm(test)] as const),
    ['expect', expectEqual(test)],
    ['expect-failure', expectFailure(test)],
    ['expect-that', expectThat(test)],
    ['for-all', forAll(test, runs)],
    ['for-any-order', forAnyOrder(test, runs)],
    ...['defun', 'defconst'].map((name) => [name, definitionForm(test)] as const),
  ])
}
