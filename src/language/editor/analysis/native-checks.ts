/** Checks natives that networks refuse where they stand, or that cost much gas. */

import type { NativeWord } from '../../contracts/repl/vocabulary.ts'
import type { Dialect } from '../../contracts/syntax/program.ts'
import type { CodeFinding, OffsetRange } from '../text/spans.ts'

/** Natives that are refused when a module calls them. */
const TOP_LEVEL: ReadonlySet<string> = new Set([
  'create-table',
  'describe-table',
  'define-keyset',
  'describe-keyset',
  'namespace',
  'define-namespace',
  'describe-module',
  'static-redeploy',
])
/** Natives that transactions may not call. */
const LOCAL: ReadonlySet<string> = new Set(['describe-module', 'list-modules'])
/** Milligas from which a flat price counts as high: that of a hundred rows read. */
const COSTLY_MILLIGAS = 100_000
/** Milligas of a native that reads a whole table. */
const SCAN_MILLIGAS = 10_000_000
/** Natives whose price depends on their arguments, in words. */
const GROWING: ReadonlyMap<string, string> = new Map([['scalar-mult', '360 gas a call in g1, 1450 in g2']])

/** Where a native stands. */
export interface NativePlace {
  readonly isModule: boolean
  readonly dialect: Dialect
}

/**
 * Checks the use of a native. Gas does not matter in test files, nor in modules within them.
 * @param range of the name
 * @returns null if nothing is wrong
 */
export function nativeFinding(
  { name, milligas }: NativeWord,
  range: OffsetRange,
  { isModule, dialect }: NativePlace,
): CodeFinding | null {
  if (isModule && TOP_LEVEL.has(name)) {
    const message = `networks refuse ${name} within a module; call it in the same transaction, after the module`
    return { severity: 'error', code: 'top-level-native', message, ...range }
  }
  if (dialect === 'test') return null
  if (LOCAL.has(name)) {
    const message = `networks refuse ${name} in a transaction: it works in local calls only`
    return { severity: 'warning', code: 'local-native', message, ...range }
  }
  const flat = milligas ?? 0
  if (flat >= SCAN_MILLIGAS) {
    const message = `${name} reads the whole table for ${flat / 1000} gas a call; a transaction reads rows by their keys`
    return { severity: 'warning', code: 'table-scan', message, ...range }
  }
  const price =
    GROWING.get(name) ?? (flat >= COSTLY_MILLIGAS && !TOP_LEVEL.has(name) ? `${flat / 1000} gas a call` : null)
  return price === null
    ? null
    : { severity: 'hint', code: 'costly-native', message: `${name} costs ${price}`, ...range }
}
