/** Encodes names, types and values within a hashed module. */

import { compareText } from '../../../values/compare.ts'
import { Decimal } from '../../../values/decimal.ts'
import {
  CapabilityToken,
  Guard,
  ModuleRef,
  type RowSchema,
  type TableRef,
  Time,
  type Type,
  Unit,
  type Value,
} from '../../../values/value.ts'
import { CborWriter } from './cbor.ts'
import { isLiteral, type Literal, type ModuleName, moduleNameOf, sortedNames } from './terms.ts'

/** Numbers of the types without parts. */
const PRIMITIVES = { integer: 0, decimal: 1, bool: 2, string: 3, guard: 4, keyset: 4, time: 5, unit: 6 } as const
const PREDICATES = ['keys-all', 'keys-2', 'keys-any']

export class ValueEncoder {
  readonly #writer: CborWriter
  /** Qualified name of a module -> hash of it in this encoding. */
  readonly #hashOf: (module: string) => Uint8Array
  /** Schemas name schemas, so each is encoded once. */
  readonly #schemas = new Map<RowSchema, Uint8Array>()

  constructor(writer: CborWriter, hashOfModule: (module: string) => Uint8Array) {
    this.#writer = writer
    this.#hashOf = hashOfModule
  }

  moduleName({ name, namespace }: ModuleName): void {
    const writer = this.#writer
    writer
      .array(2)
      .text(name)
      .maybe(namespace, (text) => writer.text(text))
  }

  /** `name` or `namespace.name`. */
  keysetName(name: string): void {
    this.moduleName(moduleNameOf(name))
  }

  /** `module.member` or `namespace.module.member`. */
  qualifiedName(qualified: string): void {
    const dot = qualified.lastIndexOf('.')
    this.#writer.array(2).text(qualified.slice(dot + 1))
    this.moduleName(moduleNameOf(qualified.slice(0, dot)))
  }

  type(type: Type): void {
    const writer = this.#writer
    switch (type.type) {
      case 'list':
        if (type.item === null) writer.array(1).unsigned(2)
        else {
          writer.array(2).unsigned(1)
          this.type(type.item)
        }
        break
      case 'module':
        writer.array(2).unsigned(3)
        writer.vector(sortedNames(type.interfaces), (name) => this.moduleName(name))
        break
      case 'object':
      case 'table':
        if (type.schema === null) writer.array(1).unsigned(5)
        else {
          writer.array(2).unsigned(type.type === 'object' ? 4 : 6)
          this.#schema(type.schema)
        }
        break
      case 'any':
        writer.array(1).unsigned(8)
        break
      default:
        writer.array(2).unsigned(0).unsigned(PRIMITIVES[type.type])
    }
  }

  /** The schema of a table. The network has no tables without one; here it is an empty array. */
  schemaOf(type: Type | null): void {
    const schema = type?.type === 'object' || type?.type === 'table' ? type.schema : null
    if (schema === null) this.#writer.array(0)
    else this.#schema(schema)
  }

  /** Fields of a schema, in order of their names. */
  fields(fields: ReadonlyMap<string, Type | null>): void {
    this.#writer.map(fields.size)
    for (const [name, type] of sorted(fields)) {
      this.#writer.text(name)
      this.type(type ?? { type: 'any' })
    }
  }

  #schema(schema: RowSchema): void {
    let bytes = this.#schemas.get(schema)
    if (bytes === undefined) {
      const writer = new CborWriter()
      const inner = new ValueEncoder(writer, this.#hashOf)
      for (const [known, encoded] of this.#schemas) inner.#schemas.set(known, encoded)
      writer.array(2)
      inner.qualifiedName(schema.qualified)
      inner.fields(schema.fields)
      bytes = writer.bytes
      for (const [known, encoded] of inner.#schemas) this.#schemas.set(known, encoded)
      this.#schemas.set(schema, bytes)
    }
    this.#writer.raw(bytes)
  }

  literal(value: Literal): void {
    const writer = this.#writer
    if (typeof value === 'string') writer.array(2).unsigned(0).text(value)
    else if (typeof value === 'bigint') writer.array(2).unsigned(1).integer(value)
    else if (value instanceof Decimal)
      writer.array(2).unsigned(2).array(2).unsigned(value.places).integer(value.mantissa)
    else if (value instanceof Unit) writer.array(1).unsigned(3)
    else writer.array(2).unsigned(4).bool(value)
  }

  value(value: Value): void {
    const writer = this.#writer.array(2)
    if (isLiteral(value)) {
      writer.unsigned(0)
      this.literal(value)
    } else if (Array.isArray(value)) writer.unsigned(1).vector(value, (item) => this.value(item))
    else if (value instanceof Guard) {
      writer.unsigned(2)
      this.#guard(value)
    } else if (value instanceof Map) {
      writer.unsigned(3).map(value.size)
      for (const [name, item] of sorted(value as ReadonlyMap<string, Value>)) {
        writer.text(name)
        this.value(item)
      }
    } else if (value instanceof ModuleRef) {
      writer.unsigned(4).array(2)
      this.moduleName(moduleNameOf(value.name))
      writer.vector(sortedNames(value.interfaces), (name) => this.moduleName(name))
    } else if (value instanceof CapabilityToken) this.#token(value)
    else if (value instanceof Time) writer.unsigned(6).integer(value.micros)
    else this.#table(value as TableRef)
  }

  #values(values: readonly Value[]): void {
    this.#writer.list(values, (value) => this.value(value))
  }

  #token({ name, args }: CapabilityToken): void {
    const dot = name.lastIndexOf('.')
    const module = name.slice(0, dot)
    this.#writer.unsigned(5).array(2).array(3)
    this.moduleName(moduleNameOf(module))
    this.#writer.text(name.slice(dot + 1)).byteString(this.#hashOf(module))
    this.#values(args)
  }

  #table(table: TableRef): void {
    const writer = this.#writer.unsigned(7).array(3)
    this.qualifiedName(table.qualified)
    writer.byteString(this.#hashOf(table.module))
    this.schemaOf({ type: 'table', schema: table.schema })
  }

  #guard({ is }: Guard): void {
    const writer = this.#writer.array(2)
    switch (is.kind) {
      case 'keyset':
        writer.unsigned(0).array(2)
        writer.vector([...new Set(is.keys)].sort(compareText), (key) => writer.text(key))
        this.#predicate(is.predicate)
        break
      case 'keysetRef':
        writer.unsigned(1)
        this.keysetName(is.name)
        break
      case 'user':
        writer.unsigned(2).array(2)
        this.qualifiedName(is.fun)
        this.#values(is.args)
        break
      case 'capability':
        writer.unsigned(3).array(3)
        this.qualifiedName(is.name)
        this.#values(is.args)
        writer.maybe(is.pactId, (id) => writer.text(id))
        break
      case 'module':
        writer.unsigned(4).array(2)
        this.moduleName(moduleNameOf(is.module))
        writer.text(is.name)
        break
      case 'pact':
        writer.unsigned(5).array(2).text(is.pactId).text(is.name)
    }
  }

  #predicate(name: string): void {
    const known = PREDICATES.indexOf(name)
    if (known >= 0) this.#writer.array(1).unsigned(known)
    else {
      this.#writer.array(2).unsigned(3).array(2)
      if (name.includes('.')) {
        this.#writer.unsigned(0)
        this.qualifiedName(name)
      } else this.#writer.unsigned(1).text(name)
    }
  }
}

/** Entries by name, in the order of code points. */
export function sorted<T>(entries: ReadonlyMap<string, T>): [name: string, value: T][] {
  return [...entries].sort(([a], [b]) => compareText(a, b))
}
