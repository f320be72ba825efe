/**
 * Builds packages for mining operating systems: build/packages/newcut-VERSION_hiveos.tar.gz and ..._mmpos.tar.gz. Each
 * has the folder newcut/ with the scripts of deploy/, the program and its dependencies, and a copy of this Node, since
 * rigs have none.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../root.ts'
import { copyProgram } from './program.ts'

/** The operating system, which selects the folder of deploy/. */
type System = 'hiveos' | 'mmpos'

export interface RigPackage {
  /** The package file. */
  readonly file: string
  readonly bytes: number
}

export interface RigOptions {
  /** Output folder. */
  readonly folder: string
  /** Whether to omit Node, which the rig must have then. */
  readonly withoutNode: boolean
}

export const packageHiveos = (args: readonly string[]) => run('hiveos', args)
export const packageMmpos = (args: readonly string[]) => run('mmpos', args)

async function run(system: System, args: readonly string[]): Promise<number> {
  const unknown = args.filter((arg) => arg !== 'without-node')
  if (unknown.length > 0) {
    console.error(`${system}: unknown argument ${unknown.join(' ')}; the only one is without-node`)
    return 2
  }
  const folder = join(ROOT, 'build/packages')
  const { file, bytes } = await packageFor(system, { folder, withoutNode: args.length > 0 })
  console.log(`${system}: ${file}, ${bytes} bytes, for ${process.platform} ${process.arch}`)
  return 0
}

/** Builds a package. Throws Error if npm or tar fails. */
export async function packageFor(system: System, { folder, withoutNode }: RigOptions): Promise<RigPackage> {
  const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const staging = mkdtempSync(join(tmpdir(), 'newcut-package-'))
  try {
    const inside = join(staging, 'newcut')
    mkdirSync(inside)
    copyScripts(system, inside, version)
    await copyProgram(join(inside, 'program'), { hasCards: true })
    if (!withoutNode) copyExecutable(process.execPath, join(inside, 'node'))
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `newcut-${version}_${system}.tar.gz`)
    const tar = ['-czf', file, '--owner=0', '--group=0', '-C', staging, 'newcut']
    const { status, stderr, error } = spawnSync('tar', tar, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`tar failed: ${error?.message ?? stderr}`)
    return { file, bytes: readFileSync(file).length }
  } finally {
    rmSync(staging, { recursive: true })
  }
}

/** Copies the system's scripts and the common ones, with `@VERSION@` replaced. */
function copyScripts(system: System, to: string, version: string): void {
  const own = readdirSync(join(ROOT, 'deploy', system)).map((name) => join(system, name))
  for (const path of [...own, 'newcut', 'rig-sheet.sh']) {
    const name = path.split('/').at(-1) ?? path
    const text = readFileSync(join(ROOT, 'deploy', path), 'utf8')
    writeFileSync(join(to, name), text.replaceAll('@VERSION@', version))
    if (!name.endsWith('.conf')) chmodSync(join(to, name), 0o755)
  }
}

function copyExecutable(from: string, to: string): void {
  copyFileSync(from, to)
  chmodSync(to, 0o755)
}
