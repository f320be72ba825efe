/** Random modules and interfaces, and how later code can use them. */
import { type Def, type Expr, type FaceDef, type Form, make, type Param, type Type } from '../program/tree.ts'
import type { Dice } from './dice.ts'
import { EMPTY, type Expressions, type Fun, freshName, type Scope, type Sort, typeOf } from './expressions.ts'
import { addCapabilities, addGuards, addPacts, addReferences, addTables } from './features.ts'

const { call, str, p } = make

/** A way to use a deployed module at the top level. */
export interface Action {
  readonly what: string
  readonly make: (x: Expressions) => Expr
  /** Writes the state, so a test cannot contain it. */
  readonly writes?: true
  /** A use of the written row by a later transaction. */
  readonly later?: (x: Expressions) => Expr
}

export interface PactInfo {
  readonly start: (x: Expressions) => Expr
  /** Whether each step has a rollback. */
  readonly steps: readonly boolean[]
}

export interface FaceInfo {
  /** With its namespace. */
  readonly name: string
  readonly funs: readonly Fun[]
  readonly constant: string | null
  readonly defs: readonly FaceDef[]
}

export interface ModuleInfo {
  readonly name: string
  /** Name as the form of the module has it. */
  readonly bare: string
  readonly faces: readonly FaceInfo[]
  readonly funs: readonly Fun[]
  readonly tables: readonly string[]
  readonly actions: readonly Action[]
  readonly pacts: readonly PactInfo[]
  readonly capabilities: readonly { readonly name: string; readonly amount: bigint }[]
  /** Guards that its functions make. */
  readonly guards: readonly ((x: Expressions) => Expr)[]
  readonly form: Extract<Form, { readonly f: 'module' }>
}

/** A module while features add to it. */
export class Draft {
  readonly x: Expressions
  readonly name: string
  readonly bare: string
  readonly faces: readonly FaceInfo[]
  /** Modules that its code may name. */
  readonly others: readonly ModuleInfo[]
  /** Chance of own functions to be named as `module.function`, without the namespace; null names none so. */
  readonly halfNames: Dice | null
  readonly defs: Def[] = []
  readonly funs: Fun[] = []
  readonly actions: Action[] = []
  readonly tables: string[] = []
  readonly pacts: PactInfo[] = []
  readonly capabilities: { name: string; amount: bigint }[] = []
  readonly guards: ((x: Expressions) => Expr)[] = []
  schema: string | null = null

  constructor(x: Expressions, about: Pick<Draft, 'name' | 'bare' | 'faces' | 'others' | 'halfNames'>) {
    this.x = x
    this.name = about.name
    this.bare = about.bare
    this.halfNames = about.halfNames
    this.faces = about.faces
    this.others = about.others
  }

  get dice(): Dice {
    return this.x.dice
  }

  /** Name of a member from outside. */
  outside(member: string): string {
    return `${this.name}.${member}`
  }

  /** Functions in scope, those of other modules by their whole names. */
  scope(extra: Partial<Scope> = {}): Scope {
    const foreign = this.others.flatMap(({ name, funs }) =>
      funs.map((fun) => ({ ...fun, name: `${name}.${fun.name}` })),
    )
    const own = this.funs.map((fun) => {
      return this.halfNames?.chance(0.3) ? { ...fun, name: `${this.bare}.${fun.name}` } : fun
    })
    return { ...EMPTY, funs: [...own, ...foreign], schema: this.schema, hasData: true, ...extra }
  }

  defun(name: string, params: Param[], body: Expr[], result: Type | null = null): void {
    this.defs.push({ d: 'defun', name, params, result, body })
  }

  action(what: string, makeExpr: (x: Expressions) => Expr, writes?: true): void {
    this.actions.push({ what, make: makeExpr, ...(writes === undefined ? {} : { writes }) })
  }

  /** An action that writes a row, and another one that a later transaction does with it. */
  keep(what: string, makeExpr: (x: Expressions) => Expr, later: (x: Expressions) => Expr): void {
    this.actions.push({ what, make: makeExpr, writes: true, later })
    this.action(`later: ${what}`, later)
  }
}

const SORTS: readonly Sort[] = ['int', 'dec', 'str', 'bool', 'ints', 'obj', 'time']

export function makeInterface(
  x: Expressions,
  bare: string,
  namespace: string | null,
  others: readonly FaceInfo[],
): FaceInfo & { form: Form } {
  const { dice } = x
  const name = namespace === null ? bare : `${namespace}.${bare}`
  const defs: FaceDef[] = []
  const funs: Fun[] = []
  for (let i = 0; i < dice.between(1, 2); i++) {
    const fun: Fun = {
      name: `${bare}-f${i}`,
      params: Array.from({ length: dice.below(3) }, () => dice.pick(SORTS)),
      result: dice.pick(SORTS),
    }
    funs.push(fun)
    const params = fun.params.map((sort, n) => p(`arg${n}`, typeOf(sort, null)))
    defs.push({ d: 'defun', name: fun.name, params, result: typeOf(fun.result, null) })
  }
  if (dice.chance(0.4)) {
    defs.push({ d: 'defschema', name: `${bare}-row`, fields: [['field', { t: 'integer' }]] })
  }
  const constant = dice.chance(0.6) ? `${bare}-C` : null
  if (constant !== null) {
    const value = x.of('int', { ...EMPTY }, 1)
    defs.push({ d: 'defconst', name: constant, type: dice.chance(0.5) ? { t: 'integer' } : null, value })
  }
  if (dice.chance(0.3)) {
    defs.push({
      d: 'defcap',
      name: `${bare.toUpperCase()}-CAP`,
      params: [p('n', { t: 'integer' })],
      result: null,
      meta: null,
    })
  }
  const [other] = others
  const isUsed = other?.constant !== null && other !== undefined && dice.chance(0.4)
  if (isUsed) {
    const value = dice.chance(0.5) ? `${other.name}.${other.constant}` : `${other.constant}`
    defs.push({ d: 'defconst', name: `${bare}-D`, type: null, value: make.v(value) })
    const type: Type = { t: 'module-of', interfaces: [other.name] }
    defs.push({ d: 'defun', name: `${bare}-name`, params: [p('m', type)], result: { t: 'string' } })
  }
  const uses = isUsed ? [{ module: other.name, names: null }] : []
  const form: Form = { f: 'interface', name: bare, uses, defs: dice.shuffle(defs) }
  return { name, funs, constant, defs, form }
}

interface Wanted {
  readonly bare: string
  readonly namespace: string | null
  readonly faces: readonly FaceInfo[]
  readonly others: readonly ModuleInfo[]
  readonly keyset: string | null
  /** Chance of each feature. */
  readonly share: number
  /** Whether it makes and keeps guards in any case. */
  readonly hasGuards: boolean
  /** Chance apart from that of the program, so that it changes nothing else. */
  readonly names: Dice
}

export function makeModule(x: Expressions, wanted: Wanted): ModuleInfo {
  const { bare, namespace, faces, others, keyset, share } = wanted
  const { dice } = x
  const name = namespace === null ? bare : `${namespace}.${bare}`
  const halfNames = namespace !== null && wanted.names.chance(0.3) ? wanted.names : null
  const draft = new Draft(x, { name, bare, faces, others, halfNames })
  addGovernance(draft)
  if (dice.chance(0.6)) addSchema(draft)
  addConstants(draft)
  addFunctions(draft)
  if (dice.chance(0.3)) addPartial(draft)
  for (const face of faces) implement(draft, face)
  const features = [addTables, addCapabilities, addPacts]
  for (const feature of dice.some(features, share)) feature(draft)
  if (dice.chance(1.2 * share) || wanted.hasGuards) addGuards(draft)
  if (dice.chance(2 * share)) addReferences(draft)
  const form = {
    f: 'module' as const,
    name: bare,
    governance: keyset === null ? { capability: 'GOV' } : { keyset },
    uses: dice
      .some(others, 0.3)
      .filter(({ funs }) => funs.length > 0)
      .map((other) => ({ module: other.name, names: dice.chance(0.5) ? null : [other.funs[0].name] })),
    implemented: faces.map((face) => face.name),
    defs: dice.shuffle(draft.defs),
  }
  addTopLevel(draft)
  const { funs, tables, actions, pacts, capabilities, guards } = draft
  return { name, bare, faces, funs, tables, actions, pacts, capabilities, guards, form }
}

function addGovernance({ defs, dice }: Draft): void {
  const body = dice.chance(0.5) ? [make.bool(true)] : [call('enforce-keyset', str('admin'))]
  defs.push({ d: 'defcap', name: 'GOV', params: [], result: null, meta: null, body })
}

function addSchema(draft: Draft): void {
  draft.schema = 'pair'
  draft.defs.push({
    d: 'defschema',
    name: 'pair',
    fields: [
      ['a', { t: 'integer' }],
      ['b', { t: 'string' }],
    ],
  })
}

function addConstants(draft: Draft): void {
  const { x, dice, defs } = draft
  for (let i = 0; i < dice.below(3); i++) {
    const sort = x.sort()
    const scope = { ...EMPTY, funs: draft.funs, schema: draft.schema }
    // `name:object {` would begin a type.
    const type = dice.chance(0.5) && sort !== 'obj' ? typeOf(sort, draft.schema) : null
    const name = `CONST${i}`
    defs.push({ d: 'defconst', name, type, value: x.of(sort, scope, 2) })
    draft.action('constant', () => make.v(draft.outside(name)))
  }
}

function addFunctions(draft: Draft): void {
  const { x, dice } = draft
  for (let i = 0; i < dice.between(1, 4); i++) {
    const fun: Fun = {
      name: `fun${i}`,
      params: Array.from({ length: dice.below(4) }, () => x.sort()),
      result: x.sort(),
    }
    defineFunction(draft, fun)
    draft.funs.push(fun)
  }
}

/** A function that gets its arguments in two parts. */
function addPartial(draft: Draft): void {
  const type: Type = { t: 'integer' }
  draft.defun(
    'above',
    [p('low', draft.dice.chance(0.5) ? type : null), p('n', type)],
    [call('>', make.v('n'), make.v('low'))],
  )
  draft.action('part of the arguments', (at) => {
    const some = call(draft.outside('above'), at.of('int', EMPTY, 1))
    return call('filter', some, at.of('ints', EMPTY, 2))
  })
}

function defineFunction(draft: Draft, fun: Fun, schema: string | null = draft.schema): void {
  const { x, dice } = draft
  const isTyped = dice.chance(0.7)
  const vars = fun.params.map((sort) => ({ name: freshName(), sort }))
  const params = vars.map(({ name, sort }) => p(name, isTyped ? typeOf(sort, schema) : null))
  const body = [x.of(fun.result, draft.scope({ vars }), dice.between(1, 3))]
  if (dice.chance(0.2)) body.unshift(call('identity', x.literal('int')))
  draft.defun(fun.name, params, body, isTyped && dice.chance(0.6) ? typeOf(fun.result, schema) : null)
  const given = (at: Expressions): Expr =>
    call(draft.outside(fun.name), ...fun.params.map((sort) => at.of(sort, { ...EMPTY, hasData: true }, 1)))
  draft.action('function', given)
}

/** A function of an interface has exactly its types, and objects without a schema. */
function implement(draft: Draft, face: FaceInfo): void {
  const { x } = draft
  for (const fun of face.funs) {
    const vars = fun.params.map((sort, n) => ({ name: `arg${n}`, sort }))
    const params = vars.map(({ name, sort }) => p(name, typeOf(sort, null)))
    const body = [x.of(fun.result, draft.scope({ vars }), 2)]
    draft.defun(fun.name, params, body, typeOf(fun.result, null))
    draft.action('function of an interface', (at) =>
      call(draft.outside(fun.name), ...fun.params.map((sort) => at.of(sort, EMPTY, 1))),
    )
  }
  for (const def of face.defs) {
    if (def.d === 'defun' && def.name.endsWith('-name')) {
      const { name, params, result } = def
      draft.defun(name, structuredClone(params), [call('format', str('{}'), make.list([make.v('m')]))], result)
    }
    if (def.d !== 'defcap') continue
    draft.defs.push({
      d: 'defcap',
      name: def.name,
      params: [p('n', { t: 'integer' })],
      result: null,
      meta: null,
      body: [make.bool(true)],
    })
  }
  if (face.constant !== null) {
    const name = `${face.name}.${face.constant}`
    draft.defun(`of-${face.constant}`, [], [make.v(name)])
    draft.action('constant of an interface', () => call(draft.outside(`of-${face.constant}`)))
  }
}

/** Actions that every module allows. */
function addTopLevel(draft: Draft): void {
  const { name } = draft
  draft.action('describe-module', () => call('at', str('name'), call('describe-module', str(name))))
  draft.action('reference', () => make.v(name))
  draft.action('acquire-module-admin', () => call('acquire-module-admin', make.v(name)), true)
  draft.action('static-redeploy', () => call('static-redeploy', str(name)), true)
  for (const face of draft.faces) {
    const fun = face.funs[0]
    draft.action('call through a reference', (at) => {
      const ref = freshName()
      const args = fun.params.map((sort) => at.of(sort, EMPTY, 1))
      const type: Type | null = at.dice.chance(0.5) ? { t: 'module-of', interfaces: [face.name] } : null
      return make.let(
        [[p(ref, type), make.v(name)]],
        [
          call(`${ref}::${fun.name}`, ...args),
          call(`${ref}::${fun.name}`, ...fun.params.map((sort) => at.of(sort, EMPTY, 1))),
        ],
      )
    })
  }
  draft.action('list-modules', () => call('length', call('list-modules')))
  draft.action('describe-keyset', () => call('describe-keyset', str('admin')))
  draft.action('define-keyset', () => call('define-keyset', str('admin')), true)
}
