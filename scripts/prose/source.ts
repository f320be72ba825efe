/** Reads comments and texts for people out of TypeScript and JavaScript. */
import ts from 'typescript'
import type { Line } from './blocks.ts'

/** Comments that talk to a tool, up to the reason they give. */
const DIRECTIVE =
  /^\s*(?:biome-ignore [^:]*:|@ts-[\w-]+|\/ <reference.*|[#@]__PURE__.*|v8 ignore.*|@vitest-environment.*)/
/** Members of events and errors that people read. */
const READ_BY_PEOPLE = new Set(['message', 'hint', 'warning'])

/** Methods that register a metric: name, help, labels. */
const METRIC = /^#(?:counter|gauge|histogram)$/

export const parse = (name: string, text: string): ts.SourceFile =>
  ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)

/** The comments of a file, each as its lines. Line comments on consecutive lines are one comment. */
export function commentsOf(file: ts.SourceFile): Line[][] {
  const ranges = new Map<number, ts.CommentRange>()
  const collect = (found: ts.CommentRange[] | undefined) => {
    for (const range of found ?? []) ranges.set(range.pos, range)
  }
  const visit = (node: ts.Node) => {
    const children = node.getChildren(file)
    if (children.length === 0) {
      collect(ts.getLeadingCommentRanges(file.text, node.pos))
      collect(ts.getTrailingCommentRanges(file.text, node.end))
    }
    for (const child of children) if (!ts.isJSDoc(child)) visit(child)
  }
  visit(file)
  const comments: Line[][] = []
  let last = { line: -1, column: -1 }
  for (const range of [...ranges.values()].sort((a, b) => a.pos - b.pos)) {
    const { line: start, character: column } = file.getLineAndCharacterOfPosition(range.pos)
    const lines = linesOfComment(file.text.slice(range.pos, range.end), start + 1)
    const isLine = range.kind === ts.SyntaxKind.SingleLineCommentTrivia
    if (isLine && last.line === start && last.column === column) comments.at(-1)?.push(...lines)
    else comments.push(lines)
    last = isLine ? { line: start + 1, column } : { line: -1, column: -1 }
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
export function textsForPeople(file: ts.SourceFile): Line[] {
  return textsWhere(file, (node) => {
    if (ts.isThrowStatement(node) && ts.isCallExpression(node.expression)) return node.expression.arguments
    if (ts.isNewExpression(node) && node.expression.getText(file) === 'NewcutError')
      return node.arguments?.slice(1) ?? []
    if (!ts.isPropertyAssignment(node) || !READ_BY_PEOPLE.has(node.name.getText(file))) return []
    return [node.initializer]
  })
}

/** The HELP texts of metrics: second arguments of the methods that register one. */
export function metricTexts(file: ts.SourceFile): Line[] {
  return textsWhere(file, (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
    return METRIC.test(node.expression.name.text) ? node.arguments.slice(1, 2) : []
  })
}

/** All texts of more than one word in a file whose texts are all for people. */
export const allTexts = (file: ts.SourceFile): Line[] =>
  textsWhere(file, (node) => (ts.isExpression(node) && joined(node) !== null ? [node] : []))

function textsWhere(file: ts.SourceFile, pick: (node: ts.Node) => readonly ts.Expression[]): Line[] {
  const texts = new Map<number, Line>()
  const visit = (node: ts.Node) => {
    for (const expression of pick(node)) {
      for (const [text, at] of textsOf(expression)) {
        const line = file.getLineAndCharacterOfPosition(at.getStart(file)).line + 1
        if (/\S\s+\S/.test(text)) texts.set(at.pos, texts.get(at.pos) ?? { line, text })
        for (const part of partsOf(at)) if (part.pos !== at.pos) texts.set(part.pos, { line, text: '' })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return [...texts.values()].filter(({ text }) => text !== '')
}

/** The parts of a text that is joined by +. They are visited after the whole, which has their words. */
const partsOf = (node: ts.Expression): ts.Expression[] =>
  ts.isBinaryExpression(node) ? [...partsOf(node.left), ...partsOf(node.right)] : [node]

/** The texts that an expression may be. */
function textsOf(node: ts.Expression): [text: string, at: ts.Expression][] {
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)]
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression)
  const text = joined(node)
  return text === null ? [] : [[text, node]]
}

/** The text of a literal, a template or a sum of these. A value in it is a code span, so that it counts as one word. */
function joined(node: ts.Expression): string | null {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `\`x\`${literal.text}`).join('')
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return null
  const sides = [joined(node.left), joined(node.right)]
  if (sides[0] === null && sides[1] === null) return null
  return sides.map((side) => side ?? '`x`').join('')
}
