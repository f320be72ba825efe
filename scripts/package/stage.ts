/**
 * Makes the published package as a folder. It has no modules and no dependencies that run: programs and
 * entries share bundled files, and packages with files of their own lie in dist/packages.
 */
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path/posix'
import { ROOT } from '../root.ts'
import { licensesOf } from './licenses.ts'
import { packageFiles, writePackages } from './packages.ts'
import { copyTypes } from './types.ts'

/** Programs that newcut starts as threads and processes: modules below dist/, without their ending. */
const PROGRAMS: readonly string[] = [
  'src/compose/install',
  'src/devnet/debugging/thread',
  'src/language/debugger/thread',
  'src/mining/engine/cpu/thread',
  'src/mining/engine/gpu/child',
  'bench/delay-proxy',
  'bench/fleet-load',
  'bench/footprint-child',
  'bench/hostile/probe-child',
  'bench/hostile/probe-worker',
  'bench/node-server',
  'bench/radv-child',
  'bench/relay-child',
  'bench/slices-thread',
  'bench/stratum-load',
  'bench/transfers-child',
]

/** Bundles of packages that the build has made, each one module. */
const BUNDLED = ['client/node/undici', 'faces/api/prom-client', 'ground/platform/fastify', 'ground/schema/typebox'].map(
  (name) => `dist/src/${name}.js`,
)

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types?: string; readonly default: string }>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

/** The part of scripts/build/bundle.js that is used. It is not compiled. */
interface Bundler {
  bundleCommands(options: {
    readonly folder: string
    readonly programs: Readonly<Record<string, string>>
    readonly packages: Readonly<Record<string, string>>
  }): Promise<string[]>
}

/**
 * Writes the package into a folder, except the prebuilt kernels.
 * @param files what package.json lists: everything but compiled modules and types
 */
export async function writeStage(files: readonly string[], stage: string): Promise<void> {
  for (const path of [...files, ...BUNDLED]) {
    mkdirSync(dirname(join(stage, path)), { recursive: true })
    cpSync(join(ROOT, path), join(stage, path))
  }
  const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const { bundleCommands }: Bundler = await import(join(ROOT, 'scripts/build/bundle.js'))
  const entries = [...PROGRAMS, ...entriesOf(manifest)]
  const modules = await bundleCommands({
    folder: join(stage, 'dist/src/bundled/'),
    programs: Object.fromEntries(entries.map((name) => [fileOf(name), join(ROOT, `dist/${name}.js`)])),
    packages: packageFiles(join(ROOT, 'dist/packages')),
  })
  for (const name of entries) writeEntry(name, stage)
  writeMain(stage)
  const packaged = await writePackages(join(stage, 'dist/packages'))
  copyTypes(typesOf(manifest), ROOT, stage)
  const inBundles = BUNDLED.flatMap((path) => modulesNamedIn(join(ROOT, path)).map((name) => join(ROOT, name)))
  writeFileSync(join(stage, 'dist/LICENSES.txt'), licensesOf([...modules, ...packaged, ...inBundles], ROOT))
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`)
}

/** The modules of the exports, below dist/. */
const entriesOf = ({ exports }: Manifest): string[] =>
  Object.values(exports)
    .map((entry) => (typeof entry === 'string' ? entry : entry.default))
    .flatMap((path) => /^\.\/dist\/(.+)\.js$/.exec(path)?.[1] ?? [])

const typesOf = ({ exports }: Manifest): string[] =>
  Object.values(exports).flatMap((entry) => (typeof entry === 'string' || !entry.types ? [] : [join(entry.types)]))

/** The modules of packages that a bundle of the build names above their code. */
const modulesNamedIn = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^\/\/ (node_modules\/.+)$/gm)].map(([, name]) => name)

/** Name of the bundled file of a program or an entry. */
const fileOf = (name: string): string => name.replaceAll('/', '-')

/** Writes a module at the place of a program or an entry, which leads to its bundled file. */
function writeEntry(name: string, stage: string): void {
  const file = join(stage, `dist/${name}.js`)
  const bundled = join(stage, `dist/src/bundled/${fileOf(name)}.js`)
  const from = relative(dirname(file), bundled)
  const path = from.startsWith('.') ? from : `./${from}`
  const hasDefault = /\bas default\b|^export default /m.test(readFileSync(bundled, 'utf8'))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `export * from '${path}'\n${hasDefault ? `export { default } from '${path}'\n` : ''}`)
}

function writeMain(stage: string): void {
  const file = join(stage, 'dist/src/main.js')
  writeFileSync(file, "#!/usr/bin/env node\nimport './bundled/newcut.js'\n")
  chmodSync(file, 0o755)
}

/** Fields that only a checkout needs. */
const OWN_FIELDS = ['private', 'scripts', 'files', 'devDependencies', 'allowScripts']

function publishedManifest(manifest: Manifest): Record<string, unknown> {
  const fields = Object.fromEntries(Object.entries(manifest).filter(([name]) => !OWN_FIELDS.includes(name)))
  const { typebox } = manifest.dependencies
  // The types of the entries are made of its types.
  return { ...fields, dependencies: { typebox } }
}
