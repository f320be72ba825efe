/** Changes that an editor offers for a finding: the similar name, or a comment that silences it. */
import { LOUD_CODES } from '../text/finding-codes.ts'
import type { ParsedFile } from '../text/parsed-file.ts'
import type { CodeFinding, OffsetRange } from '../text/spans.ts'

/** A replacement of a range of text. */
export interface CodeFix extends OffsetRange {
  readonly title: string
  readonly text: string
  readonly finding: CodeFinding
  /** True for the fix that an editor may apply without a question. */
  readonly isPreferred: boolean
}

/** Fixes of the findings that touch a range. */
export function fixesIn(parsed: ParsedFile, findings: readonly CodeFinding[], { from, to }: OffsetRange): CodeFix[] {
  const touched = findings.filter((finding) => finding.from <= to && from <= finding.to)
  return touched.flatMap((finding) => {
    const { similar } = finding
    const renamed = { from: finding.from, to: finding.to, text: similar ?? '', finding, isPreferred: true }
    const silenced = silencing(parsed, finding)
    return [
      ...(similar === undefined ? [] : [{ ...renamed, title: `change to ${similar}` }]),
      ...(silenced === null ? [] : [silenced]),
    ]
  })
}

/** A comment on a line of its own before the finding. @returns null if there can be none */
function silencing({ text, tokens, lines }: ParsedFile, finding: CodeFinding): CodeFix | null {
  const { code, from } = finding
  if (LOUD_CODES.has(code)) return null
  const start = from - lines.columnOf(from)
  // Within a string that began above, a comment would become a part of it.
  if (tokens.some((token) => token.from < start && start < token.to)) return null
  const indent = /[ \t]*/y
  indent.lastIndex = start
  const comment = `${indent.exec(text)?.[0] ?? ''}; newcut-ignore ${code}\n`
  return { title: `silence ${code} here`, from: start, to: start, text: comment, finding, isPreferred: false }
}
