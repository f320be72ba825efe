/** Object types of expressions, as far as the text states them: by tables, declared types and results of functions. */
import type { Form, StringForm, TypeForm } from '../../contracts/syntax/form.ts'
import type { NamedSymbol } from '../text/symbols.ts'
import type { NameLookup } from './name-lookup.ts'

/** An object with the fields of a schema, or lists of such objects, `depth` lists deep. */
export interface ObjectType {
  readonly schema: NamedSymbol
  readonly depth: number
}

/** Type of an expression; null if it is not an object, or if its schema is unknown. */
export type KnownType = ObjectType | null

/** Natives whose result has the type of their last argument. */
const LIKE_LAST: ReadonlySet<string> = new Set([
  'filter',
  'take',
  'drop',
  'remove',
  'sort',
  'reverse',
  'distinct',
  'with-read',
  'with-default-read',
  'bind',
  'resume',
  'with-capability',
  'try',
])
/** Natives that take a key, or a list of keys, in front of an object. */
const KEY_FIRST: ReadonlySet<string> = new Set(['at', 'contains', 'remove', 'take', 'drop', 'where'])
/** Natives that take the name of a table first, and maybe a list of its fields. */
const READERS: ReadonlySet<string> = new Set(['read', 'select'])

export const listType = (type: KnownType): KnownType => type && { ...type, depth: type.depth + 1 }
export const itemOf = (type: KnownType | undefined): KnownType =>
  type != null && type.depth > 0 ? { ...type, depth: type.depth - 1 } : null

export class ObjectTypes {
  readonly #lookup: NameLookup
  readonly #variables = new WeakMap<NamedSymbol, ObjectType>()

  constructor(lookup: NameLookup) {
    this.#lookup = lookup
  }

  /** Sets the type that the value of a variable has. */
  setInferred(variable: NamedSymbol, type: KnownType): void {
    if (type !== null) this.#variables.set(variable, type)
  }

  /** Type of a variable, parameter or constant. */
  typeOfName(symbol: NamedSymbol): KnownType {
    return symbol.params === null ? (this.declaredTypeOf(symbol) ?? this.#variables.get(symbol) ?? null) : null
  }

  /**
   * The type after the colon of a name: of a function, that of its result.
   * @param owner module or schema around the name. Parameters do not know theirs
   */
  declaredTypeOf({ type, owner: own }: NamedSymbol, owner = own): KnownType {
    // The schema of a field is a member of the module around its own schema.
    return this.#objectTypeIn(type, owner?.kind === 'defschema' ? owner.owner : owner)
  }

  #objectTypeIn(type: TypeForm | null, module: NamedSymbol | null): KnownType {
    if (type?.type === 'list') return listType(this.#objectTypeIn(type.item, module))
    if (type?.type !== 'object' || type.schema === null) return null
    const own = module?.members.get(type.schema)
    if (own !== undefined) return { schema: own, depth: 0 }
    const found = this.#lookup.resolveUse(type.schema, null)
    const isKnown = found !== null && found !== 'pending' && 'symbol' in found
    return isKnown ? { schema: found.symbol, depth: 0 } : null
  }

  /** Type of the rows of a table that a form names. */
  rowTypeOf(form: Form | undefined): KnownType {
    if (form?.form !== 'atom') return null
    const meaning = this.#lookup.resolveUse(form.name, null)
    return meaning !== null && meaning !== 'pending' && 'symbol' in meaning ? this.declaredTypeOf(meaning.symbol) : null
  }

  /**
   * Type of a call of a native.
   * @param types of the arguments, with those that a native around the call adds
   */
  resultTypeOf(name: string, rest: readonly Form[], types: readonly KnownType[]): KnownType {
    const last = types.at(-1) ?? null
    if (name === 'read') return this.rowTypeOf(rest[0])
    if (name === 'select') return listType(this.rowTypeOf(rest[0]))
    if (name === 'at') return last !== null && last.depth === 0 ? this.#fieldTypeOf(rest[0], last) : itemOf(last)
    if (name === 'map') return listType(types[0] ?? null)
    if (name === 'if') return types[1] ?? types[2] ?? null
    if (name === 'fold') return types[1] ?? null
    return LIKE_LAST.has(name) ? last : null
  }

  #fieldTypeOf(key: Form | undefined, { schema }: ObjectType): KnownType {
    const field = key?.form === 'string' ? schema.members.get(key.value) : undefined
    return field === undefined ? null : this.declaredTypeOf(field)
  }

  /** Types of what a native adds to the function at an index of its arguments. */
  addedTypesOf(name: string, rest: readonly Form[], index: number, types: readonly KnownType[]): readonly KnownType[] {
    if (name === 'map' || name === 'filter') return index === 0 ? [itemOf(types[1])] : []
    if (name === 'fold') return index === 0 ? [types[1] ?? null, itemOf(types[2])] : []
    if (name === 'select') return index === rest.length - 1 ? [this.rowTypeOf(rest[0])] : []
    if (name === 'fold-db') return index > 0 ? [null, this.rowTypeOf(rest[0])] : []
    return []
  }

  /** Names of fields among the arguments of a native, with the schema that has them. */
  fieldNamesIn(
    name: string,
    rest: readonly Form[],
    types: readonly KnownType[],
  ): readonly (readonly [StringForm, NamedSymbol])[] {
    const type = READERS.has(name) ? this.rowTypeOf(rest[0]) : KEY_FIRST.has(name) ? (types.at(-1) ?? null) : null
    if (type === null || type.depth > 0) return []
    const lists = READERS.has(name) ? rest.slice(1) : rest.slice(0, 1)
    const keys = lists.flatMap((form) => (form.form === 'list' ? form.items : READERS.has(name) ? [] : [form]))
    // An object may lack what code looks for in it.
    const isField = ({ value }: StringForm) => name !== 'contains' || type.schema.members.has(value)
    return keys
      .filter((form) => form.form === 'string' && isField(form))
      .map((form) => [form as StringForm, type.schema])
  }
}
