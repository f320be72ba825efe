/** Validation of values against schemas; each schema is compiled once. */

import { NumberText } from '../base/json.ts'
import { suggestName } from '../base/similar-names.ts'
import { Compile, type TObject, type TSchema, Type } from './typebox.ts'

interface Validator {
  readonly accepts: (value: unknown) => boolean
  /** Describes the place and kind of the first error: `/items/3/hash must match pattern ...`. */
  readonly complaint: (value: unknown, path?: string) => string
}

/** Maximum length of an unknown field in a complaint: the request may have megabytes. */
const MAX_SHOWN_FIELD = 100

const validators = new WeakMap<TSchema, Validator>()

/** Validator of a schema; compiled on first use. */
export function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const compiled = Compile(withBigints(schema) as TSchema)
  const validator: Validator = {
    accepts: (value) => compiled.Check(value),
    complaint: (value, path = '') => {
      const alternative = alternativeFor(schema, value)
      if (alternative !== undefined) return validatorOf(alternative).complaint(value, path)
      const words = literalsOf(schema)
      if (words !== null) return `${path || 'the value'} must be one of ${words.join(', ')}`
      for (const [key, own] of partsOf(schema, value)) {
        const part = (value as Readonly<Record<string, unknown>>)[key]
        const validatorOfPart = validatorOf(own)
        if (!validatorOfPart.accepts(part)) return validatorOfPart.complaint(part, `${path}/${key}`)
      }
      const unknown = unknownFieldOf(schema, value)
      if (unknown !== undefined) return unknownFieldText(unknown, path, schema)
      const [first] = compiled.Errors(value)
      return `${path + (first?.instancePath ?? '') || 'the value'} ${first?.message ?? 'is wrong'}`
    },
  }
  validators.set(schema, validator)
  return validator
}

/** The only alternative of a union that fits values of this type; undefined unless there is exactly one. */
function alternativeFor({ anyOf = [] }: { readonly anyOf?: readonly TSchema[] }, value: unknown): TSchema | undefined {
  const kind = Array.isArray(value) ? 'array' : typeof value
  const fitting = anyOf.filter((each) => (each as { readonly type?: unknown }).type === kind)
  return fitting.length === 1 ? fitting[0] : undefined
}

/** The values of a union that has nothing but literals; null for other schemas. */
function literalsOf({ anyOf = [] }: { readonly anyOf?: readonly TSchema[] }): unknown[] | null {
  if (anyOf.length === 0 || !anyOf.every((each) => 'const' in each)) return null
  return anyOf.map((each) => (each as { readonly const: unknown }).const)
}

/** The first field of an object that its schema does not allow. */
function unknownFieldOf(schema: TSchema, value: unknown): string | undefined {
  const { additionalProperties, properties = {}, patternProperties } = schema as ValidatorParts
  if (additionalProperties !== false || patternProperties !== undefined) return undefined
  if (typeof value !== 'object' || value === null) return undefined
  return Object.keys(value).find((name) => !Object.hasOwn(properties, name))
}

function unknownFieldText(name: string, path: string, schema: TSchema): string {
  const { properties = {} } = schema as ValidatorParts
  const text = `${path}/${name.slice(0, MAX_SHOWN_FIELD)} is not a known field`
  return text + suggestName(name, Object.keys(properties))
}

/** Keywords of a schema that describe parts of a value. */
interface ValidatorParts {
  readonly additionalProperties?: boolean | TSchema
  readonly items?: TSchema | readonly TSchema[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly patternProperties?: Readonly<Record<string, TSchema>>
}

/**
 * Key and schema of each part of a value, to search for the first invalid part. The library collects all errors before
 * it returns the first, which takes seconds for megabytes of invalid items.
 */
function* partsOf(schema: TSchema, value: unknown): Generator<readonly [string | number, TSchema]> {
  const { items, properties = {}, patternProperties = {} } = schema as ValidatorParts
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

const isExactNumber = (value: unknown) => ['number', 'bigint'].includes(typeof value) || value instanceof NumberText

/**
 * Copies a schema so that its 64-bit integers also accept bigint: base/json.ts reads integers beyond 2^53 as bigint,
 * which JSON schema treats as another type. Exact numbers accept every numeric type of base/json.ts.
 *
 * Properties are copied by descriptor, because the library has non-enumerable ones.
 */
function withBigints(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withBigints)
  if (typeof schema !== 'object' || schema === null) return schema
  const { type, format, minimum } = schema as { type?: unknown; format?: unknown; minimum?: number }
  if (type === 'integer' && format === 'int64') {
    const bounds = minimum === undefined ? {} : { minimum: BigInt(minimum) }
    return Type.Union([Type.Integer(minimum === undefined ? {} : { minimum }), Type.BigInt(bounds)])
  }
  if (type === 'number' && format === 'exact') {
    return Type.Refine(Type.Unknown(), isExactNumber, () => 'must be number')
  }
  const copy = {}
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(schema))) {
    Object.defineProperty(copy, name, { ...property, value: withBigints(property.value) })
  }
  return copy
}

/**
 * Converts path and query parameters from text to the types of their schema. Integers must be decimal digits (not
 * `0x10` or `1e3`), booleans `true` or `false`. Other text stays unchanged, and the validator then rejects it.
 */
export function parameterValues(schema: TObject, texts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values: Record<string, unknown> = { ...texts }
  for (const [name, property] of Object.entries(schema.properties)) {
    const text = texts[name]
    const { type } = property as { readonly type?: unknown }
    if (type === 'boolean' && (text === 'true' || text === 'false')) values[name] = text === 'true'
    if (type === 'integer' && typeof text === 'string' && /^\d{1,15}$/.test(text)) values[name] = Number(text)
  }
  return values
}
