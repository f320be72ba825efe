/** Console samples in documents: commands and their output. */

/** A command and the lines below it, up to the next command. */
export interface Sample {
  readonly command: string
  readonly lines: readonly string[]
}

/** Stands for any number of lines, or inside a line for any text. */
const ELLIPSIS = '[...]'

/** The samples of a Markdown document: fenced blocks whose first line is a command after `$ `. */
export function samplesOf(document: string): Sample[] {
  const blocks = [...document.matchAll(/^```\n(\$ [\s\S]*?)\n```$/gm)].map(([, block]) => block)
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command, ...lines] = part.trimEnd().split('\n')
        return { command, lines }
      }),
  )
}

/** The indented lines of a section, without comments. */
export function commandsIn(document: string, heading: string): string[] {
  const [, section = ''] = document.split(new RegExp(`^## ${heading}$`, 'm'))
  const [text] = section.split(/^## /m)
  const lines = [...text.matchAll(/^ {4}(\S.*)$/gm)].map(([, line]) => line)
  return lines.filter((line) => !line.startsWith('#'))
}

const MASKS: readonly (readonly [RegExp, string])[] = [
  [/^(machine): .*(?=, \d+ threads, Node)/, '$1: PROCESSOR'],
  [/\bGPU (?:auto|none)$/, 'GPU WHICH'],
  [/\b\d\d:\d\d:\d\d\b/g, 'TIME'],
  [/\b[0-9a-f]{64}\b/g, 'KEY'],
  [/\d+(?:\.\d+)? (?:ms|s|m|h)\b(?: \d+ [sm]\b)?/g, 'DURATION'],
  [/\d+(?:\.\d+)? [kMGT]?H\/s/g, 'RATE'],
  [/\b(?:thread|gpu)\d+\b/g, 'DEVICE'],
  [/<?\d+(?:\.\d+)*[kMGTPEZ]?/g, 'NUMBER'],
  // Two solutions of a run may be for one block, and the slower one is stale.
  [/(NUMBER accepted)(?: NUMBER (?:unconfirmed|stale))+/g, '$1'],
]

/** A line without the parts that differ between runs and machines: numbers, times, keys, widths of columns. */
export function shapeOf(line: string): string {
  return MASKS.reduce((text, [pattern, word]) => text.replace(pattern, word), line.trimEnd().replace(/ +/g, ' '))
}

function matches(sample: string, printed: string): boolean {
  // An ellipsis stands for text of any run, and may cover part of a masked word. Other text must match exactly.
  const parts = sample.split(ELLIPSIS)
  if (parts.length === 1) return shapeOf(sample) === shapeOf(printed)
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.*')}$`).test(printed)
}

/**
 * Compares line by line, in order: each line of the sample was printed, and the sample has each printed line, except
 * those that it leaves out. @returns the first difference as a sentence, or null
 */
export function difference(sample: readonly string[], printed: readonly string[]): string | null {
  let next = 0
  let skips = false
  for (const line of sample) {
    if (line === ELLIPSIS) {
      skips = true
      continue
    }
    const at = skips ? printed.findIndex((each, index) => index >= next && matches(line, each)) : next
    if (at < 0 || at >= printed.length) return `not printed: ${line}`
    if (!matches(line, printed[at])) return `printed: ${printed[at]}\ninstead of: ${line}`
    next = at + 1
    skips = false
  }
  return skips || next === printed.length ? null : `not in the sample: ${printed[next]}`
}
