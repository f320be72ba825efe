/** The TypeScript compiler, for tests of declarations and of programs in documents. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const TSC = join(root, 'node_modules/typescript/bin/tsc')

export interface Fault {
  /** Absolute path; empty if the fault has no place. */
  readonly file: string
  /** From 1; 0 if the fault has no place. */
  readonly line: number
  /** Such as `TS2345`. */
  readonly code: string
  readonly text: string
}

/**
 * Type-checks all files in one process, as the project in `folder`, whose tsconfig.json it writes.
 * @param options compilerOptions
 * @throws Error if the compiler does not run
 */
export function faultsOf(files: readonly string[], folder: string, options: Record<string, unknown>): Fault[] {
  const compilerOptions = { strict: true, noEmit: true, types: [], ...options }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  return runCompiler(['-p', folder], folder)
}

/** Writes the declarations of newcut, from which programs that import it are checked. */
export function writeDeclarations(): void {
  const faults = runCompiler(['-b', root], root)
  if (faults.length > 0) throw new Error(`declarations: ${JSON.stringify(faults)}`)
}

function runCompiler(args: readonly string[], cwd: string): Fault[] {
  const run = spawnSync(process.execPath, [TSC, ...args, '--pretty', 'false'], { cwd, encoding: 'utf8' })
  if (run.error !== undefined) throw run.error
  const faults = [...run.stdout.matchAll(/^(?:(.+)\((\d+),\d+\): )?error (TS\d+): (.*(?:\n {2,}.*)*)$/gm)].map(
    ([, file, line, code, text]) => ({
      file: file === undefined ? '' : resolve(cwd, file),
      line: Number(line ?? 0),
      code,
      text: text.replace(/\n\s*/g, ' '),
    }),
  )
  if (run.status !== 0 && faults.length === 0) throw new Error(`tsc failed: ${run.stderr}${run.stdout}`)
  return faults
}
