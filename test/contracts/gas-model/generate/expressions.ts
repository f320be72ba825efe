/** Random expressions of a wanted kind. They write nothing, and mostly succeed. */
import { type Expr, make, type Type } from '../program/tree.ts'
import type { Dice } from './dice.ts'

const { v, int, dec, str, bool, list, obj, lam, call, apply, binding, p } = make

export type Sort = 'int' | 'dec' | 'str' | 'bool' | 'ints' | 'obj' | 'time'

/** A function that code in a scope can call. */
export interface Fun {
  readonly name: string
  readonly params: readonly Sort[]
  readonly result: Sort
}

export interface Scope {
  readonly vars: readonly { readonly name: string; readonly sort: Sort }[]
  readonly funs: readonly Fun[]
  /** Variables with module references, and the functions of their interfaces. */
  readonly refs: readonly { readonly name: string; readonly funs: readonly Fun[] }[]
  /** Schema of objects with the fields `a:integer` and `b:string`, if there is one in scope. */
  readonly schema: string | null
  /** Whether code may ask for the data of the command. Constants may too. */
  readonly hasData: boolean
}

export const EMPTY: Scope = { vars: [], funs: [], refs: [], schema: null, hasData: false }

export function typeOf(sort: Sort, schema: string | null): Type {
  switch (sort) {
    case 'int':
      return { t: 'integer' }
    case 'dec':
      return { t: 'decimal' }
    case 'str':
      return { t: 'string' }
    case 'bool':
      return { t: 'bool' }
    case 'time':
      return { t: 'time' }
    case 'ints':
      return { t: 'list-of', of: { t: 'integer' } }
    case 'obj':
      return schema === null ? { t: 'object' } : { t: 'object-of', schema }
  }
}

const SORTS: readonly Sort[] = ['int', 'dec', 'str', 'bool', 'ints', 'obj', 'time']
const WORDS = ['', 'a', 'bee', 'sea and sky', 'grüße', 'x'.repeat(40), '{}', 'q"uote', '日本']

/** A point of the curve. */
function point(): Expr {
  return obj([
    ['x', int(1)],
    ['y', int(2)],
  ])
}

let names = 0

/** Variables have names of their own, so that none hides another. Programs begin to count again. */
export function freshName(): string {
  return `x${names++}`
}

export function restartNames(): void {
  names = 0
}

export class Expressions {
  readonly dice: Dice

  constructor(dice: Dice) {
    this.dice = dice
  }

  sort(): Sort {
    return this.dice.pick(SORTS)
  }

  of(sort: Sort, scope: Scope, depth: number): Expr {
    const { dice } = this
    const known = scope.vars.filter((each) => each.sort === sort)
    if (known.length > 0 && dice.chance(0.3)) return v(dice.pick(known).name)
    if (depth <= 0) return this.literal(sort)
    if (dice.chance(0.35)) return this.#common(sort, scope, depth - 1)
    return this.#special(sort, scope, depth - 1)
  }

  literal(sort: Sort): Expr {
    const { dice } = this
    switch (sort) {
      case 'int':
        return int(dice.pick([0, 1, -1, 2, 7, 10, 255, -1000, 65_537, 123_456_789, 2 ** 40, dice.below(1000)]))
      case 'dec':
        return dec(dice.pick(['0.0', '1.5', '-2.25', '10.0', '0.001', '123456.789012', `${dice.below(100)}.50`, '3.0']))
      case 'str':
        return str(dice.pick(WORDS))
      case 'bool':
        return bool(dice.chance(0.5))
      case 'ints':
        return list(Array.from({ length: dice.below(4) }, () => this.literal('int')))
      case 'obj':
        return obj([
          ['a', this.literal('int')],
          ['b', this.literal('str')],
        ])
      case 'time':
        return call('time', str(dice.pick(['2024-02-29T12:30:00Z', '1999-12-31T23:59:59Z', '2030-01-01T00:00:00Z'])))
    }
  }

  /** Forms that yield any kind. */
  #common(sort: Sort, scope: Scope, depth: number): Expr {
    const { dice } = this
    const callable = scope.funs.filter((fun) => fun.result === sort)
    const dynamic = scope.refs.flatMap(({ name, funs }) => {
      return funs.filter((fun) => fun.result === sort).map((fun) => ({ ...fun, name: `${name}::${fun.name}` }))
    })
    const args = (fun: Fun): Expr[] => fun.params.map((each) => this.of(each, scope, depth - 1))
    const inner = (): Expr => this.of(sort, scope, depth)
    const makers: (() => Expr)[] = [
      () => call('if', this.of('bool', scope, depth), inner(), inner()),
      () => this.#let(sort, scope, depth),
      () => this.#cond(sort, scope, depth),
      () => call('try', inner(), this.#risky(sort, scope, depth)),
      () => call('identity', inner()),
      () => call('do', this.#enforce(scope, depth), inner()),
      () => this.#applied(sort, scope, depth),
      () => this.#bound(sort, scope, depth),
      () => call('constantly', inner(), this.literal(this.sort())),
      () => call('compose', v('identity'), v('identity'), inner()),
      () => call('at', int(0), list([inner(), inner()])),
      () => call('at', str('k'), obj([['k', inner()]])),
      () => call('pure', inner()),
      () => call('continue', inner()),
      () => apply(call('suspend', inner()), []),
      ...(callable.length > 0 ? [1, 2, 3, 4, 5, 6].map(() => () => this.#called(dice.pick(callable), args)) : []),
      ...(dynamic.length > 0 ? [1, 2, 3, 4].map(() => () => this.#called(dice.pick(dynamic), args)) : []),
    ]
    return dice.pick(makers)()
  }

  #called(fun: Fun, args: (fun: Fun) => Expr[]): Expr {
    return call(fun.name, ...args(fun))
  }

  #let(sort: Sort, scope: Scope, depth: number): Expr {
    const { dice } = this
    let inner = scope
    const binders = Array.from({ length: dice.between(1, 2) }, () => {
      const [name, kind] = [freshName(), this.sort()]
      const value = this.of(kind, inner, depth - 1)
      inner = { ...inner, vars: [...inner.vars, { name, sort: kind }] }
      // `name:object {` would begin a type.
      const isTyped = dice.chance(0.4) && (kind !== 'obj' || scope.schema !== null)
      return [p(name, isTyped ? typeOf(kind, scope.schema) : null), value] as const
    })
    return make.let(binders, [this.of(sort, inner, depth)], dice.chance(0.3))
  }

  #cond(sort: Sort, scope: Scope, depth: number): Expr {
    const cases = Array.from({ length: this.dice.between(1, 2) }, () =>
      apply(this.of('bool', scope, depth - 1), [this.of(sort, scope, depth - 1)]),
    )
    // A test that is a name would be read as a call of it.
    return call('cond', ...cases, this.of(sort, scope, depth - 1))
  }

  /** An expression that may fail in a way that `try` catches. */
  #risky(sort: Sort, scope: Scope, depth: number): Expr {
    const { dice } = this
    if (dice.chance(0.4)) return this.of(sort, scope, depth)
    const failing = dice.pick([
      () => call('enforce', bool(false), str('no')),
      () => call('enforce-one', str('none'), list([bool(false), call('enforce', bool(false), str('x'))])),
      () => call('read-string', str('missing')),
      () => call('enforce-guard', call('read-keyset', str('missing'))),
      () => call('error', str('out')),
    ])
    return call('do', failing(), this.of(sort, scope, depth - 1))
  }

  #enforce(scope: Scope, depth: number): Expr {
    const test = this.of('bool', scope, depth - 1)
    if (this.dice.chance(0.3)) {
      return call('enforce-one', str('one'), list([call('enforce', test, str('first')), bool(true)]))
    }
    return call('enforce', call('or', test, bool(true)), this.literal('str'))
  }

  /** A lambda that is called where it stands, or part of whose arguments is given by `map`. */
  #applied(sort: Sort, scope: Scope, depth: number): Expr {
    const { dice } = this
    const params = Array.from({ length: dice.below(3) }, () => ({ name: freshName(), sort: this.sort() }))
    const inner = { ...scope, vars: [...scope.vars, ...params] }
    const typed = params.map((each) => p(each.name, dice.chance(0.5) ? typeOf(each.sort, scope.schema) : null))
    const args = params.map((each) => this.of(each.sort, scope, depth - 1))
    return apply(lam(typed, [this.of(sort, inner, depth)]), args)
  }

  #bound(sort: Sort, scope: Scope, depth: number): Expr {
    const [name, kind] = [freshName(), this.sort()]
    const inner = { ...scope, vars: [...scope.vars, { name, sort: kind }] }
    const type = this.dice.chance(0.3) ? typeOf(kind, scope.schema) : null
    const object = obj([
      ['other', this.literal('int')],
      ['field', this.of(kind, scope, depth - 1)],
    ])
    const other = freshName()
    const fields = [['field', p(name, type)] as const, ['other', p(other)] as const]
    return call(
      'bind',
      object,
      binding(this.dice.some(fields, 0.8).length > 1 ? fields : [fields[0]], [this.of(sort, inner, depth)]),
    )
  }

  #special(sort: Sort, scope: Scope, depth: number): Expr {
    const makers = this.#makers(sort, (kind) => this.of(kind, scope, depth), scope)
    return this.dice.pick(makers)()
  }

  #makers(sort: Sort, e: (sort: Sort) => Expr, scope: Scope): (() => Expr)[] {
    const { dice } = this
    const fn =
      (name: string): (() => Expr) =>
      () =>
        call(name, e(sort), e(sort))
    switch (sort) {
      case 'int':
        return [
          ...['+', '-', '*', '&', '|', 'xor'].map(fn),
          () => call('/', e('int'), int(dice.pick([1, 3, -7]))),
          () => call('mod', e('int'), int(dice.pick([2, 10, 97]))),
          () => call('^', int(dice.pick([2, 3, -2])), int(dice.below(9))),
          () => call(dice.pick(['abs', '-', '~', 'negate']), e('int')),
          () => call('shift', int(dice.below(1000)), int(dice.between(-4, 20))),
          () => call('length', e(dice.pick(['str', 'ints', 'obj']))),
          () => call(dice.pick(['round', 'floor', 'ceiling']), e('dec')),
          () => call('fold', v(dice.pick(['+', '-', '*'])), e('int'), e('ints')),
          () => call('fold', this.#reducer(scope), e('int'), e('ints')),
          () => call('at', str('a'), e('obj')),
          () => call('str-to-int', str(String(dice.below(10_000)))),
          () => call('str-to-int', int(16), str(dice.pick(['ff', '10', 'cafe']))),
          ...(scope.hasData ? [() => call('read-integer', str(dice.pick(['n', 'digits'])))] : []),
        ]
      case 'dec':
        return [
          ...['+', '-', '*'].map(fn),
          () => call('+', e('int'), e('dec')),
          () => call('*', e('dec'), e('int')),
          () => call('/', e('dec'), dec(dice.pick(['2.0', '-0.5', '8.0', '3.0']))),
          () => call('dec', e('int')),
          () => call(dice.pick(['round', 'floor', 'ceiling']), e('dec'), int(dice.below(4))),
          () => call(dice.pick(['abs', '-']), e('dec')),
          () => call('diff-time', e('time'), e('time')),
          () => call(dice.pick(['hours', 'minutes', 'days']), e(dice.pick(['int', 'dec']))),
          ...(scope.hasData ? [() => call('read-decimal', str(dice.pick(['n', 'amount', 'digits'])))] : []),
        ]
      case 'str':
        return [
          fn('+'),
          () => call(dice.pick(['take', 'drop']), int(dice.between(-3, 5)), e('str')),
          () => call('reverse', e('str')),
          () => call('concat', list([e('str'), e('str')])),
          () => call('format', str('{}-{}'), list([e(this.sort()), e('str')])),
          () => call('format', str('plain'), list([])),
          () => call('show', e(this.sort())),
          () => call('int-to-str', int(dice.pick([2, 10, 16])), call('abs', e('int'))),
          () => call('hash', e('str')),
          () => call('typeof', e(dice.pick(['int', 'dec', 'str', 'bool']))),
          () => call('base64-encode', e('str')),
          () => call('base64-decode', call('base64-encode', e('str'))),
          () => call('at', str('b'), e('obj')),
          () => call('format-time', str(dice.pick(['%F', '%Y-%m-%dT%H:%M:%SZ'])), e('time')),
          () => call('concat', call('str-to-list', e('str'))),
          () => call('tx-hash'),
          () => call('at', str('sender'), call('chain-data')),
          () => call('typeof', call(dice.pick(['sqrt', 'ln']), int(dice.between(2, 1000)))),
          () => call('typeof', call('exp', int(dice.between(1, 9)))),
          () => call('typeof', call('log', int(2), int(dice.between(2, 1000)))),
          () => call('typeof-principal', str(dice.pick(['k:', 'r:admin', `k:${'a'.repeat(64)}`, 'no']))),
          () => call('typeof', call('hash-keccak256', list([call('base64-encode', e('str')), str('YQ')]))),
          () => call('typeof', call('hash-poseidon', int(dice.below(100)), int(7))),
          () => call('typeof', call('poseidon-hash-hack-a-chain', int(dice.below(100)))),
          () => call('typeof', call('point-add', str('g1'), point(), point())),
          ...(scope.hasData ? [() => call('read-string', str('s')), () => call('read-msg', str('s'))] : []),
          ...(scope.hasData ? [() => call('at', str('s'), call('read-msg'))] : []),
        ]
      case 'bool':
        return [
          () => call(dice.pick(['=', '!=']), ...this.#two(e)),
          () => call(dice.pick(['<', '<=', '>', '>=']), ...this.#two(e, dice.pick(['int', 'dec', 'str', 'time']))),
          () => call(dice.pick(['and', 'or']), e('bool'), e('bool')),
          () => call('not', e('bool')),
          () => call('contains', str(dice.pick(['a', 'z'])), e('obj')),
          () => call('contains', e('int'), e('ints')),
          () => call('contains', e('str'), e('str')),
          () => call(dice.pick(['and?', 'or?']), call('<', int(1)), call('>', int(10)), e('int')),
          () => call('not?', call('=', e('int')), e('int')),
          () => call('where', str('a'), call('<=', int(3)), e('obj')),
          () => call('is-charset', v(dice.pick(['CHARSET_ASCII', 'CHARSET_LATIN1'])), e('str')),
          () => call('is-principal', e('str')),
          () => call('enforce', call('or', e('bool'), bool(true)), e('str')),
        ]
      case 'ints':
        return [
          fn('+'),
          () => list([e('int'), e('int'), e('int')]),
          () => call('enumerate', int(dice.between(-3, 3)), int(dice.between(-3, 5))),
          () => call('enumerate', int(0), int(dice.between(1, 9)), int(dice.pick([1, 2, 3]))),
          () => call('map', call(dice.pick(['+', '-', '*']), e('int')), e('ints')),
          () => call('map', this.#mapper(scope), e('ints')),
          () => call('filter', call(dice.pick(['<', '!=', '=']), e('int')), e('ints')),
          () => call('zip', v(dice.pick(['+', '-'])), e('ints'), e('ints')),
          () => call('make-list', int(dice.below(4)), e('int')),
          () => call(dice.pick(['take', 'drop']), int(dice.between(-2, 3)), e('ints')),
          () => call(dice.pick(['reverse', 'sort', 'distinct']), e('ints')),
        ]
      case 'obj':
        return [
          () =>
            obj([
              ['b', e('str')],
              ['a', e('int')],
            ]),
          () => call('+', obj([['a', e('int')]]), obj([['b', e('str')]])),
          () => call('take', list([str('a'), str('b')]), call('+', obj([['c', e('bool')]]), e('obj'))),
          () => call(dice.pick(['drop']), list([str('c')]), call('+', obj([['c', e('bool')]]), e('obj'))),
          () => call('remove', str('c'), call('+', obj([['c', e('int')]]), e('obj'))),
          () => call('at', int(0), call('sort', list([str('a')]), list([e('obj'), e('obj')]))),
        ]
      case 'time':
        return [
          () => call('add-time', e('time'), int(dice.between(-100_000, 100_000))),
          () => call('add-time', this.literal('time'), call(dice.pick(['hours', 'days']), int(dice.below(30)))),
          () => call('parse-time', str('%F'), str('2021-05-06')),
          () => this.literal('time'),
        ]
    }
  }

  #two(e: (sort: Sort) => Expr, sort: Sort = this.sort()): Expr[] {
    return [e(sort), e(sort)]
  }

  #reducer(scope: Scope): Expr {
    const [a, b] = [freshName(), freshName()]
    const inner = {
      ...scope,
      vars: [...scope.vars, { name: a, sort: 'int' as const }, { name: b, sort: 'int' as const }],
    }
    return lam([p(a), p(b)], [this.of('int', inner, 1)])
  }

  #mapper(scope: Scope): Expr {
    const a = freshName()
    const inner = { ...scope, vars: [...scope.vars, { name: a, sort: 'int' as const }] }
    return lam([p(a, this.dice.chance(0.5) ? { t: 'integer' } : null)], [this.of('int', inner, 1)])
  }
}
