/** Walks through expressions: finds what names mean, and notes what cannot be right. */
import { ContractError } from '../contracts/errors.ts'
import { failure } from '../contracts/failures/failure.ts'
import { checkForm } from '../contracts/machine/form-rules.ts'
import { noSuchMember, noSuchModule } from '../contracts/machine/load-errors.ts'
import { splitName } from '../contracts/machine/names.ts'
import type { Atom, BindingForm, CallForm, Form } from '../contracts/syntax/form.ts'
import { isKeyword } from '../contracts/syntax/keywords.ts'
import type { NameUse, VisibleRange } from './analysis.ts'
import { callFindings, isCompleted } from './call-checks.ts'
import type { Meaning, NameLookup, VariableScope } from './name-lookup.ts'
import { nativeFinding } from './native-checks.ts'
import { findingOf, type ParsedFile, wordOf } from './parsed-file.ts'
import { similarName } from './similar.ts'
import type { CodeFinding, OffsetRange } from './spans.ts'
import { isModule, type ModuleSymbol, type NamedSymbol, nameRange, parametersOf, variable } from './symbols.ts'
import { vocabulary } from './vocabulary.ts'

/** Where a walk writes what it finds. */
export interface WalkResults {
  readonly uses: NameUse[]
  readonly scopes: VisibleRange[]
  readonly findings: CodeFinding[]
}

/** Forms in front of a table and a key, then a binding or an object with fields of the table. */
const ROW_FORMS: ReadonlySet<string> = new Set([...['with-read', 'with-default-read', 'insert', 'update', 'write']])

export class FormWalker {
  readonly #source: ParsedFile
  readonly #lookup: NameLookup
  readonly #results: WalkResults
  /** True in code that is expected to fail, where errors are no findings. */
  #isQuiet = false
  readonly #isModule: boolean

  constructor(source: ParsedFile, lookup: NameLookup, results: WalkResults, isModule: boolean) {
    this.#source = source
    this.#lookup = lookup
    this.#results = results
    this.#isModule = isModule
  }

  forms(forms: readonly Form[], scope: VariableScope | null): void {
    for (const form of forms) this.form(form, scope)
  }

  form(form: Form, scope: VariableScope | null): void {
    switch (form.form) {
      case 'atom':
        this.#atom(form, scope)
        return
      case 'list':
        this.forms(form.items, scope)
        return
      case 'object':
        for (const [, value] of form.fields) this.form(value, scope)
        return
      case 'call':
        this.#call(form, scope, false)
    }
  }

  /** Parameters of a function as the scope of its body. Their types count as uses of schemas. */
  parameters(form: Form | undefined, within: OffsetRange, scope: VariableScope | null): VariableScope | null {
    if (form?.form === 'call') for (const item of form.items) if (item.form === 'atom') this.type(item)
    return this.bindAll(parametersOf(this.#source, form), within, scope)
  }

  bindAll(symbols: readonly NamedSymbol[], within: OffsetRange, scope: VariableScope | null): VariableScope | null {
    for (const symbol of symbols) this.define(symbol)
    this.#results.scopes.push({ file: this.#source.file, from: within.from, to: within.to, symbols })
    return symbols.reduce<VariableScope | null>((up, symbol) => ({ symbol, isUsed: false, up }), scope)
  }

  define(symbol: NamedSymbol): void {
    this.#use(symbol.at, { symbol }, true)
  }

  /** Notes the schemas and interfaces in the type of a name. */
  type(atom: Atom): void {
    if (atom.type === null) return
    const start = atom.from + atom.name.length
    for (const found of this.#source.text.slice(start, atom.to).matchAll(/[{,]\s*([^\s{},]+)/g)) {
      const name = found[1]
      const from = start + found.index + found[0].length - name.length
      const meaning = this.#lookup.find(name, null)
      if (meaning === null) this.#unknown(name, { from, to: from + name.length })
      else if (meaning !== 'pending') this.#use({ from, to: from + name.length }, meaning)
    }
  }

  #use({ from, to }: OffsetRange, target: NameUse['target'], isDefinition = false): void {
    this.#results.uses.push({ file: this.#source.file, from, to, target, ...(isDefinition && { isDefinition }) })
  }

  note(finding: CodeFinding): void {
    if (!this.#isQuiet) this.#results.findings.push(finding)
  }

  #atom(atom: Atom, scope: VariableScope | null): void {
    const { name, member } = atom
    if (name === 'true' || name === 'false' || isKeyword(name)) return
    const range = nameRange(atom)
    const meaning = this.#lookup.find(name, scope)
    if (member !== null) this.#dynamic(atom, meaning)
    else if (meaning === null) this.#unknown(name, range)
    else if (meaning !== 'pending') this.#known(name, range, meaning)
  }

  #known(name: string, range: OffsetRange, meaning: Exclude<Meaning, 'pending' | null>): void {
    this.#use(range, meaning)
    if ('native' in meaning && meaning.native.isOfTests && this.#isModule) {
      this.note({
        severity: 'error',
        code: 'test-native',
        message: failure('TEST_NATIVE_IN_MODULE', {}).message,
        ...range,
      })
    }
    if ('native' in meaning) {
      const place = { isModule: this.#isModule, dialect: this.#source.dialect }
      const finding = nativeFinding(meaning.native, range, place)
      if (finding !== null) this.note(finding)
    }
    const module = 'symbol' in meaning ? moduleOf(meaning.symbol) : null
    if (module !== null && this.#source.dialect === 'test' && !this.#lookup.isLoaded(module)) {
      this.note(notLoaded(module, range))
    }
    // The part in front of the last dot means the module.
    const dot = name.lastIndexOf('.')
    const owner = 'symbol' in meaning ? meaning.symbol.owner : null
    if (dot > 0 && owner !== null) this.#use({ from: range.from, to: range.from + dot }, { symbol: owner })
  }

  /** `variable::member`, where the type of the variable may tell the interface. */
  #dynamic(atom: Atom, meaning: Meaning): void {
    if (meaning === null || meaning === 'pending' || !('symbol' in meaning)) return
    this.#use(nameRange(atom), meaning)
    const { type } = meaning.symbol
    for (const name of type?.type === 'module' ? type.interfaces : []) {
      const face = this.#lookup.module(name)
      const found = face === null || face === 'pending' ? undefined : face.symbol.members.get(atom.member ?? '')
      if (found !== undefined) this.#use({ from: atom.to - found.name.length, to: atom.to }, { symbol: found })
    }
  }

  #unknown(name: string, range: OffsetRange): void {
    const isTest = vocabulary.get(name)?.isOfTests ?? false
    if (isTest && this.#source.dialect === 'contract') {
      const message = `${name} is a native of test files, not of contracts`
      this.note({ severity: 'error', code: 'test-native', message, ...range })
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
    this.note({ severity: 'error', code: 'unknown-name', message, ...(similar !== null && { similar }), ...range })
  }

  /** @param isPartial true for the call that `map` and its like complete with further arguments */
  #call(call: CallForm, scope: VariableScope | null, isPartial: boolean): void {
    const [head, ...rest] = call.items
    if (head === undefined) return
    const word = wordOf(call)
    this.#formRules(word, call)
    if (word === 'lambda') this.#lambda(call, scope)
    else if (word === 'let' || word === 'let*') this.#let(call, scope)
    else {
      this.form(head, scope)
      const meaning = head.form === 'atom' ? this.#lookup.find(head.name, scope) : null
      if (!isPartial && head.form === 'atom' && head.member === null) {
        for (const finding of callFindings(call, meaning)) this.note(finding)
      }
      this.#arguments(word, call, rest, scope)
    }
  }

  #formRules(word: string, call: CallForm): void {
    try {
      checkForm(word, call)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      this.note(findingOf(error, 'syntax', this.#source))
    }
  }

  #arguments(word: string, call: CallForm, rest: readonly Form[], scope: VariableScope | null): void {
    const around = this.#isQuiet
    if (word === 'expect-failure') this.#isQuiet = true
    const table = ROW_FORMS.has(word) ? this.#schemaOf(rest[0]) : null
    this.#fieldTexts(word, rest)
    let inner = scope
    for (const [index, part] of rest.entries()) {
      if (part.form === 'binding') inner = this.#binding(part, call, inner, table)
      else if (part.form === 'object' && table !== null && inner === scope) this.#fields(part, inner, table)
      else if (part.form === 'call' && isCompleted(word, rest, index)) this.#call(part, inner, true)
      else this.form(part, inner)
    }
    this.#isQuiet = around
    if (inner !== scope) this.#unused(inner, scope)
  }

  /** The schema of a table that a form names, or null. */
  #schemaOf(form: Form | undefined): NamedSymbol | null {
    if (form?.form !== 'atom') return null
    const meaning = this.#lookup.find(form.name, null)
    if (meaning === null || meaning === 'pending' || !('symbol' in meaning)) return null
    const { kind, type, owner } = meaning.symbol
    if (kind !== 'deftable' || type?.type !== 'object' || type.schema === null) return null
    const own = owner?.members.get(type.schema)
    if (own?.kind === 'defschema') return own
    const found = this.#lookup.find(type.schema, null)
    return found !== null && found !== 'pending' && 'symbol' in found ? found.symbol : null
  }

  #fields(form: Extract<Form, { form: 'object' }>, scope: VariableScope | null, schema: NamedSymbol): void {
    let at = form.from + 1
    for (const [name, value] of form.fields) {
      this.#field(name, { from: at, to: value.from }, schema)
      at = value.to
      this.form(value, scope)
    }
  }

  /** Fields of a table as texts: `(at "field" (read table key))`, and the lists of `read` and `select`. */
  #fieldTexts(word: string, rest: readonly Form[]): void {
    const read = word === 'at' && rest[1]?.form === 'call' && wordOf(rest[1]) === 'read' ? rest[1].items[1] : undefined
    const listed = word === 'read' ? rest[2] : word === 'select' ? rest[1] : undefined
    const texts = read !== undefined ? [rest[0]] : listed?.form === 'list' ? listed.items : []
    const schema = texts.length === 0 ? null : this.#schemaOf(read ?? rest[0])
    if (schema === null) return
    for (const text of texts) if (text.form === 'string') this.#field(text.value, text, schema)
  }

  /** Notes the use of a field, whose name is somewhere in a range. */
  #field(name: string, { from, to }: OffsetRange, schema: NamedSymbol): void {
    const symbol = schema.members.get(name)
    const quote = this.#source.text.slice(from, to).search(/["']/)
    if (quote < 0) return
    const start = from + quote + 1
    const range = { from: start, to: start + name.length }
    if (symbol !== undefined) this.#use(range, { symbol })
    else if (schema.members.size > 0) {
      const similar = similarName(name, schema.members.keys())
      const advice = similar === null ? '' : `; ${similar} is similar`
      const message = `${schema.name} has no field ${name}${advice}`
      this.note({ severity: 'warning', code: 'unknown-field', message, ...(similar !== null && { similar }), ...range })
    }
  }

  #binding(
    form: BindingForm,
    call: CallForm,
    scope: VariableScope | null,
    schema: NamedSymbol | null,
  ): VariableScope | null {
    const symbols = form.fields.map(([, atom]) => variable(this.#source, atom, 'variable'))
    let at = form.from + 1
    for (const [name, atom] of form.fields) {
      if (schema !== null) this.#field(name, { from: at, to: atom.from }, schema)
      at = atom.to
      this.type(atom)
    }
    return this.bindAll(symbols, { from: form.to, to: call.to }, scope)
  }

  #lambda(call: CallForm, scope: VariableScope | null): void {
    this.forms(call.items.slice(2), this.parameters(call.items[1], call, scope))
  }

  #let(call: CallForm, scope: VariableScope | null): void {
    const [, bindings, ...body] = call.items
    let inner = scope
    for (const each of bindings?.form === 'call' ? bindings.items : []) {
      const [name, value] = each.form === 'call' ? each.items : []
      if (value?.form === 'call') this.#call(value, inner, true)
      else if (value !== undefined) this.form(value, inner)
      if (name?.form !== 'atom') continue
      this.type(name)
      inner = this.bindAll([variable(this.#source, name, 'variable')], { from: each.to, to: call.to }, inner)
    }
    this.forms(body, inner)
    this.#unused(inner, scope)
  }

  /** Notes variables that no code names, except those whose name begins with `_`. */
  #unused(inner: VariableScope | null, outer: VariableScope | null): void {
    for (let each = inner; each !== null && each !== outer; each = each.up) {
      const { name, at } = each.symbol
      if (each.isUsed || name.startsWith('_')) continue
      this.note({ severity: 'hint', code: 'unused-variable', message: `${name} is never used`, isUnused: true, ...at })
    }
  }
}

/** The module that a name of another module leads to, or null. */
function moduleOf(symbol: NamedSymbol): ModuleSymbol | null {
  for (let each: NamedSymbol | null = symbol; each !== null; each = each.owner) if (isModule(each)) return each
  return null
}

/** A module that is known from elsewhere, but that the test file has not loaded. */
export function notLoaded({ full }: ModuleSymbol, range: OffsetRange): CodeFinding {
  return { severity: 'warning', code: 'not-loaded', message: `this file does not load ${full}`, ...range }
}
