/** All functions and special forms of the language. */
import { NOWHERE } from './errors.ts'
import { TOP_LEVEL_MODE } from './machine/access-mode.ts'
import type { Param, Run } from './machine/ast.ts'
import { Lambda, NativeFunction } from './machine/callables.ts'
import { specialForms } from './machine/evaluate/forms.ts'
import type { Language, SpecialForm } from './machine/expand/expander.ts'
import { local } from './machine/expand/expressions.ts'
import type { Native } from './machine/native.ts'
import type { Term } from './machine/term.ts'
import { capabilities } from './natives/chain/capabilities.ts'
import { environment } from './natives/chain/environment.ts'
import { PRINTING } from './natives/chain/print.ts'
import { PROOFS } from './natives/chain/proofs.ts'
import { REDEPLOY } from './natives/chain/redeploy.ts'
import { tables } from './natives/chain/tables.ts'
import { topLevel } from './natives/chain/top-level.ts'
import { PAIRINGS } from './natives/crypto/curves.ts'
import { connectives } from './natives/data/connectives.ts'
import { nativePrice } from './natives/prices.ts'
import { CONSTANTS, PURE_NATIVES } from './natives/pure-natives.ts'
import { nativeWork } from './natives/work-of-natives.ts'

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

/** Special forms that are natives on the public network. */
const NATIVE_FORMS = ['bind', 'cond', 'continue', 'if', 'map', 'resume', 'with-default-read', 'with-read']
/** Natives here that the public network has as forms, in test files only, or not at all. Programs may use the names. */
const UNRESERVED: ReadonlySet<string> = new Set([
  'and',
  'or',
  'error',
  'constantly',
  'pact-version',
  'enforce-pact-version',
  'verify',
  'format-address',
  'env-simulate-onchain',
  'env-dynref',
  'env-gasprice',
  'env-gasrate',
  'env-gasmodel-fixed',
])

const CONSTANTLY_PARAMS: readonly Param[] = ['value', 'ignored'].map((name) => ({ name, type: null }))

/** The network has `constantly` as a lambda of two parameters, and charges it so. */
const CONSTANTLY = new Lambda(CONSTANTLY_PARAMS, [local(1, NOWHERE)], null, TOP_LEVEL_MODE)

/** The language of transactions. */
export const language: Language = languageWith([], [])

/** The language with `print`, whose name stays free. */
export const printingLanguage: Language = {
  ...language,
  natives: new Map([...language.natives, [PRINTING.name, new NativeFunction(PRINTING, 0)]]),
}

/** The language with additional natives, which cost no gas, and additional special forms. Test files use it. */
export function languageWith(
  own: readonly Native<Run>[],
  forms: Iterable<readonly [name: string, form: SpecialForm]>,
): Language {
  const added = [...forms]
  return {
    reserved: new Set([
      ...[...natives, ...own].map(({ name }) => name).filter((name) => !UNRESERVED.has(name)),
      ...NATIVE_FORMS,
      ...added.map(([name]) => name),
    ]),
    natives: new Map<string, Term>([
      ...CONSTANTS,
      ['constantly', CONSTANTLY],
      ...natives.map(
        (native) =>
          [native.name, new NativeFunction(native, nativePrice(native.name), nativeWork(native.name))] as const,
      ),
      ...own.map((native) => [native.name, new NativeFunction(native, 0)] as const),
    ]),
    forms: new Map([...specialForms, ...added]),
  }
}
