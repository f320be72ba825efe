/** Reads comments and texts for people out of TypeScript and JavaScript. */
import { type ParseResult, parseSync } from 'rolldown/utils'
import type { Line } from './blocks.ts'

/** Comments that talk to a tool, up to the reason they give. */
const DIRECTIVE =
  /^\s*(?:biome-ignore [^:]*:|@ts-[\w-]+|\/ <reference.*|[#@]__PURE__.*|v8 ignore.*|@vitest-environment.*)/
/** Members of events and errors that people read. */
const READ_BY_PEOPLE = new Set(['message', 'hint', 'warning'])
/** A file without these words has no texts for people. */
const MAY_HAVE_TEXTS = /throw|NewcutError|errorRows|message|hint|warning/

/** Private methods that register a metric: name, help, labels. */
const METRIC = /^(?:counter|gauge|histogram)$/

/** A parsed file. */
export interface Source {
  readonly text: string
  /** Read when asked for, because most files are read for their comments only. */
  readonly program: Node
  readonly comments: ParseResult['comments']
  /** Offset of the start of each line. */
  readonly starts: readonly number[]
}

/** A node of the syntax tree (ESTree). Its other members depend on its type. */
interface Node {
  readonly type: string
  /** Offsets in the text. */
  readonly start: number
  readonly end: number
}

/** @throws Error for a syntax error */
export function parse(name: string, text: string): Source {
  const parsed = parseSync(name, text)
  const { comments, errors } = parsed
  if (errors.length > 0) throw new Error(`${name}: ${errors[0].message}`)
  return {
    text,
    get program() {
      return parsed.program
    },
    comments,
    starts: [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)],
  }
}

/** Line of an offset, from 1. */
const lineOf = ({ starts }: Source, offset: number) => starts.findLastIndex((start) => start <= offset) + 1

/** The comments of a file, each as its lines. Line comments on consecutive lines are one comment. */
export function commentsOf(file: Source): Line[][] {
  const comments: Line[][] = []
  let last = { line: -1, column: -1 }
  for (const { type, start, end } of file.comments) {
    const line = lineOf(file, start)
    const column = start - file.starts[line - 1]
    const lines = linesOfComment(file.text.slice(start, end), line)
    if (type === 'Line' && last.line === line - 1 && last.column === column) comments.at(-1)?.push(...lines)
    else comments.push(lines)
    last = type === 'Line' ? { line, column } : { line: -1, column: -1 }
  }
  return comments
}

function linesOfComment(comment: string, start: number): Line[] {
  const inside = comment.startsWith('//') ? comment.slice(2) : comment.replace(/^\/\*+|\**\*\/$/g, '')
  return inside.split('\n').map((text, i) => {
    const own = i === 0 ? text : text.replace(/^\s*\*/, '')
    return { line: start + i, text: own.replace(/^ /, '').replace(DIRECTIVE, '') }
  })
}

/** Texts of errors and events: arguments of NewcutError and of what is thrown, and members such as `message`. */
export function textsForPeople(file: Source): Line[] {
  if (!MAY_HAVE_TEXTS.test(file.text)) return []
  return textsWhere(file, (node) => {
    if (isOf(node, 'ThrowStatement') && isOf(node.argument, 'CallExpression')) return node.argument.arguments
    if (isOf(node, 'NewExpression') && nameOf(node.callee) === 'NewcutError') return node.arguments.slice(1)
    if (isOf(node, 'CallExpression') && nameOf(node.callee) === 'errorRows') return rowTexts(node)
    if (isOf(node, 'Property') && READ_BY_PEOPLE.has(nameOf(node.key) ?? '')) return [node.value]
    return []
  })
}

/** The texts of a table of errors; hints are found as members of that name. */
function rowTexts(node: Node): Node[] {
  const own = isOf(node, 'Property') && nameOf(node.key) === 'text' ? [node.value] : []
  return [...own, ...childrenOf(node).flatMap(rowTexts)]
}

/** The HELP texts of metrics: second arguments of the methods that register one. */
export function metricTexts(file: Source): Line[] {
  if (!/#(?:counter|gauge|histogram)\b/.test(file.text)) return []
  return textsWhere(file, (node) => {
    if (!isOf(node, 'CallExpression') || !isOf(node.callee, 'MemberExpression')) return []
    const { property } = node.callee
    return isOf(property, 'PrivateIdentifier') && METRIC.test(property.name) ? node.arguments.slice(1, 2) : []
  })
}

/** The titles of tests: first arguments of `it`, `it.each(...)` and the like, and the second of `itWith(lack, ...)`. */
export const titlesOf = (file: Source): Line[] => {
  const titles: Line[] = []
  const visit = (node: Node) => {
    const title = isOf(node, 'CallExpression') ? titleIn(node) : undefined
    if (title !== undefined) {
      const text = joined(title)
      // A value that is put in counts as one word.
      if (text !== null)
        titles.push({ line: lineOf(file, node.start), text: text.replace(/%[sdjio]|\$[\w.]+/g, '`x`') })
    }
    for (const child of childrenOf(node)) visit(child)
  }
  visit(file.program)
  return titles
}

function titleIn({ callee, arguments: passed }: Members['CallExpression']): Node | undefined {
  if (nameOf(callee) === 'itWith') return passed[1]
  return isTest(callee) && passed.length > 1 ? passed[0] : undefined
}

/** Whether a call of this makes a test: `it`, `it.skip`, `it.each(rows)`, `test`. */
function isTest(node: Node): boolean {
  if (isOf(node, 'CallExpression')) return isOf(node.callee, 'MemberExpression') && isTest(node.callee)
  if (isOf(node, 'MemberExpression')) return isTest(node.object)
  const name = nameOf(node)
  return name === 'it' || name === 'test'
}

/** All texts of more than one word in a file whose texts are all for people. */
export const allTexts = (file: Source): Line[] => textsWhere(file, (node) => (joined(node) !== null ? [node] : []))

function textsWhere(file: Source, pick: (node: Node) => readonly Node[]): Line[] {
  const texts = new Map<number, Line>()
  const visit = (node: Node) => {
    for (const expression of pick(node)) {
      for (const [text, at] of textsOf(expression)) {
        const line = lineOf(file, at.start)
        if (/\S\s+\S/.test(text)) texts.set(at.start, texts.get(at.start) ?? { line, text })
        for (const part of partsOf(at)) if (part.start !== at.start) texts.set(part.start, { line, text: '' })
      }
    }
    for (const child of childrenOf(node)) visit(child)
  }
  visit(file.program)
  return [...texts.values()].filter(({ text }) => text !== '')
}

/** The parts of a text that is joined by +. They are visited after the whole, which has their words. */
const partsOf = (node: Node): Node[] =>
  isOf(node, 'BinaryExpression') ? [...partsOf(node.left), ...partsOf(node.right)] : [node]

/** The texts that an expression may be. */
function textsOf(node: Node): [text: string, at: Node][] {
  if (isOf(node, 'ConditionalExpression')) return [...textsOf(node.consequent), ...textsOf(node.alternate)]
  if (isOf(node, 'ParenthesizedExpression')) return textsOf(node.expression)
  const text = joined(node)
  return text === null ? [] : [[text, node]]
}

/** The text of a literal, a template or a sum of these. A value in it is a code span, so that it counts as one word. */
function joined(node: Node): string | null {
  if (isOf(node, 'Literal')) return typeof node.value === 'string' ? node.value.replace(/\{\w+\}/g, '`x`') : null
  if (isOf(node, 'TemplateLiteral')) return node.quasis.map(({ value }) => value.cooked).join('`x`')
  if (!isOf(node, 'BinaryExpression') || node.operator !== '+') return null
  const sides = [joined(node.left), joined(node.right)]
  if (sides[0] === null && sides[1] === null) return null
  return sides.map((side) => side ?? '`x`').join('')
}

/** The members of the nodes that are read here. */
interface Members {
  BinaryExpression: { readonly left: Node; readonly right: Node; readonly operator: string }
  CallExpression: { readonly callee: Node; readonly arguments: readonly Node[] }
  ConditionalExpression: { readonly consequent: Node; readonly alternate: Node }
  Identifier: { readonly name: string }
  Literal: { readonly value: unknown }
  MemberExpression: { readonly object: Node; readonly property: Node }
  NewExpression: { readonly callee: Node; readonly arguments: readonly Node[] }
  ParenthesizedExpression: { readonly expression: Node }
  PrivateIdentifier: { readonly name: string }
  Property: { readonly key: Node; readonly value: Node }
  TemplateLiteral: { readonly quasis: readonly { readonly value: { readonly cooked: string } }[] }
  ThrowStatement: { readonly argument: Node }
}

const isOf = <T extends keyof Members>(node: Node, type: T): node is Node & Members[T] => node.type === type

/** The name of an identifier, else null. */
const nameOf = (node: Node): string | null => (isOf(node, 'Identifier') ? node.name : null)

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

function childrenOf(node: Node): Node[] {
  const children: Node[] = []
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) children.push(...value.filter(isNode))
    else if (isNode(value)) children.push(value)
  }
  return children
}
