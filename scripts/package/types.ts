/** Copies the declarations that the entries of the package lead to. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'

/** Imports in a declaration of modules of newcut. */
const IMPORTS = /(?:from |import\()['"]([.#][^'"]+)['"]/g

/** Declarations with types of packages that an installation does not have. Programs pass these values on, if at all. */
const OPAQUE: Readonly<Record<string, string>> = {
  'dist/src/ground/platform/fastify.d.ts':
    'export type FastifyError = Error\nexport type FastifyInstance = object\nexport type FastifyReply = object\n',
  'dist/src/client/node/undici.d.ts': 'export type Connector = object\nexport type Dispatcher = object\n',
}

/** @param entries declarations of the exports, relative to `root` */
export function copyTypes(entries: readonly string[], root: string, stage: string): void {
  const reached = new Set(entries)
  for (const path of reached) {
    const to = join(stage, path)
    mkdirSync(dirname(to), { recursive: true })
    if (path in OPAQUE) {
      writeFileSync(to, OPAQUE[path])
      continue
    }
    cpSync(join(root, path), to)
    for (const [, name] of readFileSync(to, 'utf8').matchAll(IMPORTS)) {
      const file = name.replace(/\.(ts|js)$/, '.d.ts')
      reached.add(file.startsWith('#') ? `dist/src/${file.slice(1)}` : join(dirname(path), file))
    }
  }
}
