/** Loads the modules of a file as a network would, and reports what the loader refuses. */
import { ModuleTrial } from '../../contracts/check.ts'
import type { ContractError } from '../../contracts/errors.ts'
import type { CallForm, Form } from '../../contracts/syntax/form.ts'
import { findingOf, type ParsedFile, wordOf } from '../text/parsed-file.ts'
import type { CodeFinding } from '../text/spans.ts'
import { isModule, type ModuleSymbol } from '../text/symbols.ts'
import type { AnalysisSources, NameUse, ProgramAnalysis } from './analysis.ts'
import { analyse } from './program-walker.ts'

/** Maximum milligas of all loading in one check: a constant must not compute for more than a few seconds. */
const GAS_LIMIT = 300_000_000
/** Natives whose result is not known before the module is deployed. A constant that calls one is not evaluated. */
const UNKNOWN_HERE: ReadonlySet<string> = new Set([
  'read-msg',
  'read-string',
  'read-integer',
  'read-decimal',
  'read-keyset',
  'chain-data',
  'tx-hash',
  'describe-keyset',
  'describe-namespace',
  'keyset-ref-guard',
  'enforce-keyset',
  'enforce-guard',
])

/** Findings of the loader in the root file: at most one for each module. */
export function loadFindings(analysis: ProgramAnalysis, sources: AnalysisSources): CodeFinding[] {
  const check = new LoadCheck(analysis, sources)
  return analysis.loadable.flatMap(({ module, namespace }) => check.findingsOf(module, namespace))
}

class LoadCheck {
  readonly #analysis: ProgramAnalysis
  readonly #sources: AnalysisSources
  readonly #trial = new ModuleTrial(GAS_LIMIT)
  /** Full names of modules that are loaded, or cannot be. */
  readonly #tried = new Map<string, ContractError | null>()
  /** Names in files that the program itself does not load. */
  readonly #foreignUses = new Map<ParsedFile, readonly NameUse[]>()

  constructor(analysis: ProgramAnalysis, sources: AnalysisSources) {
    this.#analysis = analysis
    this.#sources = sources
  }

  findingsOf(module: ModuleSymbol, namespace: string | null): CodeFinding[] {
    const error = this.#tryLoading(module, namespace)
    // Code that cannot be loaded for lack of another module has a finding at that name.
    if (this.#trial.isSpent) return []
    return error === null || error === 'dependency' ? [] : [findingOf(error, 'refused-module', module.source)]
  }

  #tryLoading(module: ModuleSymbol, namespace: string | null): ContractError | 'dependency' | null {
    const before = this.#tried.get(module.full)
    if (before !== undefined) return before === null ? null : 'dependency'
    this.#tried.set(module.full, null)
    for (const other of this.#dependenciesOf(module)) {
      if (this.#tryLoading(other, namespaceOf(other)) !== null) return 'dependency'
    }
    const error = this.#loadAlone(module, namespace)
    this.#tried.set(module.full, error)
    return error
  }

  /** Other modules that the text of a module names. */
  #dependenciesOf(module: ModuleSymbol): ModuleSymbol[] {
    const isInside = ({ file, from, to }: NameUse) =>
      file === module.file && from >= module.whole.from && to <= module.whole.to
    const modules = new Set<ModuleSymbol>()
    for (const use of this.#usesOf(module)) {
      if (!isInside(use) || !('symbol' in use.target)) continue
      for (let each = use.target.symbol.owner ?? use.target.symbol; ; each = each.owner) {
        if (isModule(each) && each.full !== module.full) modules.add(each)
        if (each.owner === null) break
      }
    }
    return [...modules]
  }

  #usesOf({ source }: ModuleSymbol): readonly NameUse[] {
    if (this.#analysis.files.get(source.file) === source) return this.#analysis.uses
    const before = this.#foreignUses.get(source)
    if (before !== undefined) return before
    const { uses } = analyse(source, this.#sources)
    this.#foreignUses.set(source, uses)
    return uses
  }

  #loadAlone(module: ModuleSymbol, namespace: string | null): ContractError | null {
    return this.#trial.load(withoutUnknownConstants(module.parts.call), namespace)
  }
}

function namespaceOf({ full, name }: ModuleSymbol): string | null {
  return full === name ? null : full.slice(0, full.length - name.length - 1)
}

/** Replaces constants that depend on the command by 0. */
function withoutUnknownConstants(call: CallForm): CallForm {
  const items = call.items.map((member): Form => {
    if (member.form !== 'call' || wordOf(member) !== 'defconst' || !isUnknown(member)) return member
    const [head, name, value] = member.items
    if (name?.form !== 'atom' || value === undefined) return member
    const { place, from, to } = value
    const zero: Form = { form: 'number', value: 0n, place, from, to }
    return { ...member, items: [head, { ...name, type: null }, zero] }
  })
  return { ...call, items }
}

function isUnknown(form: Form): boolean {
  switch (form.form) {
    case 'atom':
      return UNKNOWN_HERE.has(form.name)
    case 'call':
    case 'list':
      return form.items.some(isUnknown)
    case 'object':
      return form.fields.some(([, value]) => isUnknown(value))
    default:
      return false
  }
}
