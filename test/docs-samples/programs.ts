/** Type-checks the TypeScript of documents and docstrings as a user's project that has installed newcut. */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'rolldown/utils'
import { faultsOf, writeDeclarations } from '../compiler.ts'
import { root } from './blocks.ts'

/** A program, and where it stands. */
export interface Program {
  readonly where: string
  readonly text: string
}

const EXAMPLE = /^ *\* ```ts\n([\s\S]*?)\n *\* ```$/gm

/** Declarations that a fragment in a docstring of the client leaves out. */
const CLIENT = `import type { NodeClient } from 'newcut/node'\ndeclare const client: NodeClient\n`

/** The programs in docstrings below these folders. A fragment without imports is about a client. */
export function docstringPrograms(folders: readonly string[]): Program[] {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  return files
    .filter((name) => name.endsWith('.ts'))
    .flatMap((where) =>
      [...readFileSync(join(root, where), 'utf8').matchAll(EXAMPLE)].map(([, text]) => {
        const program = text.replace(/^ *\* ?/gm, '')
        return { where, text: program.includes('import ') ? program : CLIENT + program }
      }),
    )
}

/** Makes newcut a dependency of the folder, as `npm install` does. */
export function installInto(folder: string): void {
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules/newcut'), 'dir')
}

/**
 * Copies a folder of `examples/` into a folder for a test, where `installInto` has been. The system contracts and the
 * types of Node are as near as in the project.
 * @param example path from the root, such as `examples/exchange`
 * @returns the copy
 */
export function copyExample(example: string, folder: string): string {
  const made = join(folder, example)
  const isSource = (path: string) => !/\/(?:build|html|lcov\.info|junit\.xml|trade\.txt)$/.test(path)
  cpSync(join(root, example), made, { recursive: true, filter: isSource })
  symlinkSync(join(root, 'src'), join(folder, 'src'), 'dir')
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'), 'dir')
  return made
}

/** Output of `npx tsc` in a folder of `examples/`, as commands there name it. */
export const builtIn = (example: string): readonly string[] => [
  'build/',
  ...readdirSync(join(root, example))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `build/${name.replace(/ts$/, 'js')}`),
]

/** The faults that the compiler finds in programs, as `WHERE, line N: message`. `folder`: see installInto. */
export function typeFaults(programs: readonly Program[], folder: string): string[] {
  writeDeclarations()
  const names = new Map(programs.map((program, i) => [join(folder, `program-${i}.mts`), program]))
  for (const [name, { text }] of names) writeFileSync(name, text)
  const faults = faultsOf([...names.keys()], folder, {
    noUnusedLocals: true,
    skipLibCheck: true,
    target: 'ES2023',
    lib: ['ES2023'],
    module: 'NodeNext',
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  })
  return faults.map(({ file, line, text }) => `${names.get(file)?.where ?? file}, line ${line}: ${text}`)
}

/** The JavaScript of a program. */
export const javaScriptOf = (text: string): string => transformSync('program.ts', text, { target: 'es2023' }).code
