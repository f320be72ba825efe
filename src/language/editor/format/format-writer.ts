/** Prints pieces of a text with the indentation of the language. */
import type { FormatNode, GroupPiece } from './format-tree.ts'

/** Longest line, unless the author has broken it. */
const WIDTH = 120

/** Parts of a form that stay on its first line when it is broken: the head and what belongs to it. */
const ON_FIRST_LINE: ReadonlyMap<string, number> = new Map([
  ['module', 3],
  ['defun', 3],
  ['defcap', 3],
  ['defpact', 3],
  ['defconst', 3],
  ['with-read', 4],
  ['with-default-read', 3],
])
/** Position of parameters or variables, which align with each other. */
const ALIGNED: ReadonlyMap<string, number> = new Map([
  ['defun', 2],
  ['defcap', 2],
  ['defpact', 2],
  ['lambda', 1],
  ['let', 1],
  ['let*', 1],
])

export class FormatWriter {
  #out = ''
  #column = 0

  file(pieces: readonly FormatNode[]): string {
    let before: FormatNode | null = null
    for (const piece of pieces) {
      if (before !== null) {
        const isBeside = piece.piece === 'comment' && piece.firstLine === before.lastLine && before.piece !== 'comment'
        if (isBeside) this.#write(' ')
        else this.#newLine(0, piece.firstLine > before.lastLine + 1)
      }
      this.#piece(piece, 0, false)
      before = piece
    }
    return this.#out === '' ? '' : `${this.#out}\n`
  }

  #write(text: string): void {
    this.#out += text
    const line = text.lastIndexOf('\n')
    this.#column = line < 0 ? this.#column + text.length : text.length - line - 1
  }

  #newLine(indent: number, isAfterBlank: boolean): void {
    this.#write(`${isAfterBlank ? '\n' : ''}\n${' '.repeat(indent)}`)
  }

  /**
   * @param tail characters that follow on the same line: brackets and a comma
   * @param isAligned true for parameters, which align with the first of them
   */
  #piece(piece: FormatNode, tail: number, isAligned: boolean): void {
    switch (piece.piece) {
      case 'leaf':
      case 'comment':
        this.#write(piece.text)
        return
      case 'pair':
        this.#write(`${piece.key} `)
        this.#piece(piece.value, tail, false)
        return
      case 'group': {
        const isTooWide = this.#column + widthOf(piece) + tail > WIDTH
        if (isBroken(piece) || isTooWide) this.#group(piece, tail, isAligned)
        else this.#write(flat(piece))
      }
    }
  }

  #group(group: GroupPiece, tail: number, isAligned: boolean): void {
    const { items, open, close, isPadded } = group
    const word = wordOf(group)
    const start = this.#column
    const hasHead = open === '(' && word !== null && !isAligned
    const indent = start + (hasHead || isPadded ? 2 : 1)
    // A group that the author has not broken, and that is too long, is broken between all of its parts.
    const kept = isBroken(group) ? Number.POSITIVE_INFINITY : onFirstLine(group)
    this.#write(isPadded ? `${open} ` : open)
    for (const [index, item] of items.entries()) {
      if (index > 0)
        this.#separate(items[index - 1], item, { indent, isForced: index >= kept && !staysOnLine(items, index) })
      else if (item.piece === 'comment' && item.firstLine > group.firstLine) this.#newLine(indent, false)
      const isLast = index === items.length - 1
      const own = (item.hasComma ? 1 : 0) + (isLast ? tail + (isPadded ? 2 : 1) : 0)
      this.#piece(item, own, hasHead && ALIGNED.get(word) === index)
      if (item.hasComma) this.#write(',')
    }
    if (items.at(-1)?.piece === 'comment') this.#newLine(indent, false)
    else if (closesApart(group)) this.#newLine(start, false)
    else if (isPadded) this.#write(' ')
    this.#write(close)
  }

  #separate(
    before: FormatNode,
    item: FormatNode,
    { indent, isForced }: { readonly indent: number; readonly isForced: boolean },
  ): void {
    const gap = item.firstLine - before.lastLine
    if (isForced || gap > 0 || before.piece === 'comment') this.#newLine(indent, gap > 1)
    else this.#write(' ')
  }
}

/** True for what belongs to the mark in front of it: `@doc "text"`, `@managed parameter function`. */
function staysOnLine(items: readonly FormatNode[], index: number): boolean {
  const isMark = (piece: FormatNode | undefined, ...marks: readonly string[]) => {
    return piece?.piece === 'leaf' && marks.includes(piece.text)
  }
  const [item, before, first] = [items[index], items[index - 1], items[index - 2]]
  if (isMark(before, '@doc', '@model')) return true
  const isName = item.piece === 'leaf' && /^[^@"]/.test(item.text)
  return isName && (isMark(before, '@managed') || isMark(first, '@managed'))
}

/** True for a module whose closing bracket has a line of its own. */
function closesApart(group: GroupPiece): boolean {
  const word = wordOf(group)
  const last = group.items.at(-1)
  return (word === 'module' || word === 'interface') && last !== undefined && group.lastLine > last.lastLine
}

function onFirstLine(group: GroupPiece): number {
  const word = wordOf(group)
  if (group.open !== '(' || word === null) return 1
  return ON_FIRST_LINE.get(word) ?? 2
}

/** The name at the head of a group, or null. */
function wordOf({ items: [head] }: GroupPiece): string | null {
  return head?.piece === 'leaf' && /^[^"'\d]/.test(head.text) ? head.text : null
}

/** True if the piece takes several lines in the source. */
function isBroken(piece: FormatNode): boolean {
  switch (piece.piece) {
    case 'leaf':
      return piece.text.includes('\n')
    case 'comment':
      return true
    case 'pair':
      return isBroken(piece.value)
    case 'group': {
      const isApart = (item: FormatNode, index: number) => index > 0 && item.firstLine > piece.items[index - 1].lastLine
      return piece.items.some((item, index) => isApart(item, index) || isBroken(item))
    }
  }
}

/** The piece on one line. */
function flat(piece: FormatNode): string {
  switch (piece.piece) {
    case 'leaf':
    case 'comment':
      return piece.text
    case 'pair':
      return `${piece.key} ${flat(piece.value)}`
    case 'group': {
      const items = piece.items.map((item) => `${flat(item)}${item.hasComma ? ',' : ''}`).join(' ')
      const pad = piece.isPadded ? ' ' : ''
      return `${piece.open}${pad}${items}${pad}${piece.close}`
    }
  }
}

function widthOf(piece: FormatNode): number {
  return isBroken(piece) ? 0 : flat(piece).length
}
