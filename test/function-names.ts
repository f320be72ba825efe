/** The names of all functions of the sources, and those that are not verbs. */
import { texts } from './import-graph.ts'
import { isFunction, type Node, nodesOf, parse } from './syntax-tree.ts'

/** Irregular participles that are not also present forms of a verb. */
const PARTICIPLES = new Set(
  (
    'told kept shown made found given taken sent left held known seen got said written built chosen done drawn fallen felt ' +
    'gone grown heard hidden lost paid sold spent spoken stood stolen struck sworn thought thrown understood won worn begun ' +
    'broken brought bought caught dealt driven eaten fought forgotten forgiven frozen laid led lit ridden risen slept sought torn'
  ).split(' '),
)
/** Prepositions, pronouns and the like. `now` and `at` are names of the field: a clock, an element. */
const PARTICLES = new Set(
  (
    'of by with behind beside below above when both to in on from for as it them all any none some here there then whole ' +
    'full own other'
  ).split(' '),
)
const VERBS = new Set(['need', 'seed', 'feed', 'speed', 'embed', 'shed', 'exceed', 'proceed', 'succeed'])

/** Whether a function of this name sounds like a result or a place: `told`, `shown`, `of`. */
export const lacksVerb = (name: string): boolean =>
  PARTICIPLES.has(name) || PARTICLES.has(name) || (/^[a-z]+ed$/.test(name) && !VERBS.has(name))

/** The name that a node gives to a function, or undefined. */
function nameOf(node: Node): string | undefined {
  switch (node.type) {
    case 'FunctionDeclaration':
      return node.id?.name
    case 'VariableDeclarator':
      return isFunction(node.init) ? node.id?.name : undefined
    case 'MethodDefinition':
      return node.kind === 'method' ? node.key?.name : undefined
    case 'PropertyDefinition':
    case 'Property':
      return isFunction(node.value) ? node.key?.name : undefined
    case 'TSMethodSignature':
      return node.key?.name
    default:
      return undefined
  }
}

const programs = [...texts].map(([file, text]) => [file, [...nodesOf(parse(file, text).program)]] as const)

/** The name of a type that a node declares, or undefined. */
const typeOf = (node: Node) =>
  ['ClassDeclaration', 'TSInterfaceDeclaration', 'TSTypeAliasDeclaration'].includes(node.type)
    ? node.id?.name
    : undefined

/** The parts of a name in lower case: `rigPoolSession` has rig, pool and session. */
export const partsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _]/)

/** File -> the names of its types and functions that have one of the parts. */
export function namesWith(parts: readonly string[]): Record<string, string[]> {
  const found = programs.map(([file, nodes]) => {
    const names = nodes.flatMap((node) => [nameOf(node), typeOf(node)]).filter((name) => name !== undefined)
    return [file, names.filter((name) => partsOf(name).some((part) => parts.includes(part)))] as const
  })
  return Object.fromEntries(found.filter(([, names]) => names.length > 0))
}

/** File -> the names of its functions that are not verbs, one entry a function. */
export function namesWithoutVerb(): Record<string, string[]> {
  const found = programs.map(([file, nodes]) => {
    const names = nodes.map(nameOf).filter((name) => name !== undefined)
    return [file, names.filter(lacksVerb)] as const
  })
  return Object.fromEntries(found.filter(([, names]) => names.length > 0))
}
