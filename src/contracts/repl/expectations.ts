/** Special forms of test files: `expect`, `expect-failure`, `expect-that`, and definitions outside of modules. */
import { ContractError, evalError } from '../errors.ts'
import { runForm } from '../machine/execute.ts'
import { type Expander, type Scope, type SpecialForm, syntaxError } from '../machine/expander.ts'
import { exprOf } from '../machine/expressions.ts'
import { asText } from '../machine/forms.ts'
import { defineOutside } from '../machine/modules.ts'
import { asValue, Callable } from '../machine/term.ts'
import type { CallForm } from '../syntax/form.ts'
import { equalValues } from '../values/equal.ts'
import { showValue } from '../values/print.ts'
import type { TestRun } from './test-run.ts'

function partsOf(call: CallForm, expander: Expander, scope: Scope | null, counts: readonly number[]) {
  const forms = call.items.slice(1)
  if (!counts.includes(forms.length)) {
    throw syntaxError(`an expectation takes ${counts.join(' or ')} parts, not ${forms.length}`, call.place)
  }
  return { forms, expand: (index: number) => expander.expand(forms[index], scope) }
}

/** `(expect NAME WANTED GOT)` */
const expectEqual =
  (test: TestRun): SpecialForm =>
  (call, expander, scope) => {
    const { forms, expand } = partsOf(call, expander, scope, [3])
    const name = expand(0)
    return exprOf(call.place, (run, env) => {
      const text = asText(run.evaluate(name, env), name.place)
      return test.attempt(
        () => {
          // The tested expression runs before the expected one.
          const [got, wanted] = [2, 1].map((index) => run.value(expander.expand(forms[index], scope), env))
          if (equalValues(wanted, got)) {
            test.pass()
            return `Expect: success: ${text}`
          }
          test.fail(text, call.place, `expected ${showValue(wanted)}, got ${showValue(got)}`)
          return `FAILURE: ${text}`
        },
        (error) => {
          test.fail(text, call.place, `expected a value, got the error: ${error.message}`)
          return `FAILURE: ${text}`
        },
      )
    })
  }

/** `(expect-failure NAME [MESSAGE] CODE)` */
const expectFailure =
  (test: TestRun): SpecialForm =>
  (call, expander, scope) => {
    const { forms, expand } = partsOf(call, expander, scope, [2, 3])
    const name = expand(0)
    const wanted = forms.length === 3 ? expand(1) : null
    return exprOf(call.place, (run, env) => {
      const text = asText(run.evaluate(name, env), name.place)
      const message = wanted === null ? null : asText(run.evaluate(wanted, env), wanted.place)
      let failed = false
      test.attempt(
        () => {
          const value = run.evaluate(expander.expand(forms[forms.length - 1], scope), env)
          // Throwing also rolls back an unexpected success.
          throw new Unexpected(`expected a failure, got ${showValue(asValue(value))}`)
        },
        (error) => {
          failed = true
          if (error instanceof Unexpected) test.fail(text, call.place, error.message)
          else if (message === null || isSaidBy(error, message)) test.pass()
          else test.fail(text, call.place, `expected a failure with "${message}", got "${error.message}"`)
          return ''
        },
      )
      return failed ? `Expect failure: success: ${text}` : ''
    })
  }

/** Live nodes word some errors differently; a test file may quote either wording. */
function isSaidBy({ message, wireMessage }: ContractError, text: string): boolean {
  return message.includes(text) || wireMessage.includes(text)
}

/** `(expect-that NAME CONDITION GOT)` */
const expectThat =
  (test: TestRun): SpecialForm =>
  (call, expander, scope) => {
    const { expand } = partsOf(call, expander, scope, [3])
    const [name, condition, value] = [0, 1, 2].map(expand)
    return exprOf(call.place, (run, env) => {
      const text = asText(run.evaluate(name, env), name.place)
      return test.attempt(
        () => {
          const [predicate, got] = [run.evaluate(condition, env), run.value(value, env)]
          if (!(predicate instanceof Callable)) throw evalError('expect-that takes a function', call.place)
          if (run.apply(predicate, [got], call.place) === true) test.pass()
          else test.fail(text, call.place, `did not satisfy the condition: ${showValue(got)}`)
          return text
        },
        (error) => {
          test.fail(text, call.place, `expected a value, got the error: ${error.message}`)
          return text
        },
      )
    })
  }

/** Evaluates a definition outside of a module. */
const define =
  (test: TestRun): SpecialForm =>
  (call) => {
    return exprOf(call.place, () => {
      test.refuseShadows(call)
      defineOutside(test.evaluator, test.definitions, call)
      return 'Defined'
    })
  }

/** Runs a top-level form inside an expectation, so that it may fail. */
const atTop =
  (test: TestRun): SpecialForm =>
  (call, expander) => {
    const { text } = test
    if (expander.module !== null) throw syntaxError('allowed at the top level only', call.place)
    return exprOf(call.place, () => {
      test.refuseShadows(call)
      return runForm(test.evaluator, call, text)
    })
  }

/** Special forms of tests, by name. */
export function expectations(test: TestRun): Map<string, SpecialForm> {
  return new Map<string, SpecialForm>([
    ...['module', 'interface', 'use'].map((name) => [name, atTop(test)] as const),
    ['expect', expectEqual(test)],
    ['expect-failure', expectFailure(test)],
    ['expect-that', expectThat(test)],
    ...['defun', 'defconst'].map((name) => [name, define(test)] as const),
  ])
}

class Unexpected extends ContractError {
  constructor(message: string) {
    super('EvalError', message)
  }
}
