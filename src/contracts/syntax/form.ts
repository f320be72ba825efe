/** What the reader makes of a text: atoms and brackets, with their places. What they mean is settled later (expand). */
import type { TextPlace } from '../errors.ts'
import type { Decimal } from '../values/decimal.ts'

interface Node {
  readonly place: TextPlace
  /** Offsets of the first character and behind the last one in the text. */
  readonly from: number
  readonly to: number
}

export type Form = Atom | StringForm | NumberForm | ListForm | ObjectForm | BindingForm | CallForm

/** A name, `a.b.c` in one piece; `true` and `false` are names too. */
export interface Atom extends Node {
  readonly form: 'atom'
  readonly name: string
  /** The member behind `::`; null: none. */
  readonly member: string | null
  /** What follows a colon: `name:type`; null: nothing. */
  readonly type: TypeForm | null
}

export interface StringForm extends Node {
  readonly form: 'string'
  readonly value: string
  /** Whether it was written as 'name. */
  readonly isSymbol: boolean
}

export interface NumberForm extends Node {
  readonly form: 'number'
  /** bigint: an integer. */
  readonly value: bigint | Decimal
}

/** `[a b, c]` */
export interface ListForm extends Node {
  readonly form: 'list'
  readonly items: readonly Form[]
}

/** `{"a": 1, 'b: 2}`; `{}` too. */
export interface ObjectForm extends Node {
  readonly form: 'object'
  readonly fields: readonly (readonly [name: string, value: Form])[]
}

/** `{"a" := x, "b" := y:string}` */
export interface BindingForm extends Node {
  readonly form: 'binding'
  readonly fields: readonly (readonly [name: string, variable: Atom])[]
}

/** `(f a b)`; `()` too. */
export interface CallForm extends Node {
  readonly form: 'call'
  readonly items: readonly Form[]
}

/** A type as written. `schema` and `interfaces` are names that are looked up where the type is used. */
export type TypeForm =
  | {
      readonly type: 'string' | 'integer' | 'decimal' | 'bool' | 'time' | 'guard' | 'keyset' | 'unit' | 'any'
    }
  | { readonly type: 'list'; readonly item: TypeForm | null }
  | { readonly type: 'object'; readonly schema: string | null }
  | { readonly type: 'table'; readonly schema: string | null }
  | { readonly type: 'module'; readonly interfaces: readonly string[] }
