/** Syntax trees of the sources (ESTree), for the tests of names and comments. */
import { parseSync } from 'rolldown/utils'

/** A node of a syntax tree, with members that depend on its type. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly name?: string
  readonly id?: Node | null
  readonly init?: Node | null
  readonly key?: Node
  readonly value?: Node | null
  readonly kind?: string
  readonly accessibility?: string | null
  readonly declaration?: Node | null
  readonly declarations?: readonly Node[]
  readonly callee?: Node
  readonly argument?: Node | null
  readonly param?: Node | null
}

interface Comment {
  readonly value: string
  readonly end: number
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

/** @throws Error for a text with a syntax error */
export function parse(file: string, text: string): { readonly program: Node; readonly comments: readonly Comment[] } {
  const { program, comments, errors } = parseSync(file, text)
  const root: unknown = program
  if (errors.length > 0 || !isNode(root)) throw new Error(`${file}: ${errors[0]?.message ?? 'no program'}`)
  return { program: root, comments }
}

export const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode)

/** The node, and all nodes below it. */
export function* nodesOf(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) yield* nodesOf(child)
}

/** Whether the node is a function without a name of its own. */
export const isFunction = (node: Node | null | undefined): boolean =>
  node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression'
