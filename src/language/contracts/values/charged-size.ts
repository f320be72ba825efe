/**
 * Size of a value in bytes, as the public network measures it to set the price of rows, yields, keysets, hashing and
 * printing.
 *
 * A record counts one byte, a variant two and a collection five. A text counts its UTF-8 bytes and four more. Every number
 * here is one of PROTOCOL.md E.5.
 */
import { bitLength } from './bits.ts'
import { Decimal } from './decimal.ts'
import {
  CapabilityToken,
  Guard,
  type GuardKind,
  ModuleRef,
  type ObjectValue,
  TableRef,
  Time,
  Unit,
  type Value,
} from './value.ts'

const RECORD = 1
const VARIANT = 2
const COLLECTION = 5
const TEXT = 4
const BOOL = 1
const TIME = 8
/** A machine integer, such as the number of a step. */
const COUNT = 5
/** Hash of a module: 32 bytes. */
const HASH = TEXT + 32
const LITERAL = VARIANT + VARIANT
/** Smaller parts are measured again, because that is faster than a cache lookup. */
const MIN_CACHED_BYTES = 300

const known = new WeakMap<object, number>()

/** Bytes of a value as a tree: shared parts count each time. Large parts are measured once. */
export function chargedSize(value: Value): number {
  if (typeof value === 'string') return LITERAL + textSize(value)
  if (typeof value === 'bigint') return LITERAL + integerSize(value)
  if (typeof value === 'boolean') return LITERAL + BOOL
  const before = known.get(value)
  if (before !== undefined) return before
  const size = sizeOfObject(value)
  if (size >= MIN_CACHED_BYTES) known.set(value, size)
  return size
}

function sizeOfObject(value: Exclude<Value, string | bigint | boolean>): number {
  if (value instanceof Decimal) return LITERAL + RECORD + 1 + integerSize(value.mantissa)
  if (value instanceof Unit) return LITERAL
  if (value instanceof Time) return VARIANT + TIME
  if (value instanceof Map) return VARIANT + rowSize(value as ObjectValue)
  if (value instanceof Guard) return VARIANT + guardSize(value)
  if (value instanceof ModuleRef) {
    return VARIANT + RECORD + moduleNameSize(value.name) + collectionSize(value.interfaces, moduleNameSize)
  }
  if (value instanceof CapabilityToken) {
    return VARIANT + RECORD + qualifiedNameSize(value.name) + HASH + argumentsSize(value.args)
  }
  if (value instanceof TableRef) return VARIANT + tableSize(value)
  return VARIANT + argumentsSize(value as readonly Value[])
}

/** The fields of an object, without the byte that says that it is one. Rows are measured so. */
export function rowSize(row: ObjectValue): number {
  let size = COLLECTION
  for (const [name, value] of row) size += RECORD + textSize(name) + chargedSize(value)
  return size
}

/** UTF-8 bytes and the length. */
export function textSize(text: string): number {
  return TEXT + Buffer.byteLength(text, 'utf8')
}

/** At least 8 bytes. */
export function integerSize(n: bigint): number {
  return Math.floor(Math.max(64, bitLength(n)) / 8)
}

function collectionSize<T>(items: Iterable<T>, sizeOf: (item: T) => number): number {
  let size = COLLECTION
  for (const item of items) size += sizeOf(item)
  return size
}

function argumentsSize(args: readonly Value[]): number {
  return collectionSize(args, chargedSize)
}

function optionalSize<T>(value: T | null, sizeOf: (value: T) => number): number {
  return VARIANT + (value === null ? 0 : sizeOf(value))
}

/** A guard on its own, as in a namespace. */
export function guardSize({ is }: Guard): number {
  return VARIANT + guardKindSize(is)
}

function guardKindSize(is: GuardKind): number {
  switch (is.kind) {
    case 'keyset':
      return keysetSize(is)
    case 'keysetRef':
      return RECORD + nameWithNamespace(is.name)
    case 'user':
      return userGuardSize(is)
    case 'capability':
      return capabilityGuardSize(is)
    case 'module':
      return RECORD + moduleNameSize(is.module) + textSize(is.name)
    case 'pact':
      return RECORD + textSize(is.pactId) + textSize(is.name)
  }
}

type OfKind<K extends GuardKind['kind']> = Extract<GuardKind, { kind: K }>

/** A keyset on its own, as `define-keyset` stores it. */
export function keysetSize({ keys, predicate }: OfKind<'keyset'>): number {
  return RECORD + collectionSize(keys.length > 1 ? new Set(keys) : keys, textSize) + predicateSize(predicate)
}

const PREDICATES: ReadonlySet<string> = new Set(['keys-all', 'keys-any', 'keys-2'])

/** A predicate of one's own has a name, with or without a module. */
export function predicateSize(predicate: string): number {
  if (PREDICATES.has(predicate)) return VARIANT
  return VARIANT + VARIANT + (predicate.includes('.') ? qualifiedNameSize(predicate) : textSize(predicate))
}

/** A user guard without the byte that says which kind of guard it is. */
export function userGuardSize({ fun, args }: Pick<OfKind<'user'>, 'fun' | 'args'>): number {
  return RECORD + qualifiedNameSize(fun) + argumentsSize(args)
}

/** A capability guard without the byte that says which kind of guard it is. */
export function capabilityGuardSize({ name, args, pactId }: OfKind<'capability'>): number {
  return RECORD + qualifiedNameSize(name) + argumentsSize(args) + optionalSize(pactId, textSize)
}

/** `module.member` or `namespace.module.member`. */
export function qualifiedNameSize(name: string): number {
  const at = name.lastIndexOf('.')
  return RECORD + textSize(name.slice(at + 1)) + moduleNameSize(name.slice(0, Math.max(0, at)))
}

/** `module` or `namespace.module`. */
function moduleNameSize(name: string): number {
  return RECORD + nameWithNamespace(name)
}

function nameWithNamespace(name: string): number {
  const at = name.indexOf('.')
  const namespace = at < 0 ? null : name.slice(0, at)
  return textSize(name.slice(at + 1)) + optionalSize(namespace, textSize)
}

/** A table with its module, the hash of that, and the name of its schema. The fields of the schema do not count. */
function tableSize({ name, module, schema }: TableRef): number {
  const schemaSize = RECORD + qualifiedNameSize(schema?.qualified ?? `${module}.`) + COLLECTION
  return RECORD + RECORD + textSize(name) + moduleNameSize(module) + HASH + schemaSize
}

/** A namespace with its two guards. */
export function namespaceSize(name: string, user: Guard, admin: Guard): number {
  return RECORD + textSize(name) + guardSize(user) + guardSize(admin)
}

/** State of a pact between two steps. */
export interface ChargedPact {
  readonly id: string
  readonly fun: { readonly qualified: string }
  readonly args: readonly Value[]
  readonly yielded: {
    readonly data: ObjectValue
    readonly provenance: { readonly chain: string } | null
    readonly source: string | null
  } | null
  readonly nested: ReadonlyMap<string, ChargedPact>
}

/** State of a pact that was begun by a command. */
export function pactSize(pact: ChargedPact): number {
  return nestedPactSize(pact) + BOOL
}

function nestedPactSize({ id, fun, args, yielded, nested }: ChargedPact): number {
  const call = RECORD + qualifiedNameSize(fun.qualified) + argumentsSize(args)
  const within = collectionSize(nested, ([key, state]) => RECORD + textSize(key) + nestedPactSize(state))
  return RECORD + COUNT + optionalSize(yielded, yieldSize) + COUNT + textSize(id) + call + within
}

function yieldSize({ data, provenance, source }: NonNullable<ChargedPact['yielded']>): number {
  const target = optionalSize(provenance, ({ chain }) => RECORD + textSize(chain) + HASH)
  return RECORD + rowSize(data) + target + optionalSize(source, textSize)
}
