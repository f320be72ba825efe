/** Syntax tree of a program: atoms and brackets with their places. The expander gives them meaning. */
import type { TextPlace } from '../errors.ts'
import type { Decimal } from '../values/decimal.ts'

interface FormNode {
  readonly place: TextPlace
  /** Offset of the first character in the text; `to` is the offset after the last one. */
  readonly from: number
  readonly to: number
}

export type Form = Atom | StringForm | NumberForm | ListForm | ObjectForm | BindingForm | CallForm

/** A name; `a.b.c` is one atom, and so are `true` and `false`. */
export interface Atom extends FormNode {
  readonly form: 'atom'
  readonly name: string
  /** Member name after `::`, or null. */
  readonly member: string | null
  /** Type after a colon (`name:type`), or null. */
  readonly type: TypeForm | null
}

export interface StringForm extends FormNode {
  readonly form: 'string'
  readonly value: string
  /** True if written as `'name`. */
  readonly isSymbol: boolean
}

export interface NumberForm extends FormNode {
  readonly form: 'number'
  /** bigint for an integer. */
  readonly value: bigint | Decimal
}

/** `[a b]` or `[a, b]` */
export interface ListForm extends FormNode {
  readonly form: 'list'
  readonly items: readonly Form[]
  /** True if commas separate the items. */
  readonly hasCommas: boolean
}

/** `{"a": 1, 'b: 2}`, also `{}`. */
export interface ObjectForm extends FormNode {
  readonly form: 'object'
  readonly fields: readonly (readonly [name: string, value: Form])[]
}

/** `{"a" := x, "b" := y:string}` */
export interface BindingForm extends FormNode {
  readonly form: 'binding'
  readonly fields: readonly (readonly [name: string, variable: Atom])[]
}

/** `(f a b)`, also `()`. */
export interface CallForm extends FormNode {
  readonly form: 'call'
  readonly items: readonly Form[]
}

/** A type as written. `schema` and `interfaces` are names, resolved where the type is used. */
export type TypeForm =
  | {
      readonly type: 'string' | 'integer' | 'decimal' | 'bool' | 'time' | 'guard' | 'keyset' | 'unit' | 'any'
    }
  | { readonly type: 'list'; readonly item: TypeForm | null }
  /** `isBare` if written as `{schema}`, as in `deftable`. */
  | { readonly type: 'object'; readonly schema: string | null; readonly isBare?: true }
  | { readonly type: 'table'; readonly schema: string | null }
  | { readonly type: 'module'; readonly interfaces: readonly string[] }
