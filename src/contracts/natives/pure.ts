/** All natives that depend only on their arguments, and the constants. */
import type { Native } from '../machine/native.ts'
import type { Value } from '../values/value.ts'
import { ARITHMETIC } from './arithmetic.ts'
import { CURVES } from './curves.ts'
import { FUNCTIONS } from './functions.ts'
import { HASHING } from './hashing.ts'
import { HYPERLANE } from './hyperlane.ts'
import { LISTS } from './lists.ts'
import { LOGIC } from './logic.ts'
import { POSEIDON } from './poseidon.ts'
import { PRINCIPALS } from './principals.ts'
import { STRINGS } from './strings.ts'
import { TIME } from './time.ts'

export const PURE_NATIVES: readonly Native[] = [
  ...ARITHMETIC,
  ...LOGIC,
  ...LISTS,
  ...FUNCTIONS,
  ...STRINGS,
  ...TIME,
  ...HASHING,
  ...PRINCIPALS,
  ...CURVES,
  ...POSEIDON,
  ...HYPERLANE,
]

/** Values for the first argument of `is-charset`. */
export const CONSTANTS: readonly (readonly [name: string, value: Value])[] = [
  ['CHARSET_ASCII', 0n],
  ['CHARSET_LATIN1', 1n],
]
