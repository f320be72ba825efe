/** Reduces forms of the language to resolved terms. */
import { ContractError, type TextPlace } from '../../../errors.ts'
import type { Atom, BindingForm, CallForm, Form } from '../../../syntax/form.ts'
import { syntaxError } from '../../../syntax/lexer.ts'
import { type Type, UNIT } from '../../../values/value.ts'
import { Schema } from '../../ast.ts'
import { PRINT } from '../../environment.ts'
import type { Expander } from '../../expand/expander.ts'
import type { NameResolver } from './names.ts'
import { calledNumber, isNumberedNative, nativeNumber } from './native-numbers.ts'
import type { Arg, FormName, ResolvedTerm, SourceSpan } from './terms.ts'

/** Variables that only the network's own terms bind. */
const OBJECT = '#bindObject'
const ITEM = ':ijHO1'
const CONDITIONS = ['#condArg1', '#condArg2'] as const
const CONSTANTLY = ['#constantlyA1', '#constantlyA2'] as const

/** Forms with a fixed number of parts. */
const FIXED: ReadonlyMap<string, number> = new Map([
  ['if', 3],
  ['enforce-one', 2],
  ['try', 2],
  ['create-user-guard', 1],
  ['error', 1],
  ['pure', 1],
])
/** Forms that are functions of two booleans with any other number of arguments. */
const CONNECTIVES: ReadonlySet<string> = new Set(['and', 'or', 'enforce'])
/** Natives that take all arguments as one list. */
const OF_LIST: ReadonlySet<string> = new Set(['hash-poseidon', 'poseidon-hash-hack-a-chain'])
const NOT_CALLS: ReadonlySet<string> = new Set(['lambda', 'let', 'let*'])

export class Desugarer {
  readonly #expander: Expander
  readonly #names: NameResolver

  constructor(expander: Expander, names: NameResolver) {
    this.#expander = expander
    this.#names = names
  }

  /** Resolves a name with its type, as of an argument. @param at default: the name */
  arg(atom: Atom, at: SourceSpan = spanOf(atom)): Arg {
    const { name, type, place } = atom
    this.#noteType(type)
    const resolved = this.#expander.type(type, place)
    this.#noteModules(resolved)
    return { name, type: resolved, at }
  }

  /** Notes the schemas and interfaces that a type names. */
  #noteType(type: Atom['type']): void {
    if (type?.type === 'list') this.#noteType(type.item)
    else if (type?.type === 'module') for (const name of type.interfaces) this.#names.noteModuleName(name)
    else if ((type?.type === 'object' || type?.type === 'table') && type.schema !== null)
      this.#names.noteSchema(type.schema)
  }

  /** Notes the modules of the schemas in a type. */
  #noteModules(type: Type | null): void {
    if (type?.type === 'list') this.#noteModules(type.item)
    else if ((type?.type === 'object' || type?.type === 'table') && type.schema instanceof Schema)
      this.#names.noteModule(type.schema.owner)
  }

  args(forms: readonly Form[]): Arg[] {
    return forms.map((form) => {
      if (form.form !== 'atom') throw syntaxError('a parameter is a name', form.place)
      return this.arg(form)
    })
  }

  /** Reduces a body: several forms become a sequence. */
  body(forms: readonly Form[], at: SourceSpan): ResolvedTerm {
    return sequence(
      forms.map((form) => this.term(form)),
      at,
    )
  }

  /** @throws ContractError (SyntaxError) if a binding stands where an expression must */
  term(form: Form): ResolvedTerm {
    switch (form.form) {
      case 'string':
      case 'number':
        return { term: 'literal', value: form.value, at: form }
      case 'list':
        return { term: 'list', items: form.items.map((item) => this.term(item)), at: form }
      case 'object':
        return { term: 'object', fields: form.fields.map(([name, value]) => [name, this.term(value)]), at: form }
      case 'binding':
        throw syntaxError('a binding is not an expression', form.place)
      case 'atom':
        return this.#atom(form)
      case 'call':
        return this.#call(form)
    }
  }

  /** A lambda, or a nullary term if there are no arguments. The network resolves its body before its types. */
  lambda(params: readonly Form[], body: readonly Form[], at: SourceSpan): ResolvedTerm {
    const atoms = params.filter((form) => form.form === 'atom')
    const within = this.#names.withBound(atoms, true, () => this.body(body, at))
    const args = this.args(params)
    return args.length === 0 ? { term: 'nullary', body: within, at } : { term: 'lambda', args, body: within, at }
  }

  #atom(atom: Atom): ResolvedTerm {
    const { name, member, place } = atom
    const at = spanOf(atom)
    if (member !== null) return { term: 'variable', ...this.#names.dynamic(name, member, place), at }
    if (name === 'true' || name === 'false') return { term: 'literal', value: name === 'true', at }
    if (isNumberedNative(name)) return { term: 'native', name, number: nativeNumber(name), at }
    switch (name) {
      case 'constantly': {
        const body: ResolvedTerm = { term: 'variable', name: CONSTANTLY[0], to: { ref: 'bound', index: 1 }, at }
        return lambdaOf(CONSTANTLY, null, body)
      }
      case 'CHARSET_ASCII':
        return { term: 'literal', value: 0n, at }
      case 'CHARSET_LATIN1':
        return { term: 'literal', value: 1n, at }
      default:
        // Natives of test files.
        if (this.#expander.run.natives.has(name) && !this.#isBoundPrint(name, place))
          return { term: 'native', name, number: nativeNumber(name), at }
        return { term: 'variable', ...this.#names.resolve(name, place), at }
    }
  }

  /** Whether a name is `print`, and means something else than the native. */
  #isBoundPrint(name: string, place: TextPlace): boolean {
    if (name !== PRINT) return false
    try {
      this.#names.resolve(name, place)
      return true
    } catch (error) {
      if (error instanceof ContractError) return false
      throw error
    }
  }

  #call(call: CallForm): ResolvedTerm {
    const [head, ...rest] = call.items
    if (head === undefined) return { term: 'literal', value: UNIT, at: call }
    if (head.form === 'atom' && head.member === null) {
      const special = this.#special(head.name, rest, call)
      if (special !== null) return special
    }
    return callTerm(this.term(head), this.#arguments(rest, call), call)
  }

  /** Reduces arguments. After a binding all others are its body. */
  #arguments(forms: readonly Form[], call: SourceSpan): ResolvedTerm[] {
    const at = forms.findIndex(({ form }) => form === 'binding')
    const plain = (at < 0 ? forms : forms.slice(0, at)).map((form) => this.term(form))
    if (at < 0) return plain
    return [...plain, this.#binding(forms[at] as BindingForm, forms.slice(at + 1), call)]
  }

  /** A lambda of the object, with a `let` for each field. The last field is the outermost. */
  #binding({ fields, place }: BindingForm, body: readonly Form[], call: SourceSpan): ResolvedTerm {
    const names = this.#names
    const { isLanguage53 } = this.#expander.run.block.rules
    names.bind(OBJECT)
    const lets = [...fields].reverse().map(([field, variable]) => {
      const at = isLanguage53 ? spanOf(variable) : call
      // The variable of the object has the place of the call in every release.
      const object: ResolvedTerm = { term: 'variable', ...names.resolve(OBJECT, place), at: call }
      const fn: ResolvedTerm = { term: 'native', name: 'at', number: nativeNumber('at'), at }
      const value: ResolvedTerm = { term: 'call', fn, args: [{ term: 'literal', value: field, at }, object], at }
      const arg = this.arg(variable)
      names.bind(arg.name)
      return { arg, value }
    })
    const inner = letsAround(lets, this.body(body, call), call)
    for (const { arg } of lets.reverse()) names.unbind(arg.name)
    names.unbind(OBJECT)
    return { term: 'lambda', args: [{ name: OBJECT, type: null, at: call }], body: inner, at: call }
  }

  /** @returns null if the name is not that of a special form */
  #special(name: string, forms: readonly Form[], call: CallForm): ResolvedTerm | null {
    const { place, items } = call
    const count = FIXED.get(name)
    if (count !== undefined) {
      if (forms.length !== count) throw syntaxError(`${name} takes ${count} parts, not ${forms.length}`, place)
      return { term: 'form', form: name as FormName, parts: forms.map((form) => this.term(form)), at: call }
    }
    if (CONNECTIVES.has(name)) return this.#connective(name as FormName, forms, call, items[0])
    switch (name) {
      case 'lambda':
      case 'let':
      case 'let*':
        return this.#binder(name, forms, call)
      case 'do':
        return this.body(forms, call)
      case 'with-capability': {
        if (forms.length < 2) throw syntaxError('with-capability takes a capability and a body', place)
        const parts = [this.term(forms[0]), this.body(forms.slice(1), call)]
        return { term: 'form', form: 'with-capability', parts, at: call }
      }
      case 'suspend':
        return { term: 'nullary', body: this.body(forms, call), at: call }
      case 'cond':
        return this.#cond(forms, call)
      case 'map':
        return this.#map(forms, call)
      default:
        return null
    }
  }

  #binder(name: string, [params, ...body]: readonly Form[], call: CallForm): ResolvedTerm {
    if (params?.form !== 'call') throw syntaxError("Expected: ['(']", params?.place ?? call.place)
    if (name === 'lambda') return this.lambda(params.items, body, call)
    const lets = params.items.map((binding) => {
      const [variable, value] = binding.form === 'call' ? binding.items : []
      if (variable?.form !== 'atom' || value === undefined)
        throw syntaxError('let takes pairs of a name and a value', binding.place)
      // On the network, the place of the variable is that of the form.
      const bound = { arg: this.arg(variable, call), value: this.term(value) }
      this.#names.bind(variable.name)
      return bound
    })
    const inner = letsAround(lets, this.body(body, call), call)
    for (const { arg } of lets.reverse()) this.#names.unbind(arg.name)
    return inner
  }

  #connective(form: FormName, forms: readonly Form[], call: CallForm, head: Form): ResolvedTerm {
    if (forms.length === 2) return { term: 'form', form, parts: forms.map((part) => this.term(part)), at: call }
    const [one, other] = CONDITIONS.map((name, position): ResolvedTerm => {
      return { term: 'variable', name, to: { ref: 'bound', index: 1 - position }, at: head }
    })
    const fn = lambdaOf(CONDITIONS, 'bool', { term: 'form', form, parts: [one, other], at: head })
    return callTerm(fn, this.#arguments(forms, call), call)
  }

  #cond(forms: readonly Form[], call: CallForm): ResolvedTerm {
    const last = forms.at(-1)
    if (last === undefined) throw syntaxError('cond takes at least one part', call.place)
    const pairs = forms.slice(0, -1).map((form) => {
      if (form.form !== 'call' || form.items.length !== 2)
        throw syntaxError('cond takes pairs of a test and a value', form.place)
      return [this.term(form.items[0]), this.term(form.items[1]), form] as const
    })
    let body = this.term(last)
    for (const [test, value, at] of pairs.reverse()) body = { term: 'form', form: 'if', parts: [test, value, body], at }
    const cond: ResolvedTerm = { term: 'native', name: 'cond', number: nativeNumber('cond'), at: call }
    return { term: 'call', fn: cond, args: [{ term: 'nullary', body, at: call }], at: call }
  }

  /** `(map (f a) list)` is `(map (lambda (x) (f a x)) list)`. */
  #map(forms: readonly Form[], call: CallForm): ResolvedTerm {
    const map: ResolvedTerm = { term: 'native', name: 'map', number: nativeNumber('map'), at: call }
    const [fn, ...rest] = forms
    if (
      fn?.form !== 'call' ||
      fn.items.length === 0 ||
      (fn.items[0].form === 'atom' && NOT_CALLS.has(fn.items[0].name))
    )
      return callTerm(map, this.#arguments(forms, call), call)
    const item: Atom = {
      form: 'atom',
      name: ITEM,
      member: null,
      type: null,
      place: call.place,
      from: call.from,
      to: call.to,
    }
    const arg = { name: ITEM, type: null, at: fn }
    const body = this.#names.withBound([arg], true, () => this.term({ ...fn, items: [...fn.items, item] }))
    return callTerm(map, [{ term: 'lambda', args: [arg], body, at: fn }, ...this.#arguments(rest, call)], call)
  }
}

interface LetPart {
  readonly arg: Arg
  readonly value: ResolvedTerm
}

function letsAround(lets: readonly LetPart[], inner: ResolvedTerm, at: SourceSpan): ResolvedTerm {
  let body = inner
  for (const { arg, value } of [...lets].reverse()) body = { term: 'let', arg, value, body, at }
  return body
}

function lambdaOf(names: readonly string[], type: 'bool' | null, body: ResolvedTerm): ResolvedTerm {
  const { at } = body
  return { term: 'lambda', args: names.map((name) => ({ name, type: type === null ? null : { type }, at })), body, at }
}

function sequence(terms: readonly ResolvedTerm[], at: SourceSpan): ResolvedTerm {
  const last = terms.at(-1)
  if (last === undefined) throw syntaxError('Expected: [expression]', at.place)
  let rest = last
  for (const first of terms.slice(0, -1).reverse()) rest = { term: 'sequence', first, rest, at }
  return rest
}

/** A call. The number of arguments selects the overload of a native. */
function callTerm(fn: ResolvedTerm, args: readonly ResolvedTerm[], at: SourceSpan): ResolvedTerm {
  if (fn.term !== 'native') return { term: 'call', fn, args, at }
  const called: ResolvedTerm = { term: 'native', name: fn.name, number: calledNumber(fn.name, args.length), at }
  return { term: 'call', fn: called, args: OF_LIST.has(fn.name) ? [{ term: 'list', items: args, at }] : args, at }
}

/** The name alone, without its type. */
function spanOf({ name, member, type, place, from, to }: Atom): SourceSpan {
  if (type === null || member !== null) return { place, to }
  return { place, to: from + name.length }
}
