/** Answers to requests of the language server protocol. */
import {
  type CodeAction,
  CodeActionKind,
  type CodeLens,
  type CompletionItem,
  CompletionItemKind,
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  type DocumentSymbol,
  type FoldingRange,
  type Hover,
  type Location,
  LSPErrorCodes,
  type Position,
  type Range,
  ResponseError,
  type SemanticTokens,
  SemanticTokensBuilder,
  SymbolKind,
  type TextEdit,
  type WorkspaceEdit,
} from 'vscode-languageserver/node'
import { isKeyword } from '../../contracts/syntax/names.ts'
import type { NameUse } from '../analysis/analysis.ts'
import { type CompletionProposal, proposals } from '../features/completion-items.ts'
import { fixesIn } from '../features/fixes.ts'
import { hoverText } from '../features/hover.ts'
import { foldsOf, type OutlineEntry, outlineOf } from '../features/outline.ts'
import { lineTokens, semanticTokensOf } from '../features/semantic-tokens.ts'
import { type TestFileReport, testLenses } from '../features/test-lenses.ts'
import { formatText } from '../format/format.ts'
import type { CodeFinding, Severity } from '../text/spans.ts'
import { isModule, type NamedSymbol, qualifiedName } from '../text/symbols.ts'
import { useAt, type Workspace } from '../workspace/workspace.ts'
import type { ProtocolPlaces } from './documents.ts'

/** Command of an editor that runs a test file. */
export const RUN_TEST = 'newcut.runTest'
/** Maximum number of findings shown in a file: a broken file may have thousands, and editors draw each. */
const MAX_FINDINGS = 500
/** Maximum number of proposals: editors filter them while the user types. */
const MAX_PROPOSALS = 1000
const IDENTIFIER = /^[A-Za-z%#+\-_&$@<>=^?*!|/~][A-Za-z0-9%#+\-_&$@<>=^?*!|/~]*$/

const SEVERITIES: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  hint: DiagnosticSeverity.Hint,
}

const SYMBOL_KINDS: Readonly<Record<NamedSymbol['kind'] | 'test', SymbolKind>> = {
  module: SymbolKind.Module,
  interface: SymbolKind.Interface,
  defun: SymbolKind.Function,
  defcap: SymbolKind.Event,
  defpact: SymbolKind.Method,
  defconst: SymbolKind.Constant,
  defschema: SymbolKind.Struct,
  deftable: SymbolKind.Array,
  field: SymbolKind.Field,
  parameter: SymbolKind.Variable,
  variable: SymbolKind.Variable,
  test: SymbolKind.String,
}

const COMPLETION_KINDS: Readonly<Record<CompletionProposal['kind'], CompletionItemKind>> = {
  module: CompletionItemKind.Module,
  interface: CompletionItemKind.Interface,
  defun: CompletionItemKind.Function,
  defcap: CompletionItemKind.Event,
  defpact: CompletionItemKind.Method,
  defconst: CompletionItemKind.Constant,
  defschema: CompletionItemKind.Struct,
  deftable: CompletionItemKind.Value,
  field: CompletionItemKind.Field,
  parameter: CompletionItemKind.Variable,
  variable: CompletionItemKind.Variable,
  native: CompletionItemKind.Function,
  form: CompletionItemKind.Keyword,
}

export class Answers {
  readonly #workspace: Workspace
  readonly #places: ProtocolPlaces

  constructor(workspace: Workspace, places: ProtocolPlaces) {
    this.#workspace = workspace
    this.#places = places
  }

  diagnostics(file: string, findings: readonly CodeFinding[], source: string): Diagnostic[] {
    return findings.slice(0, MAX_FINDINGS).map((finding) => ({
      range: this.#places.range(file, finding),
      severity: SEVERITIES[finding.severity],
      source,
      code: finding.code,
      message: finding.message,
      ...(finding.isUnused && { tags: [DiagnosticTag.Unnecessary] }),
    }))
  }

  hover(file: string, position: Position): Hover | null {
    const use = this.#useAt(file, position)
    if (use === null) return null
    return { contents: { kind: 'markdown', value: hoverText(use) }, range: this.#places.range(file, use) }
  }

  definition(file: string, position: Position): Location | null {
    const symbol = this.#symbolAt(file, position)
    return symbol === null ? null : this.#places.location(symbol.file, symbol.at)
  }

  references(file: string, position: Position, includesDefinition: boolean): Location[] {
    const symbol = this.#symbolAt(file, position)
    if (symbol === null) return []
    const uses = this.#workspace.usesOf(symbol).filter(({ isDefinition }) => includesDefinition || !isDefinition)
    return uses.map((use) => this.#places.location(use.file, this.#nameOf(use, symbol)))
  }

  /**
   * The name under the cursor, if it can be changed.
   * @throws ResponseError with the reason if it cannot
   */
  rangeToRename(file: string, position: Position): Range {
    const [symbol, use] = this.#requireRenamable(file, position)
    return this.#places.range(file, this.#nameOf(use, symbol))
  }

  /** @throws ResponseError if the name cannot be changed, or not to this */
  rename(file: string, position: Position, name: string): WorkspaceEdit {
    const [symbol] = this.#requireRenamable(file, position)
    if (!IDENTIFIER.test(name) || isKeyword(name)) throw renameError(`${name} is not a valid name`)
    for (const { owner } of this.#workspace.namesakesOf(symbol)) {
      if (name !== symbol.name && owner?.members.has(name)) throw renameError(`${owner.name} has ${name} already`)
    }
    const changes: Record<string, TextEdit[]> = {}
    for (const use of this.#workspace.usesOf(symbol)) {
      // A live module that names a module of this workspace stays as it is.
      if (this.#workspace.isLive(use.file)) continue
      const { uri, range } = this.#places.location(use.file, this.#nameOf(use, symbol))
      changes[uri] ??= []
      changes[uri].push({ range, newText: name })
    }
    return { changes }
  }

  #requireRenamable(file: string, position: Position): readonly [NamedSymbol, NameUse] {
    const use = this.#useAt(file, position)
    if (use === null) throw renameError('no name that newcut knows is here')
    if ('native' in use.target) throw renameError(`${use.target.native.name} is a native of the language`)
    const { symbol } = use.target
    for (const each of this.#workspace.namesakesOf(symbol)) {
      if (this.#workspace.isLive(each.file))
        throw renameError(`${qualifiedName(each)} is deployed on the forked network`)
      if (this.#workspace.isSystem(each.file)) throw renameError(`${qualifiedName(each)} is of a system contract`)
    }
    return [symbol, use]
  }

  /** The last part of a dotted name. */
  #nameOf({ file, from, to }: NameUse, symbol: NamedSymbol) {
    const text = this.#workspace.parsedFile(file)?.text.slice(from, to) ?? ''
    const isDotted = text.endsWith(`.${symbol.name}`) && !isModule(symbol)
    return { from: isDotted || text.endsWith(symbol.name) ? to - symbol.name.length : from, to }
  }

  completion(file: string, position: Position): CompletionItem[] {
    const analysis = this.#workspace.analysis(file)
    if (analysis === null) return []
    const found = proposals(this.#workspace, analysis, this.#places.offset(file, position))
    return found.slice(0, MAX_PROPOSALS).map(({ label, kind, detail, documentation }) => ({
      label,
      kind: COMPLETION_KINDS[kind],
      detail,
      documentation: { kind: 'markdown', value: documentation },
    }))
  }

  symbols(file: string): DocumentSymbol[] {
    const parsed = this.#workspace.parsedFile(file)
    const symbol = ({ name, kind, detail, whole, at, children }: OutlineEntry): DocumentSymbol => ({
      name: name === '' ? '?' : name,
      detail,
      kind: SYMBOL_KINDS[kind],
      range: this.#places.range(file, whole),
      selectionRange: this.#places.range(file, at),
      children: children.map(symbol),
    })
    return parsed === null ? [] : outlineOf(parsed).map(symbol)
  }

  folds(file: string): FoldingRange[] {
    const parsed = this.#workspace.parsedFile(file)
    if (parsed === null) return []
    return foldsOf(parsed).map(({ from, to, isComment }) => {
      return { startLine: from, endLine: to, ...(isComment && { kind: 'comment' }) }
    })
  }

  /** @param lines first and last line, from 0; null for the whole file */
  semanticTokens(file: string, lines: readonly [first: number, last: number] | null): SemanticTokens {
    const analysis = this.#workspace.analysis(file)
    const builder = new SemanticTokensBuilder()
    for (const each of analysis === null ? [] : lineTokens(analysis.root, semanticTokensOf(analysis))) {
      if (lines !== null && (each.line < lines[0] || each.line > lines[1])) continue
      builder.push(each.line, each.column, each.length, each.type, each.modifiers)
    }
    return builder.build()
  }

  /** Quick fixes of the findings within a range. */
  fixes(file: string, range: Range, findings: readonly CodeFinding[]): CodeAction[] {
    const parsed = this.#workspace.parsedFile(file)
    if (parsed === null) return []
    const within = { from: this.#places.offset(file, range.start), to: this.#places.offset(file, range.end) }
    const uri = this.#places.uriOf(file)
    return fixesIn(parsed, findings, within).map((fix) => ({
      title: fix.title,
      kind: CodeActionKind.QuickFix,
      diagnostics: this.diagnostics(file, [fix.finding], 'newcut'),
      isPreferred: fix.isPreferred,
      edit: { changes: { [uri]: [{ range: this.#places.range(file, fix), newText: fix.text }] } },
    }))
  }

  /** One edit of the whole text. None if the text is formatted, or cannot be read. */
  formatting(file: string): TextEdit[] {
    const parsed = this.#workspace.parsedFile(file)
    const formatted = parsed === null ? null : formatText(file, parsed.text)
    if (parsed === null || formatted === null || formatted === parsed.text) return []
    return [{ range: this.#places.range(file, { from: 0, to: parsed.text.length }), newText: formatted }]
  }

  lenses(file: string, report: TestFileReport | null): CodeLens[] {
    const parsed = this.#workspace.parsedFile(file)
    if (parsed === null || parsed.dialect !== 'test') return []
    return testLenses(parsed, report).map((lens) => ({
      range: this.#places.range(file, { from: lens.from, to: lens.from }),
      command: lens.runs
        ? { title: lens.title, command: RUN_TEST, arguments: [this.#places.uriOf(file)] }
        : { title: lens.title, command: '' },
    }))
  }

  #useAt(file: string, position: Position): NameUse | null {
    const analysis = this.#workspace.analysis(file)
    return analysis === null ? null : useAt(analysis, file, this.#places.offset(file, position))
  }

  #symbolAt(file: string, position: Position): NamedSymbol | null {
    const use = this.#useAt(file, position)
    return use !== null && 'symbol' in use.target ? use.target.symbol : null
  }
}

/** Error that an editor shows to its user. */
function renameError(why: string): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.RequestFailed, why)
}
