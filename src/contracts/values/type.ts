/** Declared types of the contract language, and tables, which carry the type of their rows. */

/** A declared type with resolved names. */
export type Type =
  | { readonly type: 'string' | 'integer' | 'decimal' | 'bool' | 'time' | 'guard' | 'keyset' | 'unit' | 'any' }
  | { readonly type: 'list'; readonly item: Type | null }
  | { readonly type: 'object' | 'table'; readonly schema: RowSchema | null }
  /** Qualified names of interfaces. */
  | { readonly type: 'module'; readonly interfaces: readonly string[] }

/** Names and types of fields. A null type takes any value. */
export interface RowSchema {
  readonly name: string
  /** `module.schema` or `ns.module.schema`. */
  readonly qualified: string
  readonly fields: ReadonlyMap<string, Type | null>
}

/**
 * A table of a module, created or not.
 *
 * It belongs to the version of its module that named it, and keeps the schema of that version. So a table that a row, a
 * pact or a constant keeps means the same after an upgrade of its module.
 */
export class TableRef {
  /** Qualified name of the module. */
  readonly module: string
  readonly name: string
  readonly qualified: string
  readonly #owner: { readonly hash: string }
  /** Schema of the rows. Null allows rows with any fields. */
  readonly schema: RowSchema | null

  /** @param owner module of the table; its hash is known once it is loaded */
  constructor(module: string, name: string, owner: { readonly hash: string }, schema: RowSchema | null) {
    this.module = module
    this.name = name
    this.qualified = `${module}.${name}`
    this.#owner = owner
    this.schema = schema
  }

  /** Hash of the module. */
  get hash(): string {
    return this.#owner.hash
  }
}
