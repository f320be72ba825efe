/** Values, types and names as bytes (Pact/Core/Serialise/CBOR_V1.hs). */
import type { Cbor } from './cbor.ts'
import {
  type Fqn,
  type Guard,
  type Schema,
  splitModule,
  splitQualified,
  type Table,
  type Ty,
  type Value,
} from './terms.ts'

const PRIMS = ['integer', 'decimal', 'bool', 'string', 'guard', 'time', 'unit']
const TYPES = ['prim', 'list', 'any-list', 'modref', 'object', 'any-object', 'table', 'token', 'any']
const LITERALS = ['string', 'integer', 'decimal', 'unit', 'bool']
const GUARDS = ['keyset', 'keyset-ref', 'user', 'capability', 'module', 'pact']
const PREDICATES = ['keys-all', 'keys-2', 'keys-any']
const VALUES = ['literal', 'list', 'guard', 'object', 'modref', 'token', 'time', 'table']

export class ValueEncoder {
  readonly #out: Cbor

  constructor(out: Cbor) {
    this.#out = out
  }

  type(ty: Ty): void {
    const number = TYPES.indexOf(ty.t)
    if (!('p' in ty || 'of' in ty || 'faces' in ty || 'schema' in ty)) {
      this.#out.variant(number, 0)
      return
    }
    this.#out.variant(number, 1)
    if ('p' in ty) this.#out.integer(BigInt(PRIMS.indexOf(ty.p)))
    else if ('of' in ty) this.type(ty.of)
    else if ('faces' in ty) this.#out.vector(ty.faces, (face) => this.moduleName(face))
    else this.schema(ty.schema)
  }

  schema({ name, fields }: Schema): void {
    this.#out.array(2)
    this.qualified(name)
    this.#out.fields(fields, (ty) => this.type(ty))
  }

  value(value: Value): void {
    const number = VALUES.indexOf(value.v)
    if (number < 0) {
      this.#out.variant(0, 1)
      this.literal(value)
      return
    }
    this.#out.variant(number, 1)
    switch (value.v) {
      case 'list':
        this.#out.vector(value.items, (item) => this.value(item))
        return
      case 'object':
        this.#out.fields(value.fields, (item) => this.value(item))
        return
      case 'guard':
        this.#guard(value.g)
        return
      case 'modref':
        this.#out.array(2)
        this.moduleName(value.module)
        this.#out.vector(value.faces, (face) => this.moduleName(face))
        return
      case 'token':
        this.#out.array(2)
        this.fqn(value.fqn)
        this.#out.list(value.args, (arg) => this.value(arg))
        return
      case 'time':
        this.#out.integer(value.micros)
        return
      case 'table':
        this.#table(value)
        return
    }
  }

  #table({ name, module, hash, schema }: Table): void {
    this.#out.array(3)
    this.#out.array(2)
    this.#out.text(name)
    this.moduleName(module)
    this.#out.hash(hash)
    this.schema(schema)
  }

  #guard(g: Guard): void {
    this.#out.variant(GUARDS.indexOf(g.g), 1)
    switch (g.g) {
      case 'keyset':
        this.#out.array(2)
        this.#out.vector(g.keys, (key) => this.#out.text(key))
        this.#predicate(g.pred)
        return
      case 'keyset-ref':
        this.moduleName(g.name)
        return
      case 'user':
        this.#out.array(2)
        this.qualified(g.fun)
        this.#out.list(g.args, (arg) => this.value(arg))
        return
      case 'capability':
        this.#out.array(3)
        this.qualified(g.name)
        this.#out.list(g.args, (arg) => this.value(arg))
        this.#out.maybe(g.pact, (id) => this.#out.text(id))
        return
      case 'module':
        this.#out.array(2)
        this.moduleName(g.module)
        this.#out.text(g.name)
        return
      case 'pact':
        this.#out.array(2)
        this.#out.text(g.pact)
        this.#out.text(g.name)
        return
    }
  }

  #predicate(pred: string): void {
    const number = PREDICATES.indexOf(pred)
    if (number >= 0) {
      this.#out.variant(number, 0)
      return
    }
    this.#out.variant(3, 1)
    this.#out.variant(pred.includes('.') ? 0 : 1, 1)
    if (pred.includes('.')) this.qualified(pred)
    else this.#out.text(pred)
  }

  literal(value: Value): void {
    const number = LITERALS.indexOf(value.v)
    this.#out.variant(number, value.v === 'unit' ? 0 : 1)
    if (value.v === 'string') this.#out.text(value.s)
    else if (value.v === 'integer') this.#out.integer(value.n)
    else if (value.v === 'bool') this.#out.byte(value.b ? 0xf5 : 0xf4)
    else if (value.v === 'decimal') {
      this.#out.array(2)
      this.#out.integer(BigInt(value.d.p))
      this.#out.integer(value.d.m)
    }
  }

  fqn({ m, n, h }: Fqn): void {
    this.#out.array(3)
    this.moduleName(m)
    this.#out.text(n)
    this.#out.hash(h)
  }

  qualified(name: string): void {
    const { module, member } = splitQualified(name)
    this.#out.array(2)
    this.#out.text(member)
    this.moduleName(module)
  }

  moduleName(name: string): void {
    const { bare, namespace } = splitModule(name)
    this.#out.array(2)
    this.#out.text(bare)
    this.#out.maybe(namespace, (ns) => this.#out.text(ns))
  }
}
