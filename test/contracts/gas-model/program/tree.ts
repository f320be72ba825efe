/**
 * Programs as trees. The text that the evaluator reads and the input of the model both come from such a tree, so the
 * two share no reader. A printer notes the line of each node, because places are part of the size of a module.
 */

export type Type =
  | { readonly t: 'integer' | 'decimal' | 'string' | 'bool' | 'guard' | 'keyset' | 'time' | 'unit' | 'list' | 'object' }
  | { readonly t: 'list-of'; readonly of: Type }
  | { readonly t: 'object-of' | 'table-of'; readonly schema: string }
  | { readonly t: 'module-of'; readonly interfaces: readonly string[] }

/** The line counts from 0, in the text of the transaction. */
interface Node {
  line?: number
}

export interface Param extends Node {
  readonly name: string
  readonly type: Type | null
}

export type Expr = Node &
  (
    | { readonly e: 'var'; readonly name: string }
    | { readonly e: 'integer'; readonly value: bigint }
    /** Digits as in the text, such as `-1.50`. */
    | { readonly e: 'decimal'; readonly text: string }
    | { readonly e: 'string'; readonly value: string }
    | { readonly e: 'bool'; readonly value: boolean }
    | { readonly e: 'unit' }
    | { readonly e: 'app'; readonly head: Expr; readonly args: Expr[] }
    /** `{ "field" := name, ... }` and what follows it, as the last argument of a call. */
    | { readonly e: 'binding'; readonly fields: (readonly [field: string, param: Param])[]; readonly body: Expr[] }
    | { readonly e: 'lambda'; readonly params: Param[]; readonly body: Expr[] }
    | { readonly e: 'let'; readonly star: boolean; readonly binders: (readonly [Param, Expr])[]; readonly body: Expr[] }
    | { readonly e: 'list'; readonly items: Expr[] }
    | { readonly e: 'object'; readonly fields: (readonly [string, Expr])[] }
  )

export type Meta =
  | null
  | { readonly meta: 'event' | 'managed' }
  | { readonly meta: 'managed-by'; readonly param: string; readonly manager: string }

export interface Step {
  readonly run: Expr
  readonly rollback: Expr | null
}

interface Named extends Node {
  readonly name: string
  nameLine?: number
}

interface Signature extends Named {
  readonly result: Type | null
  readonly params: Param[]
}

export type Def =
  | (Signature & { readonly d: 'defun'; readonly body: Expr[] })
  | (Signature & { readonly d: 'defcap'; readonly meta: Meta; readonly body: Expr[] })
  | (Signature & { readonly d: 'defpact'; readonly steps: Step[] })
  | (Named & { readonly d: 'defconst'; readonly type: Type | null; readonly value: Expr })
  | (Named & { readonly d: 'defschema'; readonly fields: (readonly [string, Type | null])[] })
  | (Named & { readonly d: 'deftable'; readonly schema: string })

/** A member of an interface: functions, capabilities and pacts have no bodies. */
export type FaceDef =
  | Extract<Def, { readonly d: 'defconst' | 'defschema' }>
  | (Signature & { readonly d: 'defun' | 'defpact' })
  | (Signature & { readonly d: 'defcap'; readonly meta: Meta })

export interface Use extends Node {
  readonly module: string
  readonly names: readonly string[] | null
}

export type Form =
  | (Node & {
      readonly f: 'module'
      readonly name: string
      readonly governance: { readonly keyset: string } | { readonly capability: string }
      readonly uses: Use[]
      readonly implemented: string[]
      readonly defs: Def[]
    })
  | (Node & { readonly f: 'interface'; readonly name: string; readonly uses: Use[]; readonly defs: FaceDef[] })
  | (Use & { readonly f: 'use' })
  | { readonly f: 'expr'; readonly expr: Expr }

/** A value as callers give it: in the data of a command, and in capabilities of signatures. */
export type Data =
  | string
  | bigint
  | boolean
  | { readonly decimal: string }
  | { readonly list: readonly Data[] }
  | { readonly object: readonly (readonly [string, Data])[] }

export interface SignedCapability {
  readonly name: string
  readonly args: readonly Data[]
}

export interface Transaction {
  /** Forms to run, or the step of a pact that an earlier transaction began. */
  readonly run:
    | { readonly forms: Form[] }
    | { readonly startedBy: number; readonly step: number; readonly rollback: boolean }
  readonly signers: readonly { readonly key: string; readonly capabilities: readonly SignedCapability[] }[]
  readonly data: readonly (readonly [string, Data])[]
}

/** Transactions in a row, on an empty state. */
export interface Program {
  readonly areResultsChecked: boolean
  readonly transactions: Transaction[]
}

/** Parts of trees. Each call makes a new node, because a node has one line. */
export const make = {
  v: (name: string): Expr => ({ e: 'var', name }),
  int: (value: bigint | number): Expr => ({ e: 'integer', value: BigInt(value) }),
  dec: (text: string): Expr => ({ e: 'decimal', text }),
  str: (value: string): Expr => ({ e: 'string', value }),
  bool: (value: boolean): Expr => ({ e: 'bool', value }),
  unit: (): Expr => ({ e: 'unit' }),
  list: (items: Expr[]): Expr => ({ e: 'list', items }),
  obj: (fields: (readonly [string, Expr])[]): Expr => ({ e: 'object', fields }),
  lam: (params: Param[], body: Expr[]): Expr => ({ e: 'lambda', params, body }),
  call: (head: string, ...args: Expr[]): Expr => ({ e: 'app', head: { e: 'var', name: head }, args }),
  apply: (head: Expr, args: Expr[]): Expr => ({ e: 'app', head, args }),
  binding: (fields: (readonly [string, Param])[], body: Expr[]): Expr => ({ e: 'binding', fields, body }),
  let: (binders: (readonly [Param, Expr])[], body: Expr[], star = false): Expr => ({ e: 'let', star, binders, body }),
  p: (name: string, type: Type | null = null): Param => ({ name, type }),
}
