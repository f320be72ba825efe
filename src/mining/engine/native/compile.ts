/** Compiles a native part with the C compiler of this machine: its units at the same time. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeFolders, moveInto, temporaryNameOf } from '#ground/base/replace-file.ts'
import { COMMON_OPTIONS, inRoot, markOf, type NativePart } from './part.ts'

/** Timeout of one run of the compiler. */
const MAX_RUN_MS = 120_000
/** Limit of what a run may print: a compiler may complain about each line. */
const MAX_OUTPUT_CHARACTERS = 100_000

interface CompileRequest {
  readonly part: NativePart
  /** The file, which is replaced when complete: several processes may compile and load it at once. */
  readonly output: string
  /** Command of the compiler, perhaps with options. */
  readonly compiler: string
  /** Further options, such as those for another machine. */
  readonly flags?: readonly string[]
}

/** @returns null on success, or why there is no file. The old file is then unchanged. */
export async function compilePart({ part, output, compiler, flags = [] }: CompileRequest): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-compile-'))
  try {
    const { include_dir: include } = createRequire(import.meta.url)('node-api-headers') as { include_dir: string }
    const options = [...COMMON_OPTIONS, ...part.options, `-DSOURCES="${markOf(part)}"`, '-I', include]
    const objects = part.units.map((unit) => join(folder, unit.replace(/\.c$/, '.o')))
    const runs = part.units.map((unit, i) => () => {
      const source = inRoot(join(part.folder, unit))
      return run(compiler, [...options, ...flags, '-c', '-o', objects[i], source])
    })
    const failure = await firstFailure(runs, availableParallelism())
    if (failure !== null) return failure
    makeFolders(dirname(output))
    const draft = temporaryNameOf(output)
    const shared = process.platform === 'darwin' ? ['-shared', '-undefined', 'dynamic_lookup'] : ['-shared']
    const linking = await run(compiler, [...shared, ...part.options, '-o', draft, ...objects, ...flags])
    if (linking === null) moveInto(draft, output)
    else rmSync(draft, { force: true })
    return linking
  } catch (error) {
    return (error as Error).message.split('\n')[0]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the tasks, at most `width` at a time, and no more after a failure. */
async function firstFailure(tasks: readonly (() => Promise<string | null>)[], width: number): Promise<string | null> {
  const left = [...tasks]
  let failure: string | null = null
  const work = async () => {
    for (let task = left.shift(); task !== undefined && failure === null; task = left.shift()) failure ??= await task()
  }
  await Promise.all(Array.from({ length: width }, work))
  return failure
}

/** @returns null on success, or the failure in a sentence */
function run(compiler: string, args: readonly string[]): Promise<string | null> {
  const [command, ...first] = compiler.split(/\s+/)
  return new Promise((resolve) => {
    const child: ChildProcess = spawn(command, [...first, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      windowsHide: true,
    })
    // Not spawn's own timeout, which keeps the process alive if there is no such command.
    const timer = setTimeout(() => child.kill('SIGKILL'), MAX_RUN_MS)
    const end = (failure: string | null) => {
      clearTimeout(timer)
      resolve(failure)
    }
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, MAX_OUTPUT_CHARACTERS)
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      end(error.code === 'ENOENT' ? `there is no C compiler ${command}` : error.message)
    })
    child.on('close', (code, signal) => {
      if (code === 0) return end(null)
      const complaints = said.split('\n').filter((line) => line !== '')
      const complaint =
        complaints.find((line) => line.includes('error')) ?? complaints[0] ?? signal ?? 'it printed no reason'
      end(`${compiler} failed: ${complaint}`)
    })
  })
}
