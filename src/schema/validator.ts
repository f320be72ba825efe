/** Values against their schemas, compiled once each. */
import { type TObject, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'

export interface Validator {
  readonly accepts: (value: unknown) => boolean
  /** Where a value that is not accepted goes wrong, and how: `/items/3/hash must match pattern ...`. */
  readonly complaint: (value: unknown, path?: string) => string
}

const validators = new WeakMap<TSchema, Validator>()

/** The compiled validator of a schema; compiled at its first use. */
export function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const compiled = Compile(withBigints(schema) as TSchema)
  const validator: Validator = {
    accepts: (value) => compiled.Check(value),
    complaint: (value, path = '') => {
      const alternative = alternativeFor(schema, value)
      if (alternative !== undefined) return validatorOf(alternative).complaint(value, path)
      for (const [key, own] of partsOf(schema, value)) {
        const part = (value as Readonly<Record<string, unknown>>)[key]
        const validatorOfPart = validatorOf(own)
        if (!validatorOfPart.accepts(part)) return validatorOfPart.complaint(part, `${path}/${key}`)
      }
      const [first] = compiled.Errors(value)
      return `${path + (first?.instancePath ?? '') || 'the whole'} ${first?.message ?? 'is wrong'}`
    },
  }
  validators.set(schema, validator)
  return validator
}

/** Of several schemas the only one for values of this kind. */
function alternativeFor({ anyOf = [] }: { readonly anyOf?: readonly TSchema[] }, value: unknown): TSchema | undefined {
  const kind = Array.isArray(value) ? 'array' : typeof value
  const fitting = anyOf.filter((each) => (each as { readonly type?: unknown }).type === kind)
  return fitting.length === 1 ? fitting[0] : undefined
}

/** What a schema says of parts of a value. */
interface Parts {
  readonly items?: TSchema | readonly TSchema[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly patternProperties?: Readonly<Record<string, TSchema>>
}

/**
 * Key and schema of each part of a value. The library looks for all errors before it gives the first: in megabytes of
 * wrong items that takes seconds, so the first wrong part is looked for here.
 */
function* partsOf(schema: TSchema, value: unknown): Generator<readonly [string | number, TSchema]> {
  const { items, properties = {}, patternProperties = {} } = schema as Parts
  if (Array.isArray(value)) {
    const each = Array.isArray(items) ? undefined : (items as TSchema | undefined)
    for (let i = 0; each !== undefined && i < value.length; i++) yield [i, each]
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, own] of Object.entries(properties)) if (Object.hasOwn(value, key)) yield [key, own]
    for (const [pattern, own] of Object.entries(patternProperties)) {
      for (const key of Object.keys(value)) if (new RegExp(pattern).test(key)) yield [key, own]
    }
  }
}

/**
 * A copy of a schema in which integers of 64 bits may be bigint: so does core/json.ts read those beyond 2^53, and the
 * schema language knows bigint and integer as two types. Other than as plain copies, properties keep their attributes:
 * the library keeps its own out of sight.
 */
function withBigints(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withBigints)
  if (typeof schema !== 'object' || schema === null) return schema
  const { type, format, minimum } = schema as { type?: unknown; format?: unknown; minimum?: number }
  if (type === 'integer' && format === 'int64') {
    const bounds = minimum === undefined ? {} : { minimum: BigInt(minimum) }
    return Type.Union([Type.Integer(minimum === undefined ? {} : { minimum }), Type.BigInt(bounds)])
  }
  const copy = {}
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(schema))) {
    Object.defineProperty(copy, name, { ...property, value: withBigints(property.value) })
  }
  return copy
}

/**
 * Parameters of a path or query, which come as text, as values for their schema: whole numbers are decimal digits and
 * nothing else (`0x10` and `1e3` are none). What cannot be read stays as it came, for the validator to complain about.
 */
export function parameterValues(schema: TObject, texts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values: Record<string, unknown> = { ...texts }
  for (const [name, property] of Object.entries(schema.properties)) {
    const text = texts[name]
    const isNumber = (property as { readonly type?: unknown }).type === 'integer'
    if (isNumber && typeof text === 'string' && /^\d{1,15}$/.test(text)) values[name] = Number(text)
  }
  return values
}
