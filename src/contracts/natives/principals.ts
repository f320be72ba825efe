/** Names of accounts that are made from guards: a letter says of which kind. */
import { evalError } from '../errors.ts'
import { hashText } from '../values/hash.ts'
import { Guard } from '../values/value.ts'
import { valueToJson } from '../values/wire.ts'
import { guardArg, textArg } from './arguments-of.ts'
import type { Native } from './native.ts'

const KEY = /^[0-9a-f]{64}$/
const HASH = '[\\w-]{43}'
const WORD = '[A-Za-z%#+\\-_&$@<>=?*!|/~^][\\w%#+\\-&$@<>=?*!|/~^.]*'
/** What the names of each kind look like. */
const FORMS: readonly (readonly [prefix: string, form: RegExp])[] = [
  ['k:', /^k:[0-9a-fA-F]{64}$/],
  ['w:', new RegExp(`^w:${HASH}:${WORD}$`)],
  ['r:', /^r:.+$/s],
  ['u:', new RegExp(`^u:${WORD}:${HASH}$`)],
  ['m:', new RegExp(`^m:${WORD}:${WORD}$`)],
  ['p:', new RegExp(`^p:${HASH}:${WORD}$`)],
  ['c:', new RegExp(`^c:${HASH}$`)],
]

/** The name of a guard. */
export function principalOf({ is }: Guard): string {
  switch (is.kind) {
    case 'keyset':
      return is.keys.length === 1 && is.predicate === 'keys-all' && KEY.test(is.keys[0])
        ? `k:${is.keys[0]}`
        : `w:${hashText(is.keys.join(''))}:${is.predicate}`
    case 'keysetRef':
      return `r:${is.name}`
    case 'user':
      return `u:${is.fun}:${hashText(is.args.map(valueToJson).join(''))}`
    case 'capability':
      return `c:${hashText(is.name + is.args.map(valueToJson).join('') + (is.pactId ?? ''))}`
    case 'module':
      return `m:${is.module}:${is.name}`
    case 'pact':
      return `p:${is.pactId}:${is.name}`
  }
}

function kindOf(name: string): string {
  return FORMS.find(([, form]) => form.test(name))?.[0] ?? ''
}

export const principals: readonly Native[] = [
  { name: 'create-principal', arity: [1, 1], run: ([guard]) => principalOf(guardArg('create-principal', guard)) },
  {
    name: 'validate-principal',
    arity: [2, 2],
    run: ([guard, name]) => {
      if (!(guard instanceof Guard)) throw evalError('validate-principal takes a guard and a name')
      return principalOf(guard) === textArg('validate-principal', name)
    },
  },
  { name: 'is-principal', arity: [1, 1], run: ([name]) => kindOf(textArg('is-principal', name)) !== '' },
  { name: 'typeof-principal', arity: [1, 1], run: ([name]) => kindOf(textArg('typeof-principal', name)) },
]
