/** Natives of test files for transactions, files, output and events. */
import { txFailure } from '../errors.ts'
import { failure } from '../failures/failure.ts'
import type { Run } from '../machine/ast.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import { isValue } from '../machine/term.ts'
import { showValue } from '../values/print.ts'
import { UNIT, type Value } from '../values/value.ts'
import type { TestRun } from './test-run.ts'

/** Result of a native for transactions, with the number and the name of the transaction. */
function transactionText(what: string, tx: { readonly id: number; readonly name: string | null } | null): string {
  if (tx === null) throw txFailure(`tx-function failure ${what}`)
  return `${what} ${tx.id}${tx.name === null ? '' : ` ${tx.name}`}`
}

function endTransaction(
  test: TestRun,
  args: Arguments,
  { word, keeps }: { readonly word: string; readonly keeps: boolean },
) {
  const ended = test.end(keeps)
  if (ended === 'none') throw failure('NO_TRANSACTION', { command: word }, args.place)
  return transactionText(keeps ? 'Commit Tx' : 'Rollback Tx', ended)
}

function eventsOf(test: TestRun, clears: boolean): Value {
  const { events } = test.evaluator.transaction
  const shown = events.map(({ module, name, params, moduleHash }): Value => {
    return new Map<string, Value>([
      ['module-hash', moduleHash],
      ['name', `${module}.${name}`],
      ['params', params],
    ])
  })
  if (clears) events.length = 0
  return shown
}

export function transactionNatives(test: TestRun): Native<Run>[] {
  return [
    native('begin-tx', 0, 1, (args) => transactionText('Begin Tx', test.begin(args.has(0) ? args.text(0) : null))),
    native('commit-tx', 0, 0, (args) => endTransaction(test, args, { word: 'commit', keeps: true })),
    native('rollback-tx', 0, 0, (args) => endTransaction(test, args, { word: 'rollback', keeps: false })),
    native('load', 1, 2, (args) => {
      const file = test.files.resolve(test.file, args.text(0))
      if (args.has(1) && args.bool(1)) test.reset()
      test.runFile(file)
      return UNIT
    }),
    native('print', 1, 1, ({ all: [term] }) => {
      test.output.push(isValue(term) ? showValue(term) : '<#closure>')
      return UNIT
    }),
    native('env-events', 1, 1, (args) => eventsOf(test, args.bool(0))),
  ]
}
