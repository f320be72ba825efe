/** Structure of a file: its definitions, and the ranges that editors fold. */
import { moduleParts, type ParsedFile, wordOf } from '../text/parsed-file.ts'
import type { OffsetRange } from '../text/spans.ts'
import { declareMember, declareModule, type NamedSymbol, rangeOfForm } from '../text/symbols.ts'

export interface OutlineEntry {
  readonly name: string
  readonly kind: NamedSymbol['kind'] | 'test'
  readonly detail: string
  readonly whole: OffsetRange
  readonly at: OffsetRange
  readonly children: readonly OutlineEntry[]
}

/** Modules with their members, definitions of test files, and expectations with a name. */
export function outlineOf(parsed: ParsedFile): OutlineEntry[] {
  return parsed.forms.flatMap((form) => {
    const parts = moduleParts(form)
    const symbol = parts === null ? declareMember(parsed, form, null) : declareModule(parsed, parts, null)
    if (symbol !== null) return [entryOf(symbol)]
    const name = form.form === 'call' && wordOf(form).startsWith('expect') ? form.items[1] : undefined
    if (name?.form !== 'string') return []
    const whole = rangeOfForm(form)
    return [{ name: name.value || wordOf(form), kind: 'test', detail: wordOf(form), whole, at: whole, children: [] }]
  })
}

function entryOf(symbol: NamedSymbol): OutlineEntry {
  const { name, kind, whole, at } = symbol
  const children = [...symbol.members.values()].map(entryOf)
  return { name, kind, detail: symbol.typeText ?? '', whole, at, children }
}

/** A range of lines, from 0, that can be folded. */
export interface FoldedLines {
  readonly from: number
  readonly to: number
  readonly isComment: boolean
}

export function foldsOf({ tokens, comments, lines }: ParsedFile): FoldedLines[] {
  const found: FoldedLines[] = []
  const open: number[] = []
  for (const { kind, from } of tokens) {
    if (kind === '(' || kind === '[' || kind === '{') open.push(lines.lineOf(from))
    else if (kind === ')' || kind === ']' || kind === '}') {
      const start = open.pop()
      const end = lines.lineOf(from)
      // One range a line: the outermost one that begins there.
      if (start !== undefined && end > start) found.push({ from: start, to: end, isComment: false })
    }
  }
  const starts = new Map<number, FoldedLines>()
  for (const fold of found) {
    if ((starts.get(fold.from)?.to ?? -1) < fold.to) starts.set(fold.from, fold)
  }
  return [...starts.values(), ...commentFolds(comments.map(({ from }) => lines.lineOf(from)))].toSorted(
    (a, b) => a.from - b.from,
  )
}

/** @param commented lines with comments, ascending */
function commentFolds(commented: readonly number[]): FoldedLines[] {
  const found: FoldedLines[] = []
  let [from, to] = [-2, -2]
  for (const line of [...commented, -1]) {
    if (line === to + 1) to = line
    else {
      if (to > from) found.push({ from, to, isComment: true })
      from = line
      to = line
    }
  }
  return found
}
