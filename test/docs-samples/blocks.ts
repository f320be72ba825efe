/** The fenced code blocks of every document. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Folders with documents; "" is the project itself. */
const FOLDERS = ['', 'bench/', 'deploy/', 'docs/', 'examples/exchange/']
const FENCE = /^ *(```+|~~~+)(.*)$/
/** "Send this with `POST /make-blocks`:" before a block. */
const BODY_OF = /`((?:POST|PUT) \/[^`]*)`[^`]*:$/
/** "Save this as `counter.pact`:" or "Write a file `newcut.yaml`:" before a block. */
const SAVED_AS = /\b(?:[Ss]ave|[Ww]rite) [^`]*`([\w./-]+\.\w+)`[^`]*$/

/** A fenced code block. */
export interface Block {
  /** Path from the root of the project. */
  readonly document: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  /** The info string; empty if the fence has none. */
  readonly language: string
  readonly text: string
  /** The file that the reader saves the block as, or null. */
  readonly file: string | null
  /** Method and path of the request that the block is a body of, or null. */
  readonly request: string | null
}

/** Path and line, for messages. */
export const whereIs = ({ document, line }: Block): string => `${document}:${line}`

/** Every Markdown file of the project that people read, by path from the root. */
export const documents: readonly string[] = FOLDERS.flatMap((folder) =>
  readdirSync(`${root}${folder}`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}${name}`),
)

/** The blocks of a document, in their order. @throws Error if a fence stays open. */
export function blocksIn(document: string, text: string): Block[] {
  const blocks: Block[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const [, fence, language] = FENCE.exec(lines[at]) ?? []
    if (fence === undefined) continue
    const indent = lines[at].indexOf(fence)
    const end = lines.findIndex((line, i) => i > at && line.trim() === fence)
    if (end < 0) throw new Error(`${document}:${at + 1}: a fence that stays open`)
    const content = lines.slice(at + 1, end).map((line) => line.slice(indent))
    const before = paragraphBefore(lines, at)
    const [file, request] = [SAVED_AS, BODY_OF].map((pattern) => pattern.exec(before)?.[1] ?? null)
    blocks.push({ document, line: at + 1, language: language.trim(), text: content.join('\n'), file, request })
    at = end
  }
  return blocks
}

/** The paragraph that ends right before a line, as one line. */
function paragraphBefore(lines: readonly string[], at: number): string {
  const before = lines.slice(0, lines[at - 1] === '' ? at - 1 : at)
  return before.slice(before.lastIndexOf('') + 1).join(' ')
}

/** Lines of code blocks that are indented instead of fenced: no test knows their language. */
export function indentedLines(document: string, text: string): string[] {
  const found: string[] = []
  let isFenced = false
  let before = ''
  for (const [i, line] of text.split('\n').entries()) {
    if (FENCE.test(line)) isFenced = !isFenced
    if (!isFenced && before === '' && /^ {4}\S/.test(line)) found.push(`${document}:${i + 1}: ${line.trim()}`)
    before = line
  }
  return found
}

/** Commands of newcut within sentences. */
export const mentions = (text: string): readonly string[] =>
  [...text.replace(/^ *(```+)[\s\S]*?^ *\1$/gm, '').matchAll(/`(newcut [^`]+)`/g)].map(([, mention]) => mention)

export const textOf = (document: string) => readFileSync(`${root}${document}`, 'utf8')

export const allBlocks: readonly Block[] = documents.flatMap((document) => blocksIn(document, textOf(document)))
export const allIndentedLines: readonly string[] = documents.flatMap((name) => indentedLines(name, textOf(name)))
