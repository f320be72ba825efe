/** All functions and special forms of the language. */
import type { Run } from './machine/ast.ts'
import { NativeFunction } from './machine/callables.ts'
import type { Language, SpecialForm } from './machine/expander.ts'
import { specialForms } from './machine/forms.ts'
import type { Native } from './machine/native.ts'
import type { Term } from './machine/term.ts'
import { capabilities } from './natives/capabilities.ts'
import { connectives } from './natives/connectives.ts'
import { PAIRINGS } from './natives/curves.ts'
import { environment } from './natives/environment.ts'
import { priceOf } from './natives/prices.ts'
import { PROOFS } from './natives/proofs.ts'
import { CONSTANTS, PURE_NATIVES } from './natives/pure.ts'
import { REDEPLOY } from './natives/redeploy.ts'
import { tables } from './natives/tables.ts'
import { topLevel } from './natives/top-level.ts'

const natives: readonly Native<Run>[] = [
  ...PURE_NATIVES,
  ...connectives,
  ...environment,
  ...capabilities,
  ...tables,
  ...topLevel,
  ...REDEPLOY,
  ...PAIRINGS,
  ...PROOFS,
]

/** The language of transactions. */
export const language: Language = languageWith([], [])

/** The language with additional natives, which cost no gas, and additional special forms. Test files use it. */
export function languageWith(
  own: readonly Native<Run>[],
  forms: Iterable<readonly [name: string, form: SpecialForm]>,
): Language {
  return {
    natives: new Map<string, Term>([
      ...CONSTANTS,
      ...natives.map((native) => [native.name, new NativeFunction(native, priceOf(native.name))] as const),
      ...own.map((native) => [native.name, new NativeFunction(native, 0)] as const),
    ]),
    forms: new Map([...specialForms, ...forms]),
  }
}
