/** Types of expressions, as far as their text shows them. */
import type { CallForm, Form, TypeForm } from '../contracts/syntax/form.ts'
import { headNameOf } from './fault.ts'
import { calleeOf, type ModuleFacts, schemaFields, type Types, tableSchema } from './module-facts.ts'

const INTEGER: TypeForm = { type: 'integer' }
const DECIMAL: TypeForm = { type: 'decimal' }
const STRING: TypeForm = { type: 'string' }
const BOOL: TypeForm = { type: 'bool' }
const GUARD: TypeForm = { type: 'guard' }

/** Natives whose result has one type. */
const RESULTS: ReadonlyMap<string, TypeForm> = new Map([
  ...each(INTEGER, ['length', 'str-to-int', 'mod', 'read-integer', 'shift', 'xor', '&', '|']),
  ...each(DECIMAL, ['sqrt', 'dec', 'ln', 'exp', 'log', 'read-decimal', 'diff-time']),
  ...each(STRING, ['format', 'hash', 'create-principal', 'read-string', 'int-to-str', 'concat', 'typeof', 'tx-hash']),
  ...each(BOOL, ['=', '!=', '<', '<=', '>', '>=', 'and', 'or', 'not', 'enforce', 'contains', 'validate-principal']),
  ...each(GUARD, ['read-keyset', 'keyset-ref-guard', 'create-capability-guard', 'create-user-guard']),
  ...each(GUARD, ['create-module-guard', 'create-pact-guard', 'create-capability-pact-guard']),
])

function each(type: TypeForm, names: readonly string[]): (readonly [string, TypeForm])[] {
  return names.map((name) => [name, type] as const)
}

const ROUNDING: ReadonlySet<string> = new Set(['floor', 'ceiling', 'round'])
const OF_OPERANDS: ReadonlySet<string> = new Set(['+', '-', '*', '/', 'abs', 'max', 'min'])

/** The type of an expression; null if its text does not show it. */
export function typeOf(form: Form | undefined, types: Types, module: ModuleFacts): TypeForm | null {
  switch (form?.form) {
    case 'string':
      return STRING
    case 'number':
      return typeof form.value === 'bigint' ? INTEGER : DECIMAL
    case 'list':
      return { type: 'list', item: null }
    case 'object':
      return { type: 'object', schema: null }
    case 'atom':
      if (form.name === 'true' || form.name === 'false') return BOOL
      if (types.has(form.name)) return types.get(form.name) ?? null
      return module.outline.constants.find(({ name }) => name === form.name)?.type ?? null
    case 'call':
      return typeOfCall(form, types, module)
    default:
      return null
  }
}

function typeOfCall(call: CallForm, types: Types, module: ModuleFacts): TypeForm | null {
  const { items } = call
  const name = headNameOf(call)
  const type = (form: Form | undefined) => typeOf(form, types, module)
  const known = name === null ? undefined : RESULTS.get(name)
  if (known !== undefined) return known
  if (name === null) return calleeOf(items[0], module)?.result ?? null
  if (ROUNDING.has(name)) return items.length > 2 ? DECIMAL : INTEGER
  if (OF_OPERANDS.has(name)) return commonType(items.slice(1).map(type))
  switch (name) {
    case 'if':
      return type(items[2]) ?? type(items[3])
    case 'at':
      return typeOfField(items[1], type(items[2]), module)
    case 'read': {
      const schema = items[1]?.form === 'atom' ? tableSchema(items[1].name, module) : null
      return { type: 'object', schema }
    }
    default:
      return calleeOf(items[0], module)?.result ?? null
  }
}

/** The type of numbers of several types: a decimal makes the result one. */
function commonType(types: readonly (TypeForm | null)[]): TypeForm | null {
  if (types.some((type) => type?.type === 'decimal')) return DECIMAL
  const [first] = types
  return types.every((type) => type !== null && type.type === first?.type) ? (first ?? null) : null
}

function typeOfField(field: Form | undefined, object: TypeForm | null, module: ModuleFacts): TypeForm | null {
  if (field?.form !== 'string' || object?.type !== 'object' || object.schema === null) return null
  return schemaFields(object.schema, module).get(field.value) ?? null
}
