/**
 * Turns trees into terms whose names are not resolved yet (Pact/Core/IR/Desugar.hs, first half). Special forms become
 * nodes. The number of arguments selects a native. Bindings become lambdas.
 */
import type { Expr, Param, Type } from '../program/tree.ts'
import { isNative, overloadOf, TAKES_LIST } from './natives.ts'
import { type Arg, type Dec, type Special, type Term, UNIT } from './terms.ts'

/** A term as read: names are texts. */
export type Parsed = Term<string, Type>

/** Special forms and the numbers of their arguments (Desugar.hs, goSpecial). */
const SPECIALS: ReadonlyMap<string, number> = new Map([
  ['and', 2],
  ['or', 2],
  ['if', 3],
  ['enforce', 2],
  ['enforce-one', 2],
  ['try', 2],
  ['create-user-guard', 1],
  ['error', 1],
  ['pure', 1],
])

export function desugar(expr: Expr): Parsed {
  const i = expr.line ?? 0
  switch (expr.e) {
    case 'var':
      return variable(expr.name, i)
    case 'integer':
      return { k: 'constant', value: { v: 'integer', n: expr.value }, i }
    case 'decimal':
      return { k: 'constant', value: { v: 'decimal', d: readDecimal(expr.text) }, i }
    case 'string':
      return { k: 'constant', value: { v: 'string', s: expr.value }, i }
    case 'bool':
      return { k: 'constant', value: { v: 'bool', b: expr.value }, i }
    case 'unit':
      return { k: 'constant', value: UNIT, i }
    case 'list':
      return { k: 'list', items: expr.items.map(desugar), i }
    case 'object':
      return { k: 'object', fields: expr.fields.map(([field, value]) => [field, desugar(value)] as const), i }
    case 'lambda': {
      const body = sequence(expr.body, i)
      if (expr.params.length === 0) return { k: 'nullary', body, i }
      return { k: 'lam', args: expr.params.map(argOf), body, i }
    }
    // Each binder has the place of the whole form (binderToLet).
    case 'let':
      return expr.binders.reduceRight<Parsed>(
        (e2, [param, value]) => ({ k: 'let', arg: { n: param.name, ty: param.type, i }, e1: desugar(value), e2, i }),
        sequence(expr.body, i),
      )
    case 'binding':
      throw new Error('a binding is an argument')
    case 'app':
      return application(expr.head, expr.args, i)
  }
}

/** Expressions one after the other; the place is that of the form around them. */
export function sequence(body: readonly Expr[], i: number): Parsed {
  const terms = body.map(desugar)
  const last = terms.pop() as Parsed
  return terms.reduceRight<Parsed>((e2, e1) => ({ k: 'seq', e1, e2, i }), last)
}

export function argOf({ name, type, line = 0 }: Param): Arg<Type> {
  return { n: name, ty: type, i: line }
}

function variable(name: string, i: number): Parsed {
  if (isNative(name)) return { k: 'native', native: name, i }
  if (name === 'constantly') {
    const [first, second] = ['#constantlyA1', '#constantlyA2']
    const args = [first, second].map((n) => ({ n, ty: null, i }))
    return { k: 'lam', args, body: { k: 'var', name: first, i }, i }
  }
  if (name === 'CHARSET_ASCII') return { k: 'constant', value: { v: 'integer', n: 0n }, i }
  if (name === 'CHARSET_LATIN1') return { k: 'constant', value: { v: 'integer', n: 1n }, i }
  return { k: 'var', name, i }
}

function application(head: Expr, args: readonly Expr[], i: number): Parsed {
  if (head.e !== 'var')
    return applied(
      desugar(head),
      args.map((arg) => argument(arg, i)),
      i,
    )
  const { name } = head
  const special = specialForm(name, args, i)
  if (special !== null) return special
  return applied(
    variable(name, head.line ?? 0),
    etaExpanded(name, args, i).map((arg) => argument(arg, i)),
    i,
  )
}

/** An argument that is a binding is a lambda of one object, at the place of the call (toAppExprList, Binding). */
function argument(arg: Expr, i: number): Parsed {
  if (arg.e !== 'binding') return desugar(arg)
  const object = '#bindObject'
  // The reader has the fields in reverse; the first of them is the innermost (Parser.y, BindPairs).
  const fields = [...arg.fields].reverse()
  const body = fields.reduceRight<Parsed>(
    (e2, [field, param]) => {
      const at = param.line ?? 0
      const args: Parsed[] = [
        { k: 'constant', value: { v: 'string', s: field }, i: at },
        { k: 'var', name: object, i },
      ]
      const e1: Parsed = { k: 'app', fn: { k: 'native', native: 'at', i: at }, args, i: at }
      return { k: 'let', arg: argOf(param), e1, e2, i }
    },
    sequence(arg.body, i),
  )
  return { k: 'lam', args: [{ n: object, ty: null, i }], body, i }
}

/** A partial call as the function of `map` becomes a lambda, so that its native is selected (desugar1ArgHOF). */
function etaExpanded(name: string, args: readonly Expr[], i: number): readonly Expr[] {
  const [first, ...rest] = args
  if (name !== 'map' || first?.e !== 'app') return args
  const injected = ':ijHO1'
  const line = first.line ?? 0
  const inner: Expr = { e: 'app', head: first.head, args: [...first.args, { e: 'var', name: injected, line: i }], line }
  return [{ e: 'lambda', params: [{ name: injected, type: null, line }], body: [inner], line }, ...rest]
}

function applied(fn: Parsed, args: readonly Parsed[], i: number): Parsed {
  if (fn.k !== 'native') return { k: 'app', fn, args, i }
  const { native } = fn
  const given: readonly Parsed[] = TAKES_LIST.has(native) ? [{ k: 'list', items: args, i }] : args
  return { k: 'app', fn: { k: 'native', native: overloadOf(native, args.length), i }, args: given, i }
}

function specialForm(name: string, args: readonly Expr[], i: number): Parsed | null {
  switch (name) {
    case 'do':
      return sequence(args, i)
    case 'suspend':
      return { k: 'nullary', body: desugar(args[0]), i }
    case 'with-capability': {
      const [token, ...body] = args
      return { k: 'special', form: 'with-capability', terms: [desugar(token), sequence(body, i)], i }
    }
    case 'cond':
      return condition(args, i)
  }
  const count = SPECIALS.get(name)
  if (count === undefined) return null
  if (args.length !== count) throw new Error(`${name} takes ${count} arguments`)
  return { k: 'special', form: name as Special, terms: args.map(desugar), i }
}

/** Nested tests in a suspended body that the native `cond` runs. */
function condition(args: readonly Expr[], i: number): Parsed {
  const cases = [...args]
  const last = desugar(cases.pop() as Expr)
  const body = cases.reduceRight<Parsed>((otherwise, each) => {
    if (each.e !== 'app') throw new Error('cond: expected application of conditions')
    const terms = [desugar(each.head), desugar(each.args[0]), otherwise]
    return { k: 'special', form: 'if', terms, i: each.line ?? 0 }
  }, last)
  return { k: 'app', fn: { k: 'native', native: 'cond', i }, args: [{ k: 'nullary', body, i }], i }
}

export function readDecimal(text: string): Dec {
  const [whole, places = ''] = text.split('.')
  return { m: BigInt(whole + places), p: places.length }
}
