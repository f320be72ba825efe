/** Names that can stand at a position. */

import { vocabulary } from '../../contracts/repl/vocabulary.ts'
import type { ProgramAnalysis } from '../analysis/analysis.ts'
import { isModule, isUsable, type ModuleSymbol, type NamedSymbol } from '../text/symbols.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { nativeHover, signatureOf, symbolHover } from './hover.ts'
import { nativeTexts } from './native-texts.ts'

export interface CompletionProposal {
  readonly label: string
  readonly kind: NamedSymbol['kind'] | 'native' | 'form'
  /** One line. */
  readonly detail: string
  /** Markdown. */
  readonly documentation: string
}

/** Words that begin members, and where they may stand. */
const NAME_BEFORE = /[A-Za-z%#+\-_&$@<>=^?*!|/~][\w%#+\-&$@<>=^?*!|/~.]*$/

/** Names for the cursor: members behind `module.`, fields within quotes, and whatever else has a name there. */
export function proposals(workspace: Workspace, analysis: ProgramAnalysis, offset: number): CompletionProposal[] {
  const { text, file } = analysis.root
  const before = text.slice(0, offset)
  const typed = NAME_BEFORE.exec(before)?.[0] ?? ''
  const start = offset - typed.length
  const quote = before[start - 1]
  if (quote === '"' || quote === "'") return fieldProposals(workspace, analysis)
  if (isInComment(before)) return []
  if (before.slice(0, start).endsWith('::')) return referenceMembers(workspace, analysis, before.slice(0, start - 2))
  const dot = typed.lastIndexOf('.')
  if (dot > 0) return memberProposals(workspace, analysis, typed.slice(0, dot))
  const local = analysis.scopes.filter((scope) => scope.file === file && scope.from <= offset && offset <= scope.to)
  const around = moduleAt(workspace, analysis, offset)
  const named = [
    ...local.toReversed().flatMap(({ symbols }) => symbols),
    ...(around === null ? [] : [...around.members.values()]),
    ...analysis.imports.values(),
    ...analysis.modules.values(),
    ...workspace.knownModules().filter(({ full }) => !analysis.modules.has(full)),
  ]
  const live = typed === '' ? [] : workspace.liveNames.map((name) => liveProposal(name, name))
  return unique([...named.map(symbolProposal), ...nativeProposals(analysis), ...live])
}

function isInComment(before: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1)
  return line.replace(/"(?:[^"\\]|\\.)*"/g, '').includes(';')
}

function symbolProposal(symbol: NamedSymbol): CompletionProposal {
  return {
    label: isModule(symbol) ? symbol.full : symbol.name,
    kind: symbol.kind,
    detail: signatureOf(symbol).split('\n', 1)[0],
    documentation: symbolHover(symbol),
  }
}

function nativeProposals({ root }: ProgramAnalysis): CompletionProposal[] {
  return [...vocabulary.values()].flatMap((native) => {
    if (native.isOfTests && root.dialect === 'contract') return []
    const { name, kind } = native
    const detail = nativeTexts.get(name)?.call ?? name
    return [
      { label: name, kind: kind === 'form' ? 'form' : 'native', detail, documentation: nativeHover(native) } as const,
    ]
  })
}

function memberProposals(workspace: Workspace, analysis: ProgramAnalysis, prefix: string): CompletionProposal[] {
  const module = moduleNamed(workspace, analysis, prefix)
  if (module !== null) return [...module.members.values()].filter(isUsable).map(symbolProposal)
  // The prefix is a namespace.
  const known = [...analysis.modules.values(), ...workspace.knownModules()]
    .filter(({ full }) => full.startsWith(`${prefix}.`))
    .map((found) => ({ ...symbolProposal(found), label: found.name }))
  const inside = workspace.liveNames.filter((name) => name.startsWith(`${prefix}.`))
  return unique([...known, ...inside.map((name) => liveProposal(name.slice(prefix.length + 1), name))])
}

/** A module of the live network whose text is not here. */
function liveProposal(label: string, full: string): CompletionProposal {
  return { label, kind: 'module', detail: `(module ${full})`, documentation: 'a module of the forked network' }
}

/** Members of the interfaces of a module reference. */
function referenceMembers(workspace: Workspace, analysis: ProgramAnalysis, before: string): CompletionProposal[] {
  const name = NAME_BEFORE.exec(before)?.[0] ?? ''
  const symbol = analysis.scopes
    .filter(({ from, to }) => from <= before.length && before.length <= to)
    .flatMap(({ symbols }) => symbols)
    .findLast((each) => each.name === name)
  const interfaces = symbol?.type?.type === 'module' ? symbol.type.interfaces : []
  return interfaces.flatMap((name) => {
    const found = moduleNamed(workspace, analysis, name)
    return found === null ? [] : [...found.members.values()].filter(({ params }) => params !== null).map(symbolProposal)
  })
}

/** Fields of the schemas that the program has or names. */
function fieldProposals(workspace: Workspace, analysis: ProgramAnalysis): CompletionProposal[] {
  const own = workspace.modulesOf(analysis.root)
  const named = analysis.uses.flatMap(({ target }) => ('symbol' in target ? (target.symbol.owner ?? []) : []))
  const modules = new Set<NamedSymbol>([...own, ...analysis.modules.values(), ...named.filter(isModule)])
  const schemas = [...modules].flatMap(({ members }) => [...members.values()])
  return unique(schemas.flatMap(({ members }) => [...members.values()]).map(symbolProposal))
}

function moduleNamed(workspace: Workspace, analysis: ProgramAnalysis, full: string): ModuleSymbol | null {
  const found = analysis.modules.get(full) ?? workspace.foreign(full)
  return found === 'pending' ? null : found
}

function moduleAt(workspace: Workspace, { root }: ProgramAnalysis, offset: number): ModuleSymbol | null {
  return workspace.modulesOf(root).find(({ whole }) => whole.from <= offset && offset <= whole.to) ?? null
}

function unique(all: readonly CompletionProposal[]): CompletionProposal[] {
  const found = new Map<string, CompletionProposal>()
  for (const proposal of all) if (!found.has(proposal.label)) found.set(proposal.label, proposal)
  return [...found.values()]
}
