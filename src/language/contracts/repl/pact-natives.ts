/** Natives of test files for pacts: `continue-pact` and `pact-state`. */
import { txFailure } from '../errors.ts'
import { failure } from '../failures/failure.ts'
import type { Run, Yield } from '../machine/ast.ts'
import { continuePact } from '../machine/evaluate/pacts.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import type { Term } from '../machine/term.ts'
import type { Value } from '../values/value.ts'
import type { TestRun } from './test-run.ts'

/**
 * `(continue-pact STEP [ROLLBACK [ID [YIELD]]])`
 *
 * The pact that ran last in the transaction supplies an id and a yield that are left out. A given yield takes its
 * provenance, as if another chain had sent it.
 */
function continuePactOf(test: TestRun, args: Arguments): Term {
  const { evaluator } = test
  const last = evaluator.program.pact
  const step = Number(args.integer(0))
  const isRollback = args.has(1) && args.bool(1)
  const id = args.has(2) ? args.text(2) : last?.id
  if (id === undefined) throw failure('NO_PACT_NAMED', {}, args.place)
  const given: Yield | null = args.has(3)
    ? { data: args.object(3), provenance: last?.yielded?.provenance ?? null, source: null }
    : null
  evaluator.program.pact = null
  return continuePact(evaluator, { id, step, isRollback, resumed: given ?? last?.yielded ?? null })
}

export function pactNatives(test: TestRun): Native<Run>[] {
  return [
    native('continue-pact', 1, 4, (args) => continuePactOf(test, args)),
    native('pact-state', 0, 1, (args) => {
      const { program } = test.evaluator
      const last = program.pact
      if (last === null) throw txFailure('pact-state: no pact exec in context')
      if (args.has(0) && args.bool(0)) program.pact = null
      return new Map<string, Value>([
        ['pactId', last.id],
        ['yield', last.yielded?.data ?? false],
        ['step', BigInt(last.step)],
      ])
    }),
  ]
}
