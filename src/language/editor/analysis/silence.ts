/**
 * Comments that silence findings:
 *
 *     (select rows (where "a" (< 1))) ; newcut-ignore table-scan
 *     ; newcut-ignore table-scan unused-variable
 *     ; newcut-ignore-file not-loaded
 *
 * After code, a comment is about its line. On a line of its own, it is about the next line that has code.
 */

import { type FindingCode, findingCodes, isFindingCode, LOUD_CODES } from '../text/finding-codes.ts'
import type { ParsedFile } from '../text/parsed-file.ts'
import { similarName } from '../text/similar.ts'
import type { CodeFinding, OffsetRange } from '../text/spans.ts'

const COMMENT = /^;+\s*newcut-ignore(-file)?(?=$|[\s:])(.*)$/s

interface SilencedCode extends OffsetRange {
  readonly code: FindingCode
  /** Line that it silences, from 0; null silences the file. */
  readonly line: number | null
}

/** Findings that no comment silences, with findings about the comments themselves. */
export function withoutSilenced(parsed: ParsedFile, findings: readonly CodeFinding[]): CodeFinding[] {
  const { words, wrong } = silencesIn(parsed)
  if (words.length === 0) return [...findings, ...wrong]
  const used = new Set<SilencedCode>()
  const left = findings.filter(({ code, from }) => {
    const line = parsed.lines.lineOf(from)
    const found = words.filter((word) => word.code === code && (word.line === null || word.line === line))
    for (const word of found) used.add(word)
    return found.length === 0
  })
  // A broken text hides findings, so a comment may well have its use.
  const isBroken = findings.some(({ code }) => code === 'syntax')
  const useless = words.filter((word) => !isBroken && !used.has(word))
  return [...left, ...wrong, ...useless.map(uselessFinding)]
}

function uselessFinding({ code, from, to }: SilencedCode): CodeFinding {
  return {
    severity: 'hint',
    code: 'silence-comment',
    message: `there is no ${code} to silence`,
    isUnused: true,
    from,
    to,
  }
}

interface SuppressionComments {
  readonly words: readonly SilencedCode[]
  readonly wrong: readonly CodeFinding[]
}

function silencesIn(parsed: ParsedFile): SuppressionComments {
  const words: SilencedCode[] = []
  const wrong: CodeFinding[] = []
  for (const comment of parsed.comments) {
    const text = parsed.text.slice(comment.from, comment.to)
    const found = COMMENT.exec(text)
    if (found === null) continue
    const line = found[1] === undefined ? lineOfCode(parsed, comment) : null
    const start = comment.from + text.length - found[2].length
    const named = [...found[2].matchAll(/[^\s,:]+/g)].map(({ 0: word, index }) => {
      return { word, from: start + index, to: start + index + word.length }
    })
    if (named.length === 0) wrong.push(wrongFinding('newcut-ignore names no code of a finding', comment))
    for (const { word, from, to } of named) {
      if (isFindingCode(word) && !LOUD_CODES.has(word)) words.push({ code: word, line, from, to })
      else wrong.push(wrongFinding(whyNot(word), { from, to }))
    }
  }
  return { words, wrong }
}

function wrongFinding(message: string, { from, to }: OffsetRange): CodeFinding {
  return { severity: 'warning', code: 'silence-comment', message, from, to }
}

function whyNot(word: string): string {
  if (isFindingCode(word)) return `${word} cannot be silenced`
  const similar = similarName(word, Object.keys(findingCodes))
  return `no finding has the code ${word}${similar === null ? '' : `; ${similar} is similar`}`
}

/** The line of the code that a comment is about. */
function lineOfCode({ tokens, lines }: ParsedFile, { from }: OffsetRange): number {
  const line = lines.lineOf(from)
  const isBehindCode = tokens.some(
    (token) => token.kind !== 'end' && token.from < from && lines.lineOf(token.to) === line,
  )
  if (isBehindCode) return line
  const next = tokens.find((token) => token.from > from)
  return next === undefined ? line : lines.lineOf(next.from)
}
