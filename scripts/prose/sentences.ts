/** Splits blocks of prose into sentences. */
import type { Block } from './blocks.ts'

export interface Sentence {
  /** Line of its first word. */
  readonly line: number
  /** The sentence as written, on one line. */
  readonly text: string
  /** The sentence with a single word in place of each code span and address. */
  readonly plain: string
  readonly kind: Block['kind']
}

/** Abbreviations whose period does not end a sentence. */
const ABBREVIATION = /(?:^|[\s("'])(?:e\.g|i\.e|cf|vs|approx|ca|no|fig|sec|resp|incl|st|dr|mr|mrs)\.$/i
/** Abbreviations that may also be the last word of a sentence: the next word decides. */
const LAST_WORD = /(?:(?:^|[\s("'])(?:etc|al)\.|\.\.\.|…)["')\]*_]*$/
const END = /[.!?…]["')\]*_]*(?=\s)/g

/** The sentences of a block, in order. */
export function sentencesOf({ kind, lines }: Block): Sentence[] {
  const text = lines.map((line) => line.text).join('\n')
  const masked = withoutCode(text)
  const sentences: Sentence[] = []
  let start = 0
  const take = (end: number) => {
    const first = start + (/^\s*/.exec(masked.slice(start, end))?.[0].length ?? 0)
    start = end
    if (!/[\p{L}\p{N}]/u.test(masked.slice(first, end))) return
    const { line } = lines[text.slice(0, first).split('\n').length - 1]
    sentences.push({ kind, line, text: oneLine(text.slice(first, end)), plain: oneLine(masked.slice(first, end)) })
  }
  for (const { 0: mark, index } of masked.matchAll(END)) {
    const end = index + mark.length
    const before = masked.slice(start, end)
    if (ABBREVIATION.test(before)) continue
    if (LAST_WORD.test(before) && !/^\s+[\p{Lu}\p{N}`"'([*]/u.test(masked.slice(end))) continue
    take(end)
  }
  take(text.length)
  return sentences
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

/** The text with letters in place of code spans, addresses and targets of links: the same length, without a break. */
export function withoutCode(text: string): string {
  const letters = (part: string) => 'x'.repeat(part.length)
  return text
    .replace(/(`+)[^`]+?\1/g, letters)
    .replace(/\]\([^)\s]*\)/g, (link) => `]${letters(link.slice(1))}`)
    .replace(/\b(?:https?|stratum\+\w+|wss?|nats|file):\/\/[^\s)]*[^\s).,;:!?]/g, letters)
    .replace(/\{@link [^}]*\}/g, letters)
}

/** How many words a sentence has: what stands between spaces and has a letter or a digit. */
export const wordsOf = (plain: string): number => plain.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
