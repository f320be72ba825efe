/**
 * Builds the compiled kernels of the package: prebuilds/PLATFORM-ARCH/newcut-kernel.node, the layout of node-gyp-build.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KERNEL, sourcesMark } from '../../src/mining/engine/cpu/native-files.ts'
import { compilePart } from '../../src/mining/engine/native/compile.ts'
import { ROOT } from '../root.ts'
import { type Target, targets, toolOf } from './targets.ts'

const HOST = `${process.platform}-${process.arch}`

/** Path of a target's kernel in `folder`, the root of the package. */
export function prebuiltFile(target: string, folder: string = ROOT): string {
  return join(folder, 'prebuilds', target, 'newcut-kernel.node')
}

/**
 * Builds the kernels of these targets, or all, and prints one line each.
 * @returns exit code 1 if a named kernel could not be built or a built one is unusable, 2 for an unknown name
 */
export async function packageKernels(names: readonly string[], folder: string = ROOT): Promise<number> {
  const known = targets.map(({ name }) => name)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    console.error(`npm run package -- kernels: no kernel ${unknown.join(', ')}; choose from ${known.join(', ')}`)
    return 2
  }
  let code = 0
  for (const target of targets) {
    if (names.length > 0 && !names.includes(target.name)) continue
    const file = prebuiltFile(target.name, folder)
    const lack = toolchainLack(target)
    const failure = lack ?? (await buildKernel(target, file))
    if (failure === null) {
      console.log(`kernel ${target.name}: built, ${statSync(file).size} bytes`)
      continue
    }
    // Remove an older file, which must not be published instead.
    rmSync(file, { force: true })
    console.log(`kernel ${target.name}: not built: ${failure}`)
    if (lack === null || names.length > 0) code = 1
  }
  return code
}

/** @returns why a target's toolchain is unusable here, as a sentence, or null */
export function toolchainLack(target: Target): string | null {
  const tools = ['gcc', target.lister[0], ...(isWindows(target) ? ['dlltool'] : [])]
  const missing = tools
    .map((tool) => toolOf(target, tool, HOST))
    .filter((tool) => spawnSync(tool, ['--version']).status !== 0)
  if (missing.length === 0) return null
  return `there is no ${missing.join(', no ')} (Debian has it in ${target.debian})`
}

/** Builds `file`. @returns null if it is usable, else the problem */
async function buildKernel(target: Target, file: string): Promise<string | null> {
  const libraries = mkdtempSync(join(tmpdir(), 'newcut-package-'))
  try {
    const imports = isWindows(target) ? importLibraries(target, libraries) : []
    rmSync(file, { force: true })
    const compiler = toolOf(target, 'gcc', HOST)
    const failure = await compilePart({ part: KERNEL, output: file, compiler, flags: [...target.flags, ...imports] })
    return failure ?? faultOf(target, file)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    rmSync(libraries, { recursive: true })
  }
}

/**
 * Creates import libraries of Node's functions for Windows from the lists in node-api-headers.
 * @returns linker options
 */
function importLibraries(target: Target, folder: string): string[] {
  const { def_paths: lists } = createRequire(import.meta.url)('node-api-headers')
  const paths: string[] = Object.values(lists)
  return [
    `-L${folder}`,
    ...paths.map((path, index) => {
      const library = join(folder, `libnode${index}.a`)
      const run = spawnSync(toolOf(target, 'dlltool', HOST), ['-d', path, '-l', library], { encoding: 'utf8' })
      if (run.status !== 0) throw new Error(`dlltool failed: ${run.stderr.split('\n')[0]}`)
      return `-lnode${index}`
    }),
  ]
}

/** @returns why a built file must not be published, or null */
export function faultOf(target: Target, file: string): string | null {
  if (!readFileSync(file).includes(sourcesMark())) return 'it is not of these sources'
  const [tool, ...args] = target.lister
  const run = spawnSync(toolOf(target, tool, HOST), [...args, file], { encoding: 'utf8' })
  if (run.status !== 0) return `${tool} failed: ${run.stderr.split('\n')[0]}`
  const needs = run.stdout.split('\n').filter((line) => /^\s+U |DLL Name:/.test(line))
  const others = needs.filter((line) => !target.mayNeed.test(line.trimEnd()))
  if (others.length > 0) return `it needs ${others.map((line) => line.trim()).join(', ')}`
  return needs.length === 0 ? 'it needs nothing of Node' : null
}

function isWindows(target: Target): boolean {
  return target.name.startsWith('win32')
}
