/** Shows that the case of a native reaches it: the first call in the code of the case returns, with large arguments. */
import { language } from '../../src/language/contracts/language.ts'
import type { Run } from '../../src/language/contracts/machine/ast.ts'
import { NativeFunction } from '../../src/language/contracts/machine/callables.ts'
import { weightOf } from '../../src/language/contracts/machine/gas/bounds.ts'
import type { Native } from '../../src/language/contracts/machine/native.ts'
import { isValue, type Term } from '../../src/language/contracts/machine/term.ts'
import type { HostileCase } from './case.ts'
import { prepare } from './hostile-command.ts'

/** The end of a call. */
interface Reach {
  /** Message of the failure of the call, or null if it returned. */
  readonly failure: string | null
  /** Weight of the largest argument, about its number of printed characters. */
  readonly weight: number
}

/** Maximum length of a quoted failure, in characters: errors of natives can quote whole arguments. */
const SHOWN = 200
/** Least weight of the largest argument. */
const LARGE = 1000

/** Natives whose calls fail after they have done their work, with the failure. */
const FAILING: Readonly<Record<string, RegExp>> = {
  'verify-spv': /spv verification failed: target header is not in the chain/,
  'require-capability': /^require-capability: not granted: \(m\.C /,
}

/** Natives without a large argument, by the reason. */
const SMALL: Readonly<Record<string, readonly string[]>> = {
  'takes a truth value, or nothing': ['not', 'and', 'or', 'tx-hash', 'pact-id', 'chain-data', 'list-modules'],
  'its price grows with the size of the number': ['^', 'exp'],
  'a larger number is infinite as a double': ['sqrt', 'ln', 'log'],
  'a number stands for the work': ['enumerate'],
  'a longer text is refused': ['str-to-int', 'time', 'parse-time', 'format-time'],
  'times and their differences are small': ['add-time', 'diff-time'],
  'names something large': [
    'read-msg',
    'read-string',
    'read-integer',
    'read-decimal',
    'read-keyset',
    'keyset-ref-guard',
    'acquire-module-admin',
    'static-redeploy',
    'enforce-verifier',
    'create-table',
    'keys',
    'select',
    'fold-db',
    'describe-table',
    'describe-keyset',
    'describe-namespace',
    'describe-module',
    'namespace',
  ],
}
const small = new Set(Object.values(SMALL).flat())

/** Leaves the command after the call. No `try` catches it, since it is not an error of a contract. */
class Reached extends Error {}

/**
 * Why the case of a native proves nothing of it, or null if it reaches the native with large arguments.
 * @param call text of the call, which the code of the case or of its module holds
 */
export function reachFault(hostile: HostileCase, name: string, call: string): string | null {
  const reach = reachOf(hostile, name, call)
  if (reach === null) return 'the case ends before the native is called'
  const { failure, weight } = reach
  const expected = FAILING[name]
  if (failure !== null && expected === undefined) return `the call fails: ${failure.slice(0, SHOWN)}`
  if (expected !== undefined && !expected.test(failure ?? '')) return `the call does not fail as expected: ${failure}`
  if (weight < LARGE && !small.has(name)) return `the largest argument has a weight of ${weight} only`
  if (weight >= LARGE && small.has(name)) return `the native has large arguments after all`
  return null
}

/**
 * Runs a case up to the end of the first call of a native.
 * @param call text of the call, which the code of the case or of its module holds
 * @returns null if the case ends without such a call
 */
function reachOf(hostile: HostileCase, name: string, call: string): Reach | null {
  const term = language.natives.get(name)
  if (!(term instanceof NativeFunction)) throw new Error(`no native ${name}`)
  const isInCall = rangeOf(hostile, call)
  const native = term.native as { run: Native<Run>['run'] }
  const { run } = native
  let reach: Reach | null = null
  native.run = (args) => {
    if (!isInCall(args.place)) return run(args)
    const weight = Math.max(0, ...args.all.map(weightOfTerm))
    try {
      run(args)
      reach = { failure: null, weight }
    } catch (error) {
      reach = { failure: (error as Error).message, weight }
    }
    throw new Reached()
  }
  try {
    // The set-up may name the native too, and keeps the function that it has then.
    prepare(hostile).run()
  } finally {
    native.run = run
  }
  return reach
}

function weightOfTerm(term: Term): number {
  return isValue(term) ? weightOf(term) : 0
}

/** Whether a place is within the first text of a call. */
function rangeOf({ before = [], code }: HostileCase, call: string) {
  const text = [...before, code].find((each) => each.includes(call))
  if (text === undefined) throw new Error(`the case does not hold ${call}`)
  const from = text.indexOf(call)
  const lines = text.split('\n')
  const starts = lines.map((_, i) => lines.slice(0, i).reduce((sum, line) => sum + line.length + 1, 0))
  return ({ line, column }: { readonly line: number; readonly column: number }): boolean => {
    const offset = starts[line] + column
    return offset >= from && offset < from + call.length
  }
}
