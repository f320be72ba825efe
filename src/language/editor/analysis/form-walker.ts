/** Walks through expressions: finds what names mean, and notes what cannot be right. */

import { checkForm, nativeOfTests, noSuchMember, noSuchModule } from '../../contracts/check.ts'
import { ContractError } from '../../contracts/errors.ts'
import { vocabulary } from '../../contracts/repl/vocabulary.ts'
import type { Atom, BindingForm, CallForm, Form } from '../../contracts/syntax/form.ts'
import { isKeyword, splitName } from '../../contracts/syntax/names.ts'
import { findingOf, type ParsedFile, wordOf } from '../text/parsed-file.ts'
import { similarName } from '../text/similar.ts'
import type { CodeFinding, OffsetRange } from '../text/spans.ts'
import { isModule, type ModuleSymbol, type NamedSymbol, nameRange, parametersOf, variable } from '../text/symbols.ts'
import type { NameUse, VisibleRange } from './analysis.ts'
import { callFindings, mayLackArguments } from './call-checks.ts'
import type { NameLookup, ResolvedSymbol, VariableScope } from './name-lookup.ts'
import { nativeFinding } from './native-checks.ts'
import { itemOf, type KnownType, listType, ObjectTypes } from './object-types.ts'

/** Where a walk writes what it finds. */
export interface WalkResults {
  readonly uses: NameUse[]
  readonly scopes: VisibleRange[]
  readonly findings: CodeFinding[]
}

/** Forms in front of a table and a key, then a binding or an object with fields of the table. */
const ROW_FORMS: ReadonlySet<string> = new Set(['with-read', 'with-default-read', 'insert', 'update', 'write'])

/** Forms that pass on to their functions what they get themselves. */
const PASSED_ON: ReadonlySet<string> = new Set(['not?', 'and?', 'or?'])

export class FormWalker {
  readonly #source: ParsedFile
  readonly #lookup: NameLookup
  readonly #results: WalkResults
  /** True in code that is expected to fail, where errors are not findings. */
  #isQuiet = false
  readonly #isModule: boolean
  readonly #types: ObjectTypes

  constructor(source: ParsedFile, lookup: NameLookup, results: WalkResults, isModule: boolean) {
    this.#source = source
    this.#lookup = lookup
    this.#results = results
    this.#isModule = isModule
    this.#types = new ObjectTypes(lookup)
  }

  /** @returns the type of the last one */
  walkForms(forms: readonly Form[], scope: VariableScope | null): KnownType {
    return forms.map((form) => this.walkForm(form, scope)).at(-1) ?? null
  }

  walkForm(form: Form, scope: VariableScope | null): KnownType {
    switch (form.form) {
      case 'atom':
        return this.#walkAtom(form, scope)
      case 'list':
        return listType(form.items.map((item) => this.walkForm(item, scope)).find((type) => type !== null) ?? null)
      case 'object':
        for (const [, value] of form.fields) this.walkForm(value, scope)
        return null
      case 'call':
        return this.#walkCall(form, scope, null)
      default:
        return null
    }
  }

  /** The body of a function, or the value of a constant. An object that ends it has the fields of the declared type. */
  walkBody(forms: readonly Form[], scope: VariableScope | null, symbol: NamedSymbol): void {
    this.walkForms(forms, scope)
    this.#noteLiteralFields(forms.at(-1), this.#types.declaredTypeOf(symbol))
  }

  /** Parameters of a function as the scope of its body. Their types count as uses of schemas. */
  bindParameters(form: Form | undefined, within: OffsetRange, scope: VariableScope | null): VariableScope | null {
    if (form?.form === 'call') for (const item of form.items) if (item.form === 'atom') this.noteType(item)
    return this.bindAll(parametersOf(this.#source, form), within, scope)
  }

  bindAll(symbols: readonly NamedSymbol[], within: OffsetRange, scope: VariableScope | null): VariableScope | null {
    for (const symbol of symbols) this.define(symbol)
    this.#results.scopes.push({ file: this.#source.file, from: within.from, to: within.to, symbols })
    return symbols.reduce<VariableScope | null>((up, symbol) => ({ symbol, isUsed: false, up }), scope)
  }

  define(symbol: NamedSymbol): void {
    this.#noteUse(symbol.at, { symbol }, true)
  }

  /** Notes the schemas and interfaces in the type of a name. */
  noteType(atom: Atom): void {
    if (atom.type === null) return
    const start = atom.from + atom.name.length
    for (const found of this.#source.text.slice(start, atom.to).matchAll(/[{,]\s*([^\s{},]+)/g)) {
      const name = found[1]
      const from = start + found.index + found[0].length - name.length
      const meaning = this.#lookup.resolveUse(name, null)
      if (meaning === null) this.#reportUnknownName(name, { from, to: from + name.length })
      else if (meaning !== 'pending') this.#noteUse({ from, to: from + name.length }, meaning)
    }
  }

  #noteUse({ from, to }: OffsetRange, target: NameUse['target'], isDefinition = false): void {
    this.#results.uses.push({ file: this.#source.file, from, to, target, ...(isDefinition && { isDefinition }) })
  }

  report(finding: CodeFinding): void {
    if (!this.#isQuiet) this.#results.findings.push(finding)
  }

  #walkAtom(atom: Atom, scope: VariableScope | null): KnownType {
    const { name, member } = atom
    if (name === 'true' || name === 'false' || isKeyword(name)) return null
    const range = nameRange(atom)
    const meaning = this.#lookup.resolveUse(name, scope)
    if (member !== null) this.#noteInterfaceMember(atom, meaning)
    else if (meaning === null) this.#reportUnknownName(name, range)
    else if (meaning !== 'pending') this.#noteMeaning(name, range, meaning)
    const isValue = member === null && meaning !== null && meaning !== 'pending' && 'symbol' in meaning
    return isValue ? this.#types.typeOfName(meaning.symbol) : null
  }

  #noteMeaning(name: string, range: OffsetRange, meaning: Exclude<ResolvedSymbol, 'pending' | null>): void {
    this.#noteUse(range, meaning)
    if ('native' in meaning && meaning.native.isOfTests && this.#isModule) {
      this.report({
        severity: 'error',
        code: 'test-native',
        message: nativeOfTests().message,
        ...range,
      })
    }
    if ('native' in meaning) {
      const place = { isModule: this.#isModule, dialect: this.#source.dialect }
      const finding = nativeFinding(meaning.native, range, place)
      if (finding !== null) this.report(finding)
    }
    const module = 'symbol' in meaning ? moduleOf(meaning.symbol) : null
    if (module !== null && this.#source.dialect === 'test' && !this.#lookup.isLoaded(module)) {
      this.report(notLoaded(module, range))
    }
    // The part in front of the last dot means the module.
    const dot = name.lastIndexOf('.')
    const owner = 'symbol' in meaning ? meaning.symbol.owner : null
    if (dot > 0 && owner !== null) this.#noteUse({ from: range.from, to: range.from + dot }, { symbol: owner })
  }

  /** `variable::member`, where the type of the variable may name the interface. */
  #noteInterfaceMember(atom: Atom, meaning: ResolvedSymbol): void {
    if (meaning === null || meaning === 'pending' || !('symbol' in meaning)) return
    this.#noteUse(nameRange(atom), meaning)
    const { type } = meaning.symbol
    for (const name of type?.type === 'module' ? type.interfaces : []) {
      const interfaceName = this.#lookup.module(name)
      const found =
        interfaceName === null || interfaceName === 'pending'
          ? undefined
          : interfaceName.symbol.members.get(atom.member ?? '')
      if (found !== undefined) this.#noteUse({ from: atom.to - found.name.length, to: atom.to }, { symbol: found })
    }
  }

  #reportUnknownName(name: string, range: OffsetRange): void {
    const isTest = vocabulary.get(name)?.isOfTests ?? false
    if (isTest && this.#source.dialect === 'contract') {
      const message = `${name} is a native of test files, not of contracts`
      this.report({ severity: 'error', code: 'test-native', message, ...range })
      return
    }
    const parts = splitName(name)
    const known = this.#results.scopes.filter(({ from, to }) => from <= range.from && range.to <= to)
    const names = [...this.#lookup.allNames(), ...known.flatMap(({ symbols }) => symbols.map((each) => each.name))]
    const similar = parts === null ? similarName(name, names) : null
    const hint = similar === null ? 'no variable, member, import or module has this name' : `${similar} is similar`
    const module = parts === null ? null : this.#lookup.module(parts.module)
    const error = module === null ? noSuchModule(parts?.module ?? name, null, hint) : null
    const message = (error ?? noSuchMember(parts?.module ?? '', parts?.member ?? '', null)).message
    this.report({ severity: 'error', code: 'unknown-name', message, ...(similar !== null && { similar }), ...range })
  }

  /** @param added types of further arguments, if `map` or its like completes the call; else null */
  #walkCall(call: CallForm, scope: VariableScope | null, added: readonly KnownType[] | null): KnownType {
    const [head, ...rest] = call.items
    if (head === undefined) return null
    const word = wordOf(call)
    this.#checkFormRules(word, call)
    if (word === 'lambda') return this.#walkLambda(call, scope, added ?? [])
    if (word === 'let' || word === 'let*') return this.#walkLet(call, scope)
    this.walkForm(head, scope)
    const meaning = head.form === 'atom' && head.member === null ? this.#lookup.resolveUse(head.name, scope) : null
    if (added === null) for (const finding of callFindings(call, meaning)) this.report(finding)
    const types = [...this.#walkArguments(word, call, rest, scope, added ?? []), ...(added ?? [])]
    if (meaning === null || meaning === 'pending') return null
    if ('native' in meaning) {
      for (const [key, schema] of this.#types.fieldNamesIn(word, rest, types)) this.#noteField(key.value, key, schema)
      return this.#types.resultTypeOf(word, rest, types)
    }
    const { symbol } = meaning
    for (const [i, param] of symbol.params?.entries() ?? []) {
      this.#noteLiteralFields(rest[i], this.#types.declaredTypeOf(param, symbol.owner))
    }
    return symbol.params === null ? null : this.#types.declaredTypeOf(symbol)
  }

  /** Notes the fields of an object whose type is declared where its value goes to. */
  #noteLiteralFields(form: Form | undefined, type: KnownType): void {
    if (type === null) return
    if (form?.form === 'object' && type.depth === 0) this.#noteFields(form, type.schema)
    else if (form?.form === 'list') for (const item of form.items) this.#noteLiteralFields(item, itemOf(type))
  }

  #checkFormRules(word: string, call: CallForm): void {
    try {
      checkForm(word, call)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      this.report(findingOf(error, 'syntax', this.#source))
    }
  }

  /** @returns the types of the arguments */
  #walkArguments(
    word: string,
    call: CallForm,
    rest: readonly Form[],
    scope: VariableScope | null,
    added: readonly KnownType[],
  ): readonly KnownType[] {
    const around = this.#isQuiet
    if (word === 'expect-failure') this.#isQuiet = true
    const table = ROW_FORMS.has(word) ? (this.#types.rowTypeOf(rest[0])?.schema ?? null) : null
    const types: KnownType[] = rest.map(() => null)
    let inner = scope
    // The function comes first, and the type of its argument comes after it.
    const isLate = (part: Form, index: number) => part.form === 'call' && mayLackArguments(word, rest, index)
    const parts = [...rest.entries()]
    for (const [index, part] of parts.filter(([i, each]) => !isLate(each, i))) {
      if (part.form === 'binding') inner = this.#walkBinding(part, call, inner, table ?? rowOf(word, types[0]))
      else types[index] = this.walkForm(part, inner)
      if (part.form === 'object' && table !== null && inner === scope) this.#noteFields(part, table)
    }
    for (const [index, part] of parts) {
      if (part.form !== 'call' || !isLate(part, index)) continue
      const own = this.#types.addedTypesOf(word, rest, index, types)
      types[index] = this.#walkCall(part, inner, own.length > 0 ? own : PASSED_ON.has(word) ? added : [])
    }
    this.#isQuiet = around
    if (inner !== scope) this.#reportUnused(inner, scope)
    return types
  }

  #noteFields(form: Extract<Form, { form: 'object' }>, schema: NamedSymbol): void {
    let at = form.from + 1
    for (const [name, value] of form.fields) {
      this.#noteField(name, { from: at, to: value.from }, schema)
      at = value.to
    }
  }

  /** Notes the use of a field, whose name is somewhere in a range. */
  #noteField(name: string, { from, to }: OffsetRange, schema: NamedSymbol): void {
    const symbol = schema.members.get(name)
    const quote = this.#source.text.slice(from, to).search(/["']/)
    if (quote < 0) return
    const start = from + quote + 1
    const range = { from: start, to: start + name.length }
    if (symbol !== undefined) this.#noteUse(range, { symbol })
    else if (schema.members.size > 0) {
      const similar = similarName(name, schema.members.keys())
      const advice = similar === null ? '' : `; ${similar} is similar`
      const message = `${schema.name} has no field ${name}${advice}`
      this.report({
        severity: 'warning',
        code: 'unknown-field',
        message,
        ...(similar !== null && { similar }),
        ...range,
      })
    }
  }

  #walkBinding(
    form: BindingForm,
    call: CallForm,
    scope: VariableScope | null,
    schema: NamedSymbol | null,
  ): VariableScope | null {
    const symbols = form.fields.map(([, atom]) => variable(this.#source, atom, 'variable'))
    let at = form.from + 1
    for (const [i, [name, atom]] of form.fields.entries()) {
      if (schema !== null) this.#noteField(name, { from: at, to: atom.from }, schema)
      const field = schema?.members.get(name)
      if (field !== undefined) this.#types.setInferred(symbols[i], this.#types.declaredTypeOf(field))
      at = atom.to
      this.noteType(atom)
    }
    return this.bindAll(symbols, { from: form.to, to: call.to }, scope)
  }

  #walkLambda(call: CallForm, scope: VariableScope | null, types: readonly KnownType[]): KnownType {
    const inner = this.bindParameters(call.items[1], call, scope)
    let at = inner
    for (let i = countOf(call.items[1]) - 1; i >= 0 && at !== null; i--, at = at.up) {
      this.#types.setInferred(at.symbol, types[i] ?? null)
    }
    return this.walkForms(call.items.slice(2), inner)
  }

  #walkLet(call: CallForm, scope: VariableScope | null): KnownType {
    const [, bindings, ...body] = call.items
    let inner = scope
    for (const each of bindings?.form === 'call' ? bindings.items : []) {
      const [name, value] = each.form === 'call' ? each.items : []
      const type = value?.form === 'call' ? this.#walkCall(value, inner, []) : value && this.walkForm(value, inner)
      if (name?.form !== 'atom') continue
      this.noteType(name)
      const symbol = variable(this.#source, name, 'variable')
      this.#types.setInferred(symbol, type ?? null)
      this.#noteLiteralFields(value, this.#types.declaredTypeOf(symbol))
      inner = this.bindAll([symbol], { from: each.to, to: call.to }, inner)
    }
    const type = this.walkForms(body, inner)
    this.#reportUnused(inner, scope)
    return type
  }

  /** Notes variables that no code names, except those whose name begins with `_`. */
  #reportUnused(inner: VariableScope | null, outer: VariableScope | null): void {
    for (let each = inner; each !== null && each !== outer; each = each.up) {
      const { name, at } = each.symbol
      if (each.isUsed || name.startsWith('_')) continue
      this.report({
        severity: 'hint',
        code: 'unused-variable',
        message: `${name} is never used`,
        isUnused: true,
        ...at,
      })
    }
  }
}

const rowOf = (word: string, type: KnownType) => (word === 'bind' && type?.depth === 0 ? type.schema : null)

const countOf = (parameters: Form | undefined) =>
  parameters?.form === 'call' ? parameters.items.filter(({ form }) => form === 'atom').length : 0

/** The module that a name of another module leads to, or null. */
function moduleOf(symbol: NamedSymbol): ModuleSymbol | null {
  for (let each: NamedSymbol | null = symbol; each !== null; each = each.owner) if (isModule(each)) return each
  return null
}

/** A module that is known from elsewhere, but that the test file has not loaded. */
export function notLoaded({ full }: ModuleSymbol, range: OffsetRange): CodeFinding {
  return { severity: 'warning', code: 'not-loaded', message: `this file does not load ${full}`, ...range }
}
