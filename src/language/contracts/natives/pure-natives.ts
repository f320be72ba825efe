/** All natives that depend only on their arguments, and the constants. */
import type { Native } from '../machine/native.ts'
import type { Value } from '../values/value.ts'
import { PRINCIPALS } from './chain/principals.ts'
import { CURVES } from './crypto/curves.ts'
import { HASHING } from './crypto/hashing.ts'
import { HYPERLANE } from './crypto/hyperlane.ts'
import { POSEIDON } from './crypto/poseidon.ts'
import { ARITHMETIC } from './data/arithmetic.ts'
import { FUNCTIONS } from './data/functions.ts'
import { LISTS } from './data/lists.ts'
import { LOGIC } from './data/logic.ts'
import { STRINGS } from './data/strings.ts'
import { TIME } from './data/time.ts'

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
