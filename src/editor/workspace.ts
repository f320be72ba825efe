/** The files and modules that an editor works on: open documents, files on disk, system contracts, live modules. */
import { systemContracts } from '../contracts/system/system.ts'
import type { AnalysisSources, NameUse, ProgramAnalysis } from './analysis.ts'
import { loadFindings } from './load-check.ts'
import { moduleParts, type ParsedFile, parseFile, wordOf } from './parsed-file.ts'
import { analyse } from './program-walker.ts'
import type { CodeFinding } from './spans.ts'
import { declareModule, isSameSymbol, type ModuleSymbol, type NamedSymbol } from './symbols.ts'

/** The text of a module from elsewhere, and a file in which an editor can show it. */
export interface ModuleText {
  readonly file: string
  readonly text: string
}

/** Finds texts of modules that no file of the workspace has, such as those of a live network. */
export interface ModuleTexts {
  /**
   * @param full name of the module, with its namespace
   * @returns null if there is none
   */
  textOf(full: string): Promise<ModuleText | null>
}

/** Files of the machine. */
export interface WorkspaceFiles {
  /** @returns null if the file cannot be read */
  read(file: string): string | null
  resolve(from: string, path: string): string
  /** Forgets what it has listed. */
  refresh(): void
  /** Contracts and test files in the folders of the workspace. */
  list(): readonly string[]
  /** File of a system contract, which editors can open. */
  systemFile(name: string): string
}

/** Files of the folders whose modules are known without being loaded. */
const MAX_LISTED = 500

export class Workspace implements AnalysisSources {
  readonly #files: WorkspaceFiles
  readonly #moduleTexts: ModuleTexts | null
  readonly #open = new Map<string, string>()
  readonly #parsed = new Map<string, ParsedFile>()
  readonly #analyses = new Map<string, ProgramAnalysis>()
  readonly #findings = new Map<string, readonly CodeFinding[]>()
  /** Full name -> module of the network, or null while its text is fetched. */
  readonly #live = new Map<string, ModuleSymbol | null | 'none'>()
  /** Full name -> module of a file that is not loaded. Null until it is needed. */
  #known: Map<string, ModuleSymbol> | null = null
  /** Called when the text of a module has arrived. */
  onArrival: () => void = () => undefined

  constructor(files: WorkspaceFiles, moduleTexts: ModuleTexts | null = null) {
    this.#files = files
    this.#moduleTexts = moduleTexts
  }

  /** Sets the text of an open document. */
  change(file: string, text: string): void {
    this.#open.set(file, text)
    this.#forget()
  }

  close(file: string): void {
    this.#open.delete(file)
    this.#parsed.delete(file)
    this.#forget()
  }

  /** Notes that files on disk may have changed. */
  refresh(): void {
    for (const file of this.#parsed.keys()) if (!this.#open.has(file)) this.#parsed.delete(file)
    this.#files.refresh()
    this.#forget()
  }

  #forget(): void {
    this.#analyses.clear()
    this.#findings.clear()
    this.#known = null
  }

  get openFiles(): readonly string[] {
    return [...this.#open.keys()]
  }

  resolve(from: string, path: string): string {
    return this.#files.resolve(from, path)
  }

  parsed(file: string): ParsedFile | null {
    const before = this.#parsed.get(file)
    const own = this.#open.get(file)
    // Files on disk are read again after `refresh`.
    if (before !== undefined && (own === undefined || before.text === own)) return before
    const text = own ?? this.#files.read(file)
    if (text === null) return null
    const parsed = parseFile(file, text)
    this.#parsed.set(file, parsed)
    return parsed
  }

  /** @returns null if the file cannot be read */
  analysis(file: string): ProgramAnalysis | null {
    const before = this.#analyses.get(file)
    if (before !== undefined) return before
    const parsed = this.parsed(file)
    if (parsed === null) return null
    const analysis = analyse(parsed, this)
    this.#analyses.set(file, analysis)
    return analysis
  }

  /** All findings of a file: of the reader, of names and calls, and of the loader. */
  findings(file: string): readonly CodeFinding[] {
    const before = this.#findings.get(file)
    if (before !== undefined) return before
    const analysis = this.analysis(file)
    if (analysis === null) return []
    const known = analysis.findings
    const more = loadFindings(analysis, this).filter(({ from }) => !known.some((finding) => finding.from === from))
    const all = [...known, ...more].toSorted((a, b) => a.from - b.from)
    this.#findings.set(file, all)
    return all
  }

  foreign(full: string): ModuleSymbol | 'pending' | null {
    this.#known ??= this.#knownModules()
    const known = this.#known.get(full)
    if (known !== undefined) return known
    if (this.#moduleTexts === null) return null
    const live = this.#live.get(full)
    if (live === undefined) void this.#fetch(full, this.#moduleTexts)
    if (live === 'none') return null
    return live ?? 'pending'
  }

  /** Modules of all files that are known, loaded or not. */
  knownModules(): ModuleSymbol[] {
    this.#known ??= this.#knownModules()
    return [...this.#known.values()]
  }

  /** Modules of one file. */
  modulesOf(parsed: ParsedFile): ModuleSymbol[] {
    return modulesOf(parsed, null)
  }

  async #fetch(full: string, texts: ModuleTexts): Promise<void> {
    this.#live.set(full, null)
    const found = await texts.textOf(full)
    const dot = full.indexOf('.')
    const namespace = dot < 0 ? null : full.slice(0, dot)
    const modules = found === null ? [] : modulesOf(parseFile(found.file, found.text), namespace)
    this.#live.set(full, modules.find((module) => module.full === full) ?? 'none')
    this.#forget()
    this.onArrival()
  }

  /** Modules of open documents first, then those of the folders, then the system contracts. */
  #knownModules(): Map<string, ModuleSymbol> {
    const modules = new Map<string, ModuleSymbol>()
    const add = (parsed: ParsedFile | null) => {
      for (const module of parsed === null ? [] : modulesOf(parsed, null)) {
        if (!modules.has(module.full)) modules.set(module.full, module)
      }
    }
    for (const file of this.#open.keys()) add(this.parsed(file))
    for (const file of this.#files.list().slice(0, MAX_LISTED)) if (!this.#open.has(file)) add(this.parsed(file))
    for (const { name, text } of systemContracts) {
      const file = this.#files.systemFile(name)
      if (!this.#open.has(file)) add(this.#systemFile(file, text))
    }
    return modules
  }

  #systemFile(file: string, text: string): ParsedFile {
    const before = this.#parsed.get(file)
    if (before?.text === text) return before
    const parsed = parseFile(file, text)
    this.#parsed.set(file, parsed)
    return parsed
  }

  /** Uses of a symbol in all open documents and the files that they load, each once. */
  usesOf(symbol: NamedSymbol): NameUse[] {
    const found = new Map<string, NameUse>()
    for (const file of this.#open.keys()) {
      for (const use of this.analysis(file)?.uses ?? []) {
        const isIt = 'symbol' in use.target && isSameSymbol(use.target.symbol, symbol)
        if (isIt) found.set(`${use.file}:${use.from}`, use)
      }
    }
    return [...found.values()]
  }
}

/** Declares all modules of a file, without a look at their code. */
function modulesOf(parsed: ParsedFile, namespace: string | null): ModuleSymbol[] {
  let current = namespace
  return parsed.forms.flatMap((form) => {
    const argument = wordOf(form) === 'namespace' && form.form === 'call' ? form.items[1] : undefined
    if (argument?.form === 'string') current = argument.value === '' ? null : argument.value
    const parts = moduleParts(form)
    const module = parts === null ? null : declareModule(parsed, parts, current)
    return module === null ? [] : [module]
  })
}

/** The use of a name at an offset: the narrowest one. */
export function useAt(analysis: ProgramAnalysis, file: string, offset: number): NameUse | null {
  const found = analysis.uses.filter((use) => use.file === file && use.from <= offset && offset <= use.to)
  return found.toSorted((a, b) => a.to - a.from - (b.to - b.from))[0] ?? null
}
