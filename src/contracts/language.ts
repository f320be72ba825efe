/** All functions and special forms of the language. */
import { NativeFunction } from './machine/callables.ts'
import type { Evaluator } from './machine/evaluator.ts'
import type { SpecialForms } from './machine/expander.ts'
import { specialForms } from './machine/forms.ts'
import type { Native } from './machine/native.ts'
import { capabilities } from './natives/capabilities.ts'
import { connectives } from './natives/connectives.ts'
import { environment } from './natives/environment.ts'
import { priceOf } from './natives/prices.ts'
import { CONSTANTS, PURE_NATIVES } from './natives/pure.ts'
import { tables } from './natives/tables.ts'
import { topLevel } from './natives/top-level.ts'
import type { Value } from './values/value.ts'

const natives: readonly Native<Evaluator>[] = [
  ...PURE_NATIVES,
  ...connectives,
  ...environment,
  ...capabilities,
  ...tables,
  ...topLevel,
]

/** Functions and constants by their names, with those of test files where a use has such: these are free. */
export function nativesWith(tests: readonly Native<Evaluator>[] = []): Map<string, NativeFunction | Value> {
  return new Map<string, NativeFunction | Value>([
    ...CONSTANTS,
    ...natives.map((native) => [native.name, new NativeFunction(native, priceOf(native.name))] as const),
    ...tests.map((native) => [native.name, new NativeFunction(native, 0)] as const),
  ])
}

export const languageForms: SpecialForms = specialForms
