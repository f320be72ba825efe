/** Follows a program from its first form to its last, and through the files that it loads. */

import { noSuchImports, noSuchModule, refuseCycles, SHADOW_ADVICE, shadowsIn } from '../../contracts/check.ts'
import { ContractError } from '../../contracts/errors.ts'
import { vocabulary } from '../../contracts/repl/vocabulary.ts'
import type { CallForm, Form } from '../../contracts/syntax/form.ts'
import { isWord } from '../../contracts/syntax/names.ts'
import { findingOf, moduleParts, type ParsedFile, wordOf } from '../text/parsed-file.ts'
import { type CodeFinding, isWithin } from '../text/spans.ts'
import {
  declareMember,
  declareModule,
  isSameSymbol,
  isUsable,
  type ModuleSymbol,
  type NamedSymbol,
  nameRange,
  namespaceIn,
} from '../text/symbols.ts'
import type { AnalysisSources, NameUse, ProgramAnalysis, VisibleRange } from './analysis.ts'
import { FormWalker, notLoaded, type WalkResults } from './form-walker.ts'
import { ALL_NAMES, NameLookup, type ProgramNames } from './name-lookup.ts'

/** Names in the lists of `use` that the module around them never uses without its module in front. */
function unusedImports(calls: readonly CallForm[], uses: readonly NameUse[]): CodeFinding[] {
  const lists = calls.filter((call) => wordOf(call) === 'use').flatMap(({ items }) => items.filter(isList))
  return lists
    .flatMap(({ items }) => items.filter(isAtom))
    .flatMap((atom): CodeFinding[] => {
      const range = nameRange(atom)
      const imported = uses.find(({ from, target }) => from === range.from && 'symbol' in target)?.target
      if (imported === undefined || !('symbol' in imported)) return []
      const isUsed = uses.some(({ from, to, target }) => {
        const isIt = 'symbol' in target && isSameSymbol(target.symbol, imported.symbol)
        return isIt && from !== range.from && to - from === atom.name.length
      })
      const message = `the import ${atom.name} is never used`
      return isUsed ? [] : [{ severity: 'hint', code: 'unused-import', message, isUnused: true, ...range }]
    })
}

/** Texts in the fields of an object. */
function textsIn(form: Form | undefined): Map<string, string> {
  const fields = form?.form === 'object' ? form.fields : []
  return new Map(fields.flatMap(([name, value]) => (value.form === 'string' ? [[name, value.value] as const] : [])))
}

const isList = (form: Form) => form.form === 'list'
const isAtom = (form: Form) => form.form === 'atom'

/** Maximum number of files that one program may load: each change of one analyses all. */
const MAX_FILES = 500

/** Analyses a file and all files that it loads. */
export function analyse(root: ParsedFile, sources: AnalysisSources): ProgramAnalysis {
  const walker = new ProgramWalker(root, sources)
  walker.walkFile(root)
  return walker.result()
}

class ProgramWalker {
  readonly #root: ParsedFile
  readonly #sources: AnalysisSources
  readonly #files = new Map<string, ParsedFile>()
  readonly #uses: NameUse[] = []
  readonly #scopes: VisibleRange[] = []
  readonly #findings: CodeFinding[] = []
  readonly #loadable: { module: ModuleSymbol; namespace: string | null }[] = []
  readonly #definitions = new Map<string, NamedSymbol>()
  readonly #names: ProgramNames = {
    namespace: null,
    imports: new Map(),
    modules: new Map(),
    data: new Map(),
    isUncertain: false,
    isForked: false,
    lostImports: new Set(),
  }
  /** Files that are being walked, outermost first. */
  readonly #loading: string[] = []
  /** True once a test file allows its modules to use the natives of tests. */
  #areNativesInModules = false

  constructor(root: ParsedFile, sources: AnalysisSources) {
    this.#root = root
    this.#sources = sources
  }

  result(): ProgramAnalysis {
    const { modules, imports } = this.#names
    return {
      root: this.#root,
      files: this.#files,
      modules,
      imports,
      uses: this.#uses,
      scopes: this.#scopes,
      findings: [...this.#root.findings, ...this.#findings.filter((finding) => this.#isCertain(finding))],
      loadable: this.#loadable,
    }
  }

  /** Brackets that do not match say nothing about arguments and unused names around them. */
  #isCertain({ severity, from }: CodeFinding): boolean {
    if (severity === 'error' || this.#root.findings.length === 0) return true
    const forms = this.#root.forms.flatMap((form) => moduleParts(form)?.members ?? [form])
    const around = forms.find((form) => isWithin(from, form))
    return around === undefined || !this.#root.findings.some((finding) => isWithin(finding.from, around))
  }

  walkFile(parsed: ParsedFile): void {
    this.#files.set(parsed.file, parsed)
    this.#loading.push(parsed.file)
    if (parsed.dialect === 'contract') this.#names.imports = new Map()
    for (const form of parsed.forms) this.#walkTopLevel(parsed, form)
    this.#loading.pop()
  }

  /** Results of a walk. Findings of files other than the root are dropped: they show where those files are open. */
  #resultsFor(parsed: ParsedFile): WalkResults {
    return { uses: this.#uses, scopes: this.#scopes, findings: parsed === this.#root ? this.#findings : [] }
  }

  #report(parsed: ParsedFile, finding: CodeFinding): void {
    if (parsed === this.#root) this.#findings.push(finding)
  }

  #lookupFor(parsed: ParsedFile, module: ModuleSymbol | null): NameLookup {
    return new NameLookup(this.#names, this.#sources, module, parsed.dialect === 'test')
  }

  #walkTopLevel(parsed: ParsedFile, form: Form): void {
    this.#reportShadows(parsed, form)
    this.#walkForm(parsed, form)
  }

  #walkForm(parsed: ParsedFile, form: Form): void {
    const parts = moduleParts(form)
    if (parts !== null) {
      const module = declareModule(parsed, parts, this.#names.namespace)
      if (module !== null) this.#walkModule(parsed, module)
      return
    }
    const word = wordOf(form)
    if (form.form === 'call' && word === 'use') this.#walkUse(parsed, form, null, this.#lookupFor(parsed, null))
    else if (parsed.dialect === 'test' && declareMember(parsed, form, null) !== null) this.#walkDefinition(parsed, form)
    else {
      this.#walkExpression(parsed, form)
      this.#followEffect(parsed, word, form)
    }
  }

  /** An expression. Modules within expectations are declared before. */
  #walkExpression(parsed: ParsedFile, form: Form): void {
    if (form.form === 'call' && wordOf(form).startsWith('expect')) {
      const inner = form.items.filter((item) => moduleParts(item) !== null)
      // A module that is expected to fail is not walked.
      if (wordOf(form) !== 'expect-failure') for (const item of inner) this.#walkForm(parsed, item)
      if (inner.length > 0) return
    }
    const walker = new FormWalker(parsed, this.#lookupFor(parsed, null), this.#resultsFor(parsed), false)
    walker.walkForm(form, null)
  }

  #walkDefinition(parsed: ParsedFile, form: Form): void {
    const symbol = declareMember(parsed, form, null)
    if (symbol === null || form.form !== 'call') return
    const lookup = this.#lookupFor(parsed, null)
    const walker = new FormWalker(parsed, lookup, this.#resultsFor(parsed), false)
    this.#walkMember(walker, form, symbol)
    this.#definitions.set(symbol.name, symbol)
    this.#names.imports.set(symbol.name, symbol)
  }

  /** Follows a call at the top level that loads a file, enters a namespace or ends a transaction. */
  #followEffect(parsed: ParsedFile, word: string, form: Form): void {
    if (form.form !== 'call') return
    const [, argument] = form.items
    if (word.startsWith('expect')) for (const item of form.items) this.#followEffect(parsed, wordOf(item), item)
    switch (word) {
      case 'load':
        if (argument?.form === 'string') this.#loadFile(parsed, argument.value, argument)
        return
      case 'namespace':
        this.#names.namespace = namespaceIn(form, this.#names.data)
        return
      case 'env-data':
        this.#names.data = textsIn(argument)
        return
      case 'env-fork':
        this.#names.isForked = !this.#sources.isOnFork
        return
      case 'commit-tx':
      case 'rollback-tx':
        this.#names.namespace = null
        this.#names.imports = new Map(this.#definitions)
        return
      case 'env-enable-repl-natives':
        this.#areNativesInModules = isWord(argument, 'true')
    }
  }

  #loadFile(parsed: ParsedFile, path: string, at: Form): void {
    if (parsed.dialect !== 'test') return
    const file = this.#sources.resolve(parsed.file, path)
    const range = { from: at.from, to: at.to }
    if (this.#loading.includes(file)) {
      this.#report(parsed, { severity: 'error', code: 'load-file', message: `${path} loads itself`, ...range })
      return
    }
    if (this.#files.size >= MAX_FILES) return
    const loaded = this.#sources.parsedFile(file)
    if (loaded === null) {
      const problem = this.#sources.problem(file)
      const message = `cannot read ${path}${problem === null ? '; no such file beside this one' : `: ${problem}`}`
      this.#report(parsed, { severity: 'error', code: 'load-file', message, ...range })
      return
    }
    const count = loaded.findings.filter(({ severity }) => severity === 'error').length
    if (count > 0) {
      const message = `${path} has ${count} error${count === 1 ? '' : 's'}: ${loaded.findings[0].message}`
      this.#report(parsed, { severity: 'warning', code: 'load-file', message, ...range })
    }
    this.walkFile(loaded)
  }

  #walkModule(parsed: ParsedFile, module: ModuleSymbol): void {
    const { namespace, modules, imports } = this.#names
    const results = this.#resultsFor(parsed)
    const before = results.findings.length
    const firstUse = results.uses.length
    this.#names.isUncertain = module.isAnyNamespace
    const lookup = this.#lookupFor(parsed, module)
    const walker = new FormWalker(parsed, lookup, results, !this.#areNativesInModules)
    walker.define(module)
    for (const member of module.members.values()) walker.define(member)
    this.#checkMembers(parsed, module)
    this.#walkGovernance(walker, module)
    // As in the loader, imports and interfaces come first.
    const calls = module.parts.members.filter((form) => form.form === 'call')
    const isFirst = (form: Form) => wordOf(form) === 'use' || wordOf(form) === 'implements'
    for (const form of calls.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))) {
      this.#walkPart(parsed, walker, lookup, module, form)
    }
    for (const finding of unusedImports(calls, results.uses.slice(firstUse))) this.#report(parsed, finding)
    const isSound = !results.findings.slice(before).some(({ severity }) => severity === 'error')
    const isKnown = !this.#names.isUncertain && !this.#areNativesInModules
    if (parsed === this.#root && isSound && isKnown) this.#loadable.push({ module, namespace })
    modules.set(module.full, module)
    for (const member of module.members.values()) if (isUsable(member)) imports.set(member.name, member)
  }

  #walkGovernance(walker: FormWalker, module: ModuleSymbol): void {
    const governance = module.kind === 'module' ? module.parts.header[2] : undefined
    if (governance?.form === 'atom') walker.walkForm(governance, null)
  }

  #walkPart(parsed: ParsedFile, walker: FormWalker, lookup: NameLookup, module: ModuleSymbol, form: CallForm): void {
    const word = wordOf(form)
    if (word === 'use') this.#walkUse(parsed, form, lookup.moduleImports, lookup)
    else if (word === 'implements') this.#checkImplements(parsed, lookup, form)
    else {
      const name = form.items[1]
      const symbol = name?.form === 'atom' ? module.members.get(name.name) : undefined
      if (symbol !== undefined) this.#walkMember(walker, form, symbol)
    }
  }

  /** Walks through a definition. */
  #walkMember(walker: FormWalker, form: CallForm, symbol: NamedSymbol): void {
    const [, name, ...rest] = form.items
    if (name?.form === 'atom') walker.noteType(name)
    if (symbol.kind === 'defconst') walker.walkBody(rest.slice(0, 1), null, symbol)
    else if (symbol.kind === 'defschema') {
      for (const field of rest) if (field.form === 'atom') walker.noteType(field)
      for (const field of symbol.members.values()) walker.define(field)
    } else if (symbol.params !== null) {
      const scope = walker.bindParameters(rest[0], form, null)
      // Steps of a pact are not calls.
      const isStep = (each: Form) => wordOf(each) === 'step' || wordOf(each) === 'step-with-rollback'
      const body = rest
        .slice(1)
        .flatMap((each) =>
          isStep(each) && each.form === 'call' ? each.items.slice(1) : isWord(each, '@doc') ? [] : [each],
        )
      walker.walkBody(body, scope, symbol)
    }
  }

  #walkUse(parsed: ParsedFile, form: CallForm, own: Map<string, NamedSymbol> | null, lookup: NameLookup): void {
    const found = this.#resolveNamedModule(parsed, form.items[1], lookup)
    const list = form.items.find(isList)
    const wanted = list === undefined ? null : list.items.filter(isAtom)
    if (found === null) {
      const lost = own === null ? this.#names.lostImports : lookup.lostImports
      for (const name of wanted?.map((atom) => atom.name) ?? [ALL_NAMES]) lost.add(name)
      return
    }
    const usable = [...found.members].filter(([, member]) => isUsable(member))
    const missing = wanted?.filter(({ name }) => !usable.some(([each]) => each === name)) ?? []
    for (const { name, from, to } of missing) {
      const { message } = noSuchImports(found.full, [name], null)
      this.#report(parsed, { severity: 'error', code: 'unknown-name', message, from, to })
    }
    for (const atom of wanted ?? []) {
      const symbol = found.members.get(atom.name)
      if (symbol !== undefined) this.#uses.push({ file: parsed.file, ...nameRange(atom), target: { symbol } })
    }
    for (const [name, member] of usable) {
      if (wanted !== null && !wanted.some((atom) => atom.name === name)) continue
      own?.set(name, member)
      this.#names.imports.set(name, member)
    }
  }

  #checkImplements(parsed: ParsedFile, lookup: NameLookup, form: CallForm): void {
    const found = this.#resolveNamedModule(parsed, form.items[1], lookup)
    const name = form.items[1]
    if (found?.kind === 'module' && name?.form === 'atom') {
      const message = `${found.full} is a module; an interface is expected`
      this.#report(parsed, { severity: 'error', code: 'not-an-interface', message, ...nameRange(name) })
    }
  }

  /** The module that a form names; a finding if there is none. */
  #resolveNamedModule(parsed: ParsedFile, name: Form | undefined, lookup: NameLookup): ModuleSymbol | null {
    if (name?.form !== 'atom') return null
    const found = lookup.module(name.name)
    if (found === 'pending') return null
    if (found === null) {
      const { message } = noSuchModule(name.name, null, 'no module or interface has this name')
      this.#report(parsed, { severity: 'error', code: 'unknown-name', message, ...nameRange(name) })
      return null
    }
    this.#uses.push({ file: parsed.file, ...nameRange(name), target: found })
    if (parsed.dialect === 'test' && !lookup.isLoaded(found.symbol)) {
      this.#report(parsed, notLoaded(found.symbol, nameRange(name)))
    }
    return found.symbol
  }

  /** Members with the same name, and members that use each other in a circle. */
  #checkMembers(parsed: ParsedFile, module: ModuleSymbol): void {
    const calls = module.parts.members.filter((form): form is CallForm => wordOf(form).startsWith('def'))
    const seen = new Set<string>()
    for (const call of calls) {
      const name = call.items[1]
      if (name?.form !== 'atom') continue
      if (seen.has(name.name)) {
        const message = `${module.full} has a member ${name.name} already`
        this.#report(parsed, { severity: 'error', code: 'duplicate-member', message, ...nameRange(name) })
      }
      seen.add(name.name)
    }
    const isForm = (name: string) => vocabulary.get(name)?.kind === 'form'
    const reserved = new Set([...vocabulary].filter(([, word]) => word.isReserved).map(([name]) => name))
    try {
      refuseCycles({ module: module.full, reserved, isForm }, calls)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      this.#report(parsed, findingOf(error, 'circular-members', parsed))
    }
  }

  #reportShadows(parsed: ParsedFile, form: Form): void {
    const isReserved = (name: string) => {
      const word = vocabulary.get(name)
      return word?.isReserved === true && (parsed.dialect === 'test' || !word.isOfTests)
    }
    const reserved = new Set([...vocabulary.keys()].filter(isReserved))
    for (const { name, place } of shadowsIn([form], reserved)) {
      const from = parsed.lines.offsetOf(place)
      const message = `Variable ${name} shadows native with the same name: ${SHADOW_ADVICE}`
      this.#report(parsed, { severity: 'warning', code: 'shadowed-native', message, from, to: from + name.length })
    }
  }
}
