/** The files and modules that an editor works on: open documents, files on disk, system contracts, live modules. */
import { systemContracts } from '../../contracts/system/system.ts'
import type { AnalysisSources, NameUse, ProgramAnalysis } from '../analysis/analysis.ts'
import { loadFindings } from '../analysis/load-check.ts'
import { analyse } from '../analysis/program-walker.ts'
import { withoutSilenced } from '../analysis/silence.ts'
import { type ParsedFile, parseFile } from '../text/parsed-file.ts'
import type { CodeFinding } from '../text/spans.ts'
import { ANY_NAMESPACE, isSameSymbol, type ModuleSymbol, modulesOf, type NamedSymbol } from '../text/symbols.ts'
import { type LiveFinding, LiveModules, type LiveOptions, type ModuleTexts } from './live-modules.ts'
import { namesakesOf } from './members.ts'

/** Files of the machine. */
export interface WorkspaceFiles {
  /** @returns null if the file cannot be read */
  read(file: string): string | null
  /** @returns why a file that exists cannot be read; null if it does not exist. Without it, that is not known. */
  problem?(file: string): string | null
  resolve(from: string, path: string): string
  /** Forgets what it has listed. */
  refresh(): void
  /** Contracts and test files in the folders of the workspace. */
  list(): readonly string[]
  /** File of a system contract, which editors can open. */
  systemFile(name: string): string
}

/** Maximum number of files whose modules are known without being loaded: each keystroke asks for all of them. */
const MAX_LISTED = 500

export class Workspace implements AnalysisSources {
  readonly #files: WorkspaceFiles
  readonly #live: LiveModules | null
  readonly #open = new Map<string, string>()
  readonly #parsed = new Map<string, ParsedFile>()
  readonly #analyses = new Map<string, ProgramAnalysis>()
  readonly #findings = new Map<string, readonly CodeFinding[]>()
  /** Full name -> module of a file that is not loaded. Null until it is needed. */
  #known: Map<string, ModuleSymbol> | null = null
  #system: Map<string, ModuleSymbol> | null = null

  /** @param moduleTexts source of live modules, which are preferred to system contracts, or null */
  constructor(files: WorkspaceFiles, moduleTexts: ModuleTexts | null, live: LiveOptions) {
    this.#files = files
    const onArrival = () => {
      this.#forget()
      live.onArrival()
    }
    this.#live = moduleTexts === null ? null : new LiveModules(moduleTexts, { ...live, onArrival })
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
    this.#live?.retry()
    this.#forget()
  }

  #forget(): void {
    this.#analyses.clear()
    this.#findings.clear()
    this.#known = null
    this.#system = null
  }

  get openFiles(): readonly string[] {
    return [...this.#open.keys()]
  }

  resolve(from: string, path: string): string {
    return this.#files.resolve(from, path)
  }

  parsedFile(file: string): ParsedFile | null {
    const before = this.#parsed.get(file)
    const own = this.#open.get(file)
    // Files on disk are read again after `refresh`.
    if (before !== undefined && (own === undefined || before.text === own)) return before
    const live = own === undefined ? (this.#live?.parsedFile(file) ?? null) : null
    if (live !== null) return live
    const text = own ?? this.#files.read(file)
    if (text === null) return null
    const parsed = parseFile(file, text)
    this.#parsed.set(file, parsed)
    return parsed
  }

  problem(file: string): string | null {
    return this.#files.problem?.(file) ?? null
  }

  /** @returns null if the file cannot be read */
  analysis(file: string): ProgramAnalysis | null {
    const before = this.#analyses.get(file)
    if (before !== undefined) return before
    const parsed = this.parsedFile(file)
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
    const all = withoutSilenced(analysis.root, [...known, ...more]).toSorted((a, b) => a.from - b.from)
    this.#findings.set(file, all)
    return all
  }

  foreign(full: string): ModuleSymbol | 'pending' | null {
    this.#known ??= this.#knownModules()
    const known = this.#known.get(full)
    if (known !== undefined) return known
    const live: LiveFinding = this.#live?.find(full) ?? null
    if (live !== null && live !== 'failed') return live
    const [, name = '', ...more] = full.split('.')
    const inAny = more.length > 0 ? undefined : this.#known.get(`${ANY_NAMESPACE}.${name}`)
    if (inAny !== undefined) return inAny
    // A failure of the network is not an error of the code. A name without a dot is rarely a module.
    return this.#systemModule(full) ?? (live === 'failed' && full.includes('.') ? 'pending' : null)
  }

  isLive(file: string): boolean {
    return this.#live !== null && this.#live.parsedFile(file) !== null
  }

  get isOnFork(): boolean {
    return this.#live !== null
  }

  /** True for a file of newcut itself. */
  isSystem(file: string): boolean {
    return systemContracts.some(({ name }) => this.#files.systemFile(name) === file)
  }

  /** Full names of the modules of the live network, as far as they have arrived. */
  get liveNames(): readonly string[] {
    return this.#live?.names ?? []
  }

  /** Waits for the next text of a live module. @returns false if none is on its way */
  async awaitArrival(): Promise<boolean> {
    return (await this.#live?.awaitArrival()) ?? false
  }

  /** Modules of all files that are known, loaded or not, and of the live network as far as they have arrived. */
  knownModules(): ModuleSymbol[] {
    this.#known ??= this.#knownModules()
    this.#system ??= this.#systemModules()
    const live = (this.#live?.modules ?? []).map((module) => [module.full, module] as const)
    return [...new Set(new Map([...this.#system, ...live, ...this.#known]).values())]
  }

  /** Modules of one file. */
  modulesOf(parsed: ParsedFile): readonly ModuleSymbol[] {
    return modulesOf(parsed)
  }

  /** Modules of open documents first, then those of the folders. */
  #knownModules(): Map<string, ModuleSymbol> {
    const opened = [...this.#open.keys()]
    return firstModules(
      [...opened, ...this.#listedFiles().filter((file) => !this.#open.has(file))].map((file) => this.parsedFile(file)),
    )
  }

  #systemModule(full: string): ModuleSymbol | undefined {
    this.#system ??= this.#systemModules()
    return this.#system.get(full)
  }

  #systemModules(): Map<string, ModuleSymbol> {
    const closed = systemContracts.map(({ name, text }) => ({ file: this.#files.systemFile(name), text }))
    const parsed = closed
      .filter(({ file }) => !this.#open.has(file))
      .map(({ file, text }) => this.#systemFile(file, text))
    return firstModules(parsed)
  }

  #systemFile(file: string, text: string): ParsedFile {
    const before = this.#parsed.get(file)
    if (before?.text === text) return before
    const parsed = parseFile(file, text)
    this.#parsed.set(file, parsed)
    return parsed
  }

  /** A symbol, with those of interfaces and modules that must have its name. */
  namesakesOf(symbol: NamedSymbol): readonly NamedSymbol[] {
    return namesakesOf(symbol, this)
  }

  /**
   * Uses of a symbol and its namesakes in open documents, files of the folders, the files that these load, and live
   * modules that are here; each once.
   */
  usesOf(symbol: NamedSymbol): NameUse[] {
    const found = new Map<string, NameUse>()
    const symbols = this.namesakesOf(symbol)
    for (const file of new Set([...this.#open.keys(), ...this.#listedFiles(), ...(this.#live?.files ?? [])])) {
      for (const use of this.analysis(file)?.uses ?? []) {
        const { target } = use
        const isIt = 'symbol' in target && symbols.some((each) => isSameSymbol(target.symbol, each))
        if (isIt) found.set(`${use.file}:${use.from}`, use)
      }
    }
    return [...found.values()]
  }

  #listedFiles(): readonly string[] {
    return this.#files.list().slice(0, MAX_LISTED)
  }
}

/** The use of a name at an offset: the narrowest one. */
export function useAt(analysis: ProgramAnalysis, file: string, offset: number): NameUse | null {
  const found = analysis.uses.filter((use) => use.file === file && use.from <= offset && offset <= use.to)
  return found.toSorted((a, b) => a.to - a.from - (b.to - b.from))[0] ?? null
}

/** The first module of each name. A module in a namespace that its text does not state has two names. */
function firstModules(files: readonly (ParsedFile | null)[]): Map<string, ModuleSymbol> {
  const modules = new Map<string, ModuleSymbol>()
  for (const module of files.flatMap((parsed) => (parsed === null ? [] : modulesOf(parsed)))) {
    const { full, name, isAnyNamespace } = module
    for (const key of isAnyNamespace ? [full, `${ANY_NAMESPACE}.${name}`] : [full]) {
      if (!modules.has(key)) modules.set(key, module)
    }
  }
  return modules
}
