/** Copies the runnable program: the files of the npm package, without those of other machines and for programmers. */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ROOT } from '../root.ts'
import { stagePackage } from './npm.ts'

/** Files that a machine with Linux does not need: drivers and databases of other machines, and documents. */
const USELESS = /(^|\/)(webgpu\/dist\/(?!linux)|prebuilds\/(?!linux))|\.(map|md|markdown|d\.ts)$/

interface ProgramOptions {
  /** Whether its GPUs mine: the program then has the package `webgpu`. */
  readonly hasCards: boolean
}

/** Copies the program into a new folder. Throws Error if npm fails. */
export async function copyProgram(to: string, { hasCards }: ProgramOptions): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), 'newcut-program-'))
  try {
    const failure = await stagePackage(stage)
    if (failure !== null) throw new Error(failure)
    copyUseful(stage, to)
    const cards = join(ROOT, 'node_modules/webgpu')
    if (hasCards && existsSync(cards)) copyUseful(cards, join(to, 'node_modules/webgpu'))
  } finally {
    rmSync(stage, { recursive: true })
  }
}

function copyUseful(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (source) => !USELESS.test(relative(join(from, '..'), source)) })
}
