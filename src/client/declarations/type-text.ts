/** Types of the contract language as text of TypeScript. */
import type { Form, TypeForm } from '#language/contracts/syntax/form.ts'

/**
 * `json` is a value on the wire: results, rows, arguments of capabilities. `code` is an argument of a call, which clients
 * print as code.
 */
export type ValueNotation = 'json' | 'code'

/** @returns the type of a schema as TypeScript, or null if no contract of the file has it */
export type SchemaType = (schema: string) => string | null

const JSON_TYPES = {
  string: 'string',
  integer: 'PactInteger',
  decimal: 'PactDecimal',
  bool: 'boolean',
  time: 'PactTime',
  guard: 'PactGuard',
  keyset: 'PactKeyset',
  unit: 'null',
  any: 'PactValue',
} as const

/** Guards have no literal in code: a client passes code such as `(read-keyset "ks")`. */
const CODE_TYPES = {
  ...JSON_TYPES,
  time: 'Date | PactCode',
  guard: 'PactCode',
  keyset: 'PactCode',
  any: 'PactArgument',
}

export function typeText(type: TypeForm | null, flavour: ValueNotation, schemaType: SchemaType): string {
  const any = flavour === 'json' ? 'PactValue' : 'PactArgument'
  if (type === null) return any
  switch (type.type) {
    case 'list':
      return `Array<${typeText(type.item, flavour, schemaType)}>`
    case 'object': {
      const known = type.schema === null ? null : schemaType(type.schema)
      if (flavour === 'json') return known ?? 'PactObject'
      return known === null ? `{ [field: string]: PactArgument }` : `AsCode<${known}>`
    }
    case 'module':
      return flavour === 'json' ? 'PactModule' : 'PactCode'
    case 'table':
      return 'never'
    default:
      return (flavour === 'json' ? JSON_TYPES : CODE_TYPES)[type.type]
  }
}

/** Type of a constant from its text, or null for code. */
export function literalType(form: Form): string | null {
  switch (form.form) {
    case 'string':
      return JSON.stringify(form.value)
    case 'number':
      return typeof form.value === 'bigint' ? 'PactInteger' : 'PactDecimal'
    case 'atom':
      return form.name === 'true' || form.name === 'false' ? form.name : null
    case 'list': {
      const types = [...new Set(form.items.map(literalType))]
      return types.length === 1 && types[0] !== null ? `Array<${types[0]}>` : null
    }
    default:
      return null
  }
}

/** The types that all files begin with. */
export const VALUE_TYPES = `/** An integer: a number, or a string where a double would round it. */
export type PactInteger = { int: string | number }
/** An exact decimal. Nodes answer with plain numbers where no digit is lost: see {@link PactResult}. */
export type PactDecimal = { decimal: string }
/** A time in UTC, such as \`{ time: '2026-01-31T12:00:00Z' }\`; \`timep\` has microseconds. */
export type PactTime = { time: string } | { timep: string }
export type PactKeyset = { keys: Array<string>; pred: string }
export type PactGuard =
  | PactKeyset
  | { keysetref: { ns: string | null; ksn: string } }
  | { fun: string; args: Array<PactValue> }
  | { cgName: string; cgArgs: Array<PactValue>; cgPactId: string | null }
  | { moduleName: PactModuleName; name: string }
  | { pactId: string | null; name: string }
export type PactModuleName = { namespace: string | null; name: string }
/** A reference to a module, with the interfaces that it implements. */
export type PactModule = { refName: PactModuleName; refSpec: Array<PactModuleName> }
export type PactObject = { [field: string]: PactValue }
export type PactValue =
  | string
  | boolean
  | PactInteger
  | PactDecimal
  | PactTime
  | PactGuard
  | PactModule
  | Array<PactValue>
  | PactObject
/** Code as an argument: \`() => '(read-keyset "ks")'\`, or a Literal of @kadena/client. */
export type PactCode = (() => string) | { getValue(): string; toJSON(): string }
/** An argument of a call. */
export type PactArgument =
  | string
  | boolean
  | PactInteger
  | PactDecimal
  | Date
  | PactCode
  | Array<PactArgument>
  | { [field: string]: PactArgument }
/** A value as an argument of a call: times become dates, guards and modules become code. */
export type AsCode<T> = T extends PactTime
  ? Date | PactCode
  : T extends PactKeyset | PactGuard | PactModule
    ? PactCode
    : T extends string | boolean | PactInteger | PactDecimal
      ? T
      : T extends Array<infer Item>
        ? Array<AsCode<Item>>
        : { [Name in keyof T]: AsCode<T[Name]> }
/** A value in the answer of a node: decimals are numbers where no digit is lost. */
export type PactResult<T> = T extends PactDecimal
  ? number | PactDecimal
  : T extends PactInteger | PactTime | PactGuard | PactModule
    ? T
    : T extends Array<infer Item>
      ? Array<PactResult<Item>>
      : T extends object
        ? { [Name in keyof T]: PactResult<T[Name]> }
        : T`
