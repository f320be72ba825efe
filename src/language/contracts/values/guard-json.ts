/** Decodes guards from JSON. */
import type { ExactJson } from '#ground/base/json.ts'
import { compareText } from './compare.ts'
import { Guard, type Value } from './value.ts'

const NAME =
  /^[A-Za-z%#+\-_&$@<>=^?*!|/~][A-Za-z0-9%#+\-_&$@<>=^?*!|/~]*(?:\.[A-Za-z%#+\-_&$@<>=^?*!|/~][A-Za-z0-9%#+\-_&$@<>=^?*!|/~]*){0,2}$/
const DEFAULT_PREDICATE = 'keys-all'

/** @returns the guard that the fields describe, or null if they describe none */
export function guardFromFields(
  object: { readonly [key: string]: ExactJson },
  read: (json: ExactJson) => Value,
): Guard | null {
  const get = (key: string) => (Object.hasOwn(object, key) ? object[key] : undefined)
  const keyset = keysetOf(get('keys'), get('pred'))
  if (keyset !== null) return keyset
  const ref = keysetNameOf(get('keysetref'))
  if (ref !== null) return new Guard({ kind: 'keysetRef', name: ref })
  const [fun, args] = [get('fun'), get('args')]
  if (isQualified(fun) && Array.isArray(args)) return new Guard({ kind: 'user', fun, args: args.map(read) })
  const [capability, capArgs, capPact] = [get('cgName'), get('cgArgs'), get('cgPactId') ?? null]
  if (isQualified(capability) && Array.isArray(capArgs) && (capPact === null || typeof capPact === 'string')) {
    return new Guard({ kind: 'capability', name: capability, args: capArgs.map(read), pactId: capPact })
  }
  const [module, name, pactId] = [moduleFromJson(get('moduleName')), get('name'), get('pactId')]
  if (module !== null && typeof name === 'string') return new Guard({ kind: 'module', module, name })
  return typeof pactId === 'string' && typeof name === 'string' ? new Guard({ kind: 'pact', pactId, name }) : null
}

/**
 * Accepts the values that may stand for a keyset: a keyset, a list of keys (all must sign), or an object with `keys`
 * and an optional `pred`.
 * @returns null if the value is none of these
 */
export function keysetFromValue(value: Value): Guard | null {
  if (value instanceof Guard) return value.is.kind === 'keyset' ? value : null
  if (typeof value !== 'object') return null
  // Sorting many keys again at each reading would cost more than its gas.
  const before = known.get(value)
  if (before !== undefined) return before
  const keyset = value instanceof Map ? keysetOf(value.get('keys'), value.get('pred')) : keysetOf(value, undefined)
  known.set(value, keyset)
  return keyset
}

const known = new WeakMap<object, Guard | null>()

/**
 * Builds a keyset from sorted, distinct keys.
 * @returns null if the keys are not a list of strings or the predicate is not a valid name
 */
function keysetOf(keys: unknown, predicate: unknown): Guard | null {
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) return null
  const name = predicate ?? DEFAULT_PREDICATE
  if (typeof name !== 'string' || !NAME.test(name)) return null
  return new Guard({ kind: 'keyset', keys: [...new Set<string>(keys)].sort(compareText), predicate: name })
}

/** `"name"` or `{"ns": "free", "ksn": "name"}` */
function keysetNameOf(json: ExactJson | undefined): string | null {
  if (typeof json === 'string') return json === '' ? null : json
  if (typeof json !== 'object' || json === null) return null
  const { ns, ksn } = json as { readonly [key: string]: ExactJson }
  if (typeof ksn !== 'string') return null
  if (ns === undefined || ns === null) return ksn
  return typeof ns === 'string' ? `${ns}.${ksn}` : null
}

/**
 * Decodes the name of a module: `{"namespace": null, "name": "coin"}`.
 * @returns null if the JSON is not a module name
 */
export function moduleFromJson(json: ExactJson | undefined): string | null {
  if (typeof json !== 'object' || json === null) return null
  const { namespace, name } = json as { readonly [key: string]: ExactJson }
  if (typeof name !== 'string') return null
  if (namespace === undefined || namespace === null) return name
  return typeof namespace === 'string' ? `${namespace}.${name}` : null
}

function isQualified(name: ExactJson | undefined): name is string {
  return typeof name === 'string' && name.includes('.') && NAME.test(name)
}
