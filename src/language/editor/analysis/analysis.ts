/** The analysis of a program: of a file, and of all files that it loads. */

import type { NativeWord } from '../../contracts/repl/vocabulary.ts'
import type { ParsedFile } from '../text/parsed-file.ts'
import type { CodeFinding, OffsetRange } from '../text/spans.ts'
import type { ModuleSymbol, NamedSymbol } from '../text/symbols.ts'

/** A name in a text with what it means. */
export interface NameUse extends OffsetRange {
  readonly file: string
  readonly target: { readonly symbol: NamedSymbol } | { readonly native: NativeWord }
  /** True where the symbol is defined. */
  readonly isDefinition?: boolean
}

/** Variables that code within a range can name. */
export interface VisibleRange extends OffsetRange {
  readonly file: string
  readonly symbols: readonly NamedSymbol[]
}

export interface ProgramAnalysis {
  readonly root: ParsedFile
  /** All files of the program, by name. */
  readonly files: ReadonlyMap<string, ParsedFile>
  /** Modules that the program has loaded, by full name. */
  readonly modules: ReadonlyMap<string, ModuleSymbol>
  /** Names that the end of the file sees without a module in front. */
  readonly imports: ReadonlyMap<string, NamedSymbol>
  readonly uses: readonly NameUse[]
  readonly scopes: readonly VisibleRange[]
  /** Findings of the root file. */
  readonly findings: readonly CodeFinding[]
  /** Modules of the root file that the real loader can load, with the namespace of each. */
  readonly loadable: readonly { readonly module: ModuleSymbol; readonly namespace: string | null }[]
}

/** Texts that an analysis may read. */
export interface AnalysisSources {
  /** @returns null if the file cannot be read */
  parsedFile(file: string): ParsedFile | null
  /** @returns why a file that exists cannot be read, or null */
  problem(file: string): string | null
  resolve(from: string, path: string): string
  /**
   * Finds a module that the program itself does not load.
   * @returns `pending` while its text is fetched, null if there is none
   */
  foreign(full: string): ModuleSymbol | 'pending' | null
  /** True for the file of a module of a live network, which every program there has loaded. */
  isLive(file: string): boolean
  /** True if the modules of a live network are at hand, so that a name which they do not have means nothing. */
  readonly isOnFork: boolean
}
