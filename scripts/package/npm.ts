/** Creates the npm package as one file: build/packages/newcut-VERSION.tgz, which `npm publish FILE` accepts. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sourcesMark } from '../../src/mining/engine/cpu/native-files.ts'
import { prebuiltFile, ROOT } from './kernels.ts'
import { writeManual } from './manual.ts'
import { targets } from './targets.ts'

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

/**
 * Writes the manual page and the package of `root` into build/packages. Reports missing prebuilt kernels.
 * @returns exit code 1 if packing fails, or if the package would contain files without a source
 */
export function packageNpm(args: readonly string[], root: string = ROOT): number {
  if (args.length > 0) return refuse(`it takes no arguments, and not ${args.join(' ')}`, 2)
  writeManual(root)
  const files = pack(['--dry-run'], root)
  if (typeof files === 'string') return refuse(files)
  const stale = staleFiles(
    files.files.map(({ path }) => path),
    root,
  )
  if (stale.length > 0) return refuse(`${stale.join(', ')}: made from sources that have changed; remove them`)
  for (const { name } of targets) {
    if (existsSync(prebuiltFile(name, root))) continue
    console.log(`npm: the kernel for ${name} is missing; build it with npm run package -- kernels ${name}`)
  }
  const folder = join(root, 'build/packages')
  mkdirSync(folder, { recursive: true })
  const packed = pack(['--pack-destination', folder], root)
  if (typeof packed === 'string') return refuse(packed)
  console.log(`npm: ${join(folder, packed.filename)}, ${packed.files.length} files, ${packed.size} bytes`)
  return 0
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

/** The paths whose source is gone, and kernels of other sources. */
export function staleFiles(paths: readonly string[], root: string = ROOT): string[] {
  const mark = sourcesMark()
  return paths.filter((path) => {
    if (path.startsWith('prebuilds/')) return !readFileSync(join(root, path)).includes(mark)
    // Copied from another package.
    if (path.startsWith('dist/src/faces/web/dashboard/kept/')) return false
    // The build makes them of other compiled files, each time.
    if (/^dist\/src\/(?:bundled|faces\/web\/[a-z-]+\/served)\//.test(path)) return false
    const compiled = /^dist\/(.+?)(?:\.d\.ts|\.js)$/.exec(path)
    return compiled !== null && !existsSync(join(root, `${compiled[1]}.ts`))
  })
}

function refuse(reason: string, code = 1): number {
  console.error(`npm: not packaged: ${reason}`)
  return code
}
