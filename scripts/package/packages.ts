/** Packages that newcut loads while it runs, each as one file: they need files of their own, or are rarely used. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path/posix'
import { ROOT } from '../root.ts'

interface PackageFile {
  readonly name: string
  /** Below dist/packages. */
  readonly file: string
  /** The exports that newcut imports; null for everything, by `require`. */
  readonly names: readonly string[] | null
}

const FILES: readonly PackageFile[] = [
  { name: 'classic-level', file: 'classic-level/index.js', names: ['ClassicLevel'] },
  { name: 'piscina', file: 'piscina/index.js', names: ['Piscina'] },
  { name: '@noble/post-quantum/slh-dsa.js', file: 'slh-dsa.js', names: ['*'] },
  { name: '@nats-io/transport-node', file: 'nats.cjs', names: null },
  { name: 'pino', file: 'pino.cjs', names: null },
  { name: 'tldts', file: 'tldts.cjs', names: null },
  { name: 'yaml', file: 'yaml.cjs', names: null },
]
const HEADERS = { name: 'node-api-headers', file: 'node-api-headers/index.cjs' }

/** Databases for other machines than those of Node.js itself. */
const RARE_MACHINES = /^(android|win32-ia32)/

/** The files of packages in a folder: name of the package -> file. */
export const packageFiles = (folder: string): Record<string, string> =>
  Object.fromEntries([...FILES, HEADERS].map(({ name, file }) => [name, join(folder, file)]))

interface Bundler {
  bundlePackage(options: {
    readonly input: string
    readonly file: string
    readonly format: 'esm' | 'cjs'
  }): Promise<string[]>
}

/** Writes the files of all packages into a folder. @returns the modules in them, as paths */
export async function writePackages(folder: string): Promise<string[]> {
  const { bundlePackage }: Bundler = await import(join(ROOT, 'scripts/build/bundle.js'))
  const require = createRequire(join(ROOT, 'package.json'))
  // Below the checkout, from where the packages are found.
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  const drafts = mkdtempSync(join(ROOT, 'build/entries-'))
  try {
    const modules: string[] = []
    for (const { name, file, names } of FILES) {
      const input = join(drafts, file.replaceAll('/', '-'))
      const exported = names?.map((each) => (each === '*' ? '*' : `{ ${each} }`)) ?? []
      const text = names === null ? `module.exports = require('${name}')\n` : ''
      writeFileSync(input, text + exported.map((each) => `export ${each} from '${name}'\n`).join(''))
      modules.push(
        ...(await bundlePackage({ input, file: join(folder, file), format: names === null ? 'cjs' : 'esm' })),
      )
    }
    const worker = join(dirname(require.resolve('piscina')), 'worker.js')
    modules.push(...(await bundlePackage({ input: worker, file: join(folder, 'piscina/worker.js'), format: 'esm' })))
    copyDatabases(join(dirname(require.resolve('classic-level')), 'prebuilds'), join(folder, 'classic-level/prebuilds'))
    modules.push(copyHeaders(require.resolve(HEADERS.name), join(folder, HEADERS.file)))
    return modules
  } finally {
    rmSync(drafts, { recursive: true })
  }
}

function copyDatabases(from: string, to: string): void {
  for (const name of readdirSync(from).filter((each) => !RARE_MACHINES.test(each))) {
    cpSync(join(from, name), join(to, name), { recursive: true })
  }
}

/** Copies the headers for C, and writes the module that names their folder. @returns the module of the package */
function copyHeaders(module: string, file: string): string {
  cpSync(join(dirname(module), 'include'), join(dirname(file), 'include'), { recursive: true })
  writeFileSync(file, "exports.include_dir = require('node:path').join(__dirname, 'include')\n")
  return module
}
