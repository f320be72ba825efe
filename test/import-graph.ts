/** The sources and their imports, for the tests of the design. */
import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { filesBelow } from '../scripts/sources.ts'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** Path below src/ -> text, of all modules in TypeScript. */
export const texts: ReadonlyMap<string, string> = new Map(
  filesBelow(src)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(join(src, name), 'utf8')]),
)

/** Path below src/ -> its text without comments. */
export const code: ReadonlyMap<string, string> = new Map(
  [...texts].map(([name, text]) => [name, text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')]),
)

export interface Import {
  /** Paths below src/. A package has its own name. */
  readonly from: string
  readonly to: string
  /** As the source writes it. */
  readonly path: string
  /** Imported names; `*` for all. */
  readonly names: readonly string[]
  /** Whether TypeScript erases the import, so that it loads nothing at run time. */
  readonly isType: boolean
  /** Whether it is an `import()`, which loads when it runs. */
  readonly isLate: boolean
}

const STATIC = /^(?:import|export) (type )?(?:([^'"]*?) from )?'([^']+)'/gm
const LATE = /(?:const \{([^}]*)\} = )?(?:\(?await )?\bimport\(\s*'([^']+)'\s*\)/g

function importsOf(from: string, text: string): Import[] {
  const targetOf = (path: string) => {
    if (path.startsWith('#')) return path.slice(1)
    return path.startsWith('.') ? relative(src, resolve(src, dirname(from), path)) : path
  }
  const fixed = [...text.matchAll(STATIC)].map(([, type, what = '', path]) => {
    const [, list] = /\{([\s\S]*)\}/.exec(what) ?? []
    return { from, to: targetOf(path), path, names: namesIn(list), isType: type !== undefined, isLate: false }
  })
  const late = [...text.matchAll(LATE)].map(([, list, path]) => {
    return { from, to: targetOf(path), path, names: namesIn(list), isType: false, isLate: true }
  })
  return [...fixed, ...late]
}

const namesIn = (list: string | undefined) =>
  list
    ?.split(',')
    .map((each) =>
      each
        .trim()
        .replace(/^type /, '')
        .split(/ as |:/)[0]
        .trim(),
    )
    .filter((name) => name !== '') ?? ['*']

/** All imports, those of packages too. */
export const imports: readonly Import[] = [...code].flatMap(([from, text]) => importsOf(from, text))

/** Whether the import is of a module of src/. */
export const isOurs = ({ to }: Import): boolean => code.has(to)

/** File -> the files that it imports by the imports that count. */
export function graphOf(counts: (each: Import) => boolean): Map<string, string[]> {
  const graph = new Map([...code.keys()].map((name): [string, string[]] => [name, []]))
  for (const each of imports) if (isOurs(each) && counts(each)) graph.get(each.from)?.push(each.to)
  return graph
}

/** Wings whose folders are rooms. Any other folder of src/ is a wing of one room. */
const DIVIDED = ['ground', 'language', 'client', 'mining', 'pool', 'faces']

export const wingOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')

/** The room of a file, such as `chain`; '' for a file of src/ itself. */
export function roomOf(file: string): string {
  const [wing, room] = file.split('/')
  return DIVIDED.includes(wing) ? room : wingOf(file)
}

/** The folder of a file inside its room, or '' for a file of the room itself. */
export function folderOf(file: string): string {
  const parts = file.split('/').slice(DIVIDED.includes(wingOf(file)) ? 2 : 1)
  return parts.length > 1 ? parts[0] : ''
}

/** All files that a file reaches by imports. It contains the file itself if that is part of a cycle. */
export function reached(graph: ReadonlyMap<string, readonly string[]>, from: string): Set<string> {
  const found = new Set<string>()
  const waiting = [...(graph.get(from) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue
    found.add(next)
    waiting.push(...(graph.get(next) ?? []))
  }
  return found
}
