/** Exported functions and public methods that throw an operating error, and whether their comments say so. */
import { texts } from './import-graph.ts'
import { childrenOf, isFunction, type Node, parse } from './syntax-tree.ts'

/** A function that other files can call, and where its declaration starts. */
interface PublicFunction {
  readonly name: string
  readonly node: Node
  readonly start: number
}

/** Errors of broken invariants. Nobody handles them, so comments need not list them. */
const INVARIANTS = new Set(['Error', 'RangeError', 'TypeError'])

/**
 * Whether a function throws an operating error directly, not in a function or class inside it.
 * @param caught names of caught errors, which it may throw again
 */
function throwsDirectly(node: Node, caught: readonly string[] = []): boolean {
  if (node.type === 'ThrowStatement') {
    const { argument } = node
    if (argument?.type === 'Identifier') return !caught.includes(argument.name ?? '')
    return argument?.type !== 'NewExpression' || !INVARIANTS.has(argument.callee?.name ?? '')
  }
  const names = node.type === 'CatchClause' ? [...caught, node.param?.name ?? ''] : caught
  return childrenOf(node).some((child) => !/Function|^Class/.test(child.type) && throwsDirectly(child, names))
}

/** The exported functions of a program, and the constructors, accessors and methods of its exported classes. */
function publicFunctionsOf(program: Node): PublicFunction[] {
  return childrenOf(program).flatMap(({ type, start, declaration }) => {
    if (type !== 'ExportNamedDeclaration' || !declaration) return []
    if (declaration.type === 'FunctionDeclaration')
      return [{ name: declaration.id?.name ?? '', node: declaration, start }]
    if (declaration.type === 'ClassDeclaration') return publicMembersOf(declaration)
    return (declaration.declarations ?? []).flatMap(({ id, init }) =>
      init && isFunction(init) ? [{ name: id?.name ?? '', node: init, start }] : [],
    )
  })
}

function publicMembersOf(declaration: Node): PublicFunction[] {
  const members = childrenOf(declaration).filter(({ type }) => type === 'ClassBody')
  return members.flatMap(childrenOf).flatMap(({ key, value, accessibility, start }) => {
    if (key?.type !== 'Identifier' || (accessibility ?? 'public') !== 'public' || !value || !isFunction(value))
      return []
    return [{ name: `${declaration.id?.name}.${key.name}`, node: value, start }]
  })
}

/** Names of functions in a source text that throw an operating error, and have no `@throws` in their comment. */
export function functionsWithoutThrowsTag(file: string, text: string): string[] {
  const { program, comments } = parse(file, text)
  const commentAbove = (start: number) => {
    const last = comments.findLast(({ end }) => end <= start)
    return last !== undefined && text.slice(last.end, start).trim() === '' ? last.value : ''
  }
  return publicFunctionsOf(program)
    .filter(({ node, start }) => throwsDirectly(node) && !commentAbove(start).includes('@throws'))
    .map(({ name }) => name)
}

/** Lists such functions of all sources, one line a file. */
export const throwsWithoutTag = (): string[] =>
  [...texts].flatMap(([file, text]) => {
    const names = functionsWithoutThrowsTag(file, text)
    return names.length === 0 ? [] : [`${file}: ${names.join(', ')}`]
  })
