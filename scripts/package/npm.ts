/** Creates the npm package as one file: build/packages/newcut-VERSION.tgz, which `npm publish FILE` accepts. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sourcesMark } from '../../src/mining/engine/cpu/native-files.ts'
import { ROOT } from '../root.ts'
import { prebuiltFile } from './kernels.ts'
import { writeManual } from './manual.ts'
import { writeStage } from './stage.ts'
import { targets } from './targets.ts'

interface Packed {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

interface PackageOptions {
  /** Takes the file. */
  readonly folder?: string
  /** Folder with the folder of prebuilt kernels. */
  readonly kernels?: string
}

/**
 * Writes the package into `folder`. Reports missing prebuilt kernels.
 * @returns exit code 1 if packing fails, or if the package would contain files without a source
 */
export async function packageNpm(
  args: readonly string[],
  { folder = join(ROOT, 'build/packages'), kernels = ROOT }: PackageOptions = {},
): Promise<number> {
  if (args.length > 0) return refuse(`it takes no arguments, and not ${args.join(' ')}`, 2)
  mkdirSync(folder, { recursive: true })
  const stage = mkdtempSync(join(folder, 'stage-'))
  try {
    const failure = await stagePackage(stage, kernels)
    if (failure !== null) return refuse(failure)
    const packed = pack(['--pack-destination', folder], stage)
    if (typeof packed === 'string') return refuse(packed)
    const { filename, files, size, unpackedSize } = packed
    for (const { name } of targets) {
      if (existsSync(prebuiltFile(name, stage))) continue
      console.log(`npm: the kernel for ${name} is missing; build it with npm run package -- kernels ${name}`)
    }
    console.log(`npm: ${join(folder, filename)}, ${files.length} files, ${size} bytes, unpacked ${unpackedSize}`)
    return 0
  } finally {
    rmSync(stage, { recursive: true })
  }
}

/**
 * Makes the published package as a folder.
 * @returns why it must not be published, or null
 */
export async function stagePackage(stage: string, kernels: string = ROOT): Promise<string | null> {
  writeManual()
  const listed = pack(['--dry-run'], ROOT)
  if (typeof listed === 'string') return listed
  const built = targets.filter(({ name }) => existsSync(prebuiltFile(name, kernels)))
  const stale = built.filter(({ name }) => !readFileSync(prebuiltFile(name, kernels)).includes(sourcesMark()))
  if (stale.length > 0) {
    return `the kernels for ${stale.map(({ name }) => name).join(', ')}: made from sources that have changed; remove them`
  }
  await writeStage(
    listed.files.map(({ path }) => path),
    stage,
  )
  for (const { name } of built) cpSync(prebuiltFile(name, kernels), prebuiltFile(name, stage))
  return null
}

/**
 * Packs `root` with npm, without scripts because everything is compiled. @returns the result, or the problem as text
 */
export function pack(options: readonly string[], root: string = ROOT): Packed | string {
  const args = ['pack', '--json', '--ignore-scripts', ...options]
  // On Windows npm is a script, which needs a shell.
  const run = spawnSync('npm', args, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' })
  if (run.error !== undefined) return `npm does not run: ${run.error.message}`
  if (run.status !== 0) return `npm pack failed: ${run.stderr.trim().split('\n').at(-1)}`
  const [packed]: Packed[] = JSON.parse(run.stdout)
  return packed
}

function refuse(reason: string, code = 1): number {
  console.error(`npm: not packaged: ${reason}`)
  return code
}
