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

  encodeModuleName({ name, namespace }: ModuleName): void {
    const writer = this.#writer
    writer
      .array(2)
      .text(name)
      .maybe(namespace, (text) => writer.text(text))
  }

  /** `name` or `namespace.name`. */
  encodeKeysetName(name: string): void {
    this.encodeModuleName(moduleNameOf(name))
  }

  /** `module.member` or `namespace.module.member`. */
  encodeQualifiedName(qualified: string): void {
    const dot = qualified.lastIndexOf('.')
    this.#writer.array(2).text(qualified.slice(dot + 1))
    this.encodeModuleName(moduleNameOf(qualified.slice(0, dot)))
  }

  encodeType(type: Type): void {
    const writer = this.#writer
    switch (type.type) {
      case 'list':
        if (type.item === null) writer.array(1).uint(2)
        else {
          writer.array(2).uint(1)
          this.encodeType(type.item)
        }
        break
      case 'module':
        writer.array(2).uint(3)
        writer.vector(sortedNames(type.interfaces), (name) => this.encodeModuleName(name))
        break
      case 'object':
      case 'table':
        if (type.schema === null) writer.array(1).uint(5)
        else {
          writer.array(2).uint(type.type === 'object' ? 4 : 6)
          this.#encodeSchema(type.schema)
        }
        break
      case 'any':
        writer.array(1).uint(8)
        break
      default:
        writer.array(2).uint(0).uint(PRIMITIVES[type.type])
    }
  }

  /** The schema of a table. The network has no tables without one; here it is an empty array. */
  encodeSchemaOf(type: Type | null): void {
    const schema = type?.type === 'object' || type?.type === 'table' ? type.schema : null
    if (schema === null) this.#writer.array(0)
    else this.#encodeSchema(schema)
  }

  /** Fields of a schema, in order of their names. */
  encodeFields(fields: ReadonlyMap<string, Type | null>): void {
    this.#writer.map(fields.size)
    for (const [name, type] of sortByName(fields)) {
      this.#writer.text(name)
      this.encodeType(type ?? { type: 'any' })
    }
  }

  #encodeSchema(schema: RowSchema): void {
    let bytes = this.#schemas.get(schema)
    if (bytes === undefined) {
      const writer = new CborWriter()
      const inner = new ValueEncoder(writer, this.#hashOf)
      for (const [known, encoded] of this.#schemas) inner.#schemas.set(known, encoded)
      writer.array(2)
      inner.encodeQualifiedName(schema.qualified)
      inner.encodeFields(schema.fields)
      bytes = writer.bytes
      for (const [known, encoded] of inner.#schemas) this.#schemas.set(known, encoded)
      this.#schemas.set(schema, bytes)
    }
    this.#writer.raw(bytes)
  }

  encodeLiteral(value: Literal): void {
    const writer = this.#writer
    if (typeof value === 'string') writer.array(2).uint(0).text(value)
    else if (typeof value === 'bigint') writer.array(2).uint(1).integer(value)
    else if (value instanceof Decimal) writer.array(2).uint(2).array(2).uint(value.places).integer(value.mantissa)
    else if (value instanceof Unit) writer.array(1).uint(3)
    else writer.array(2).uint(4).bool(value)
  }

  encodeValue(value: Value): void {
    const writer = this.#writer.array(2)
    if (isLiteral(value)) {
      writer.uint(0)
      this.encodeLiteral(value)
    } else if (Array.isArray(value)) writer.uint(1).vector(value, (item) => this.encodeValue(item))
    else if (value instanceof Guard) {
      writer.uint(2)
      this.#encodeGuard(value)
    } else if (value instanceof Map) {
      writer.uint(3).map(value.size)
      for (const [name, item] of sortByName(value as ReadonlyMap<string, Value>)) {
        writer.text(name)
        this.encodeValue(item)
      }
    } else if (value instanceof ModuleRef) {
      writer.uint(4).array(2)
      this.encodeModuleName(moduleNameOf(value.name))
      writer.vector(sortedNames(value.interfaces), (name) => this.encodeModuleName(name))
    } else if (value instanceof CapabilityToken) this.#encodeToken(value)
    else if (value instanceof Time) writer.uint(6).integer(value.micros)
    else this.#encodeTable(value as TableRef)
  }

  #encodeValues(values: readonly Value[]): void {
    this.#writer.list(values, (value) => this.encodeValue(value))
  }

  #encodeToken({ name, args }: CapabilityToken): void {
    const dot = name.lastIndexOf('.')
    const module = name.slice(0, dot)
    this.#writer.uint(5).array(2).array(3)
    this.encodeModuleName(moduleNameOf(module))
    this.#writer.text(name.slice(dot + 1)).byteString(this.#hashOf(module))
    this.#encodeValues(args)
  }

  #encodeTable(table: TableRef): void {
    const writer = this.#writer.uint(7).array(3)
    this.encodeQualifiedName(table.qualified)
    writer.byteString(this.#hashOf(table.module))
    this.encodeSchemaOf({ type: 'table', schema: table.schema })
  }

  #encodeGuard({ is }: Guard): void {
    const writer = this.#writer.array(2)
    switch (is.kind) {
      case 'keyset':
        writer.uint(0).array(2)
        writer.vector([...new Set(is.keys)].sort(compareText), (key) => writer.text(key))
        this.#encodePredicate(is.predicate)
        break
      case 'keysetRef':
        writer.uint(1)
        this.encodeKeysetName(is.name)
        break
      case 'user':
        writer.uint(2).array(2)
        this.encodeQualifiedName(is.fun)
        this.#encodeValues(is.args)
        break
      case 'capability':
        writer.uint(3).array(3)
        this.encodeQualifiedName(is.name)
        this.#encodeValues(is.args)
        writer.maybe(is.pactId, (id) => writer.text(id))
        break
      case 'module':
        writer.uint(4).array(2)
        this.encodeModuleName(moduleNameOf(is.module))
        writer.text(is.name)
        break
      case 'pact':
        writer.uint(5).array(2).text(is.pactId).text(is.name)
    }
  }

  #encodePredicate(name: string): void {
    const known = PREDICATES.indexOf(name)
    if (known >= 0) this.#writer.array(1).uint(known)
    else {
      this.#writer.array(2).uint(3).array(2)
      if (name.includes('.')) {
        this.#writer.uint(0)
        this.encodeQualifiedName(name)
      } else this.#writer.uint(1).text(name)
    }
  }
}

/** Entries by name, in the order of code points. */
export function sortByName<T>(entries: ReadonlyMap<string, T>): [name: string, value: T][] {
  return [...entries].sort(([a], [b]) => compareText(a, b))
}
