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
  const blocks = [...document.matchAll(/^```(?:console)?\n(\$ [\s\S]*?)\n```$/gm)].map(([, block]) => block)
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

/** The commands of a section, indented or in `sh` blocks, without comments. */
export function commandsIn(document: string, heading: string): string[] {
  const [, section = ''] = document.split(new RegExp(`^## ${heading}$`, 'm'))
  const [text] = section.split(/^## /m)
  const fenced = [...text.matchAll(/^```sh\n([\s\S]*?)\n```$/gm)].flatMap(([, block]) => block.split('\n'))
  const lines = [...[...text.matchAll(/^ {4}(\S.*)$/gm)].map(([, line]) => line), ...fenced]
  return lines.filter((line) => !line.startsWith('#'))
}

/** A key with digits left out: `3b6a[...]59da29`. */
const SHORTENED_KEY = /\b[0-9a-f]{4,}\[\.\.\.\][0-9a-f]{4,}\b/g

const MASKS: readonly (readonly [RegExp, string])[] = [
  [/^(machine): .*(?=, \d+ threads, Node)/, '$1: PROCESSOR'],
  [/\bGPU (?:auto|none)$/, 'GPU WHICH'],
  [/\b\d\d:\d\d:\d\d\b/g, 'TIME'],
  [/\b[0-9a-f]{64}\b/g, 'KEY'],
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, 'HASH'],
  [/\d+(?:\.\d+)? (?:ms|s|m|h)\b(?: \d+ [sm]\b)?/g, 'DURATION'],
  [/\d+(?:\.\d+)? [kMGT]?H\/s/g, 'RATE'],
  [/\b(?:thread|gpu)\d+\b/g, 'DEVICE'],
  [/\b(?:native-\w+|wasm|js)$/, 'KERNEL'],
  [/<?\d+(?:\.\d+)*[kMGTPEZ]?/g, 'NUMBER'],
  // Two solutions of a run may be for one block, and the slower one is stale.
  [/(NUMBER accepted)(?: NUMBER (?:unconfirmed|stale))+/g, '$1'],
]

/** A line without the parts that differ between runs and machines: numbers, times, keys, widths of columns. */
export function shapeOf(line: string): string {
  return MASKS.reduce((text, [pattern, word]) => text.replace(pattern, word), line.trimEnd().replace(/ +/g, ' '))
}

function matches(sample: string, printed: string): boolean {
  const parts = sample.split(ELLIPSIS)
  if (parts.length === 1) return shapeOf(sample) === shapeOf(printed)
  // An ellipsis may leave out a part of a number or key: then only the line as it stands can match.
  const masked = sample.replace(SHORTENED_KEY, 'KEY').split(ELLIPSIS).map(shapeOf)
  return hasParts(parts, printed) || hasParts(masked, shapeOf(printed))
}

function hasParts(parts: readonly string[], text: string): boolean {
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.*')}$`).test(text)
}

/**
 * Compares line by line, in order. Each line of the sample must be printed, and each printed line must be in the sample,
 * except where the sample leaves lines out.
 *
 * @returns the first difference as a sentence, or null.
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
