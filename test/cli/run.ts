/**
 * Runs the compiled command line, either in this process with injected outputs and environment, or in a process of its
 * own. The latter is for tests of signals, exit codes, process files and terminals.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFailed, TestRunner } from 'vitest'
import { newcut } from '../../src/commands/command-line.ts'
import { type ErrorCode, errorCodes } from '../../src/ground/base/errors.ts'
import { exitCodeOf } from '../../src/ground/base/exit-codes.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { packageVersion } from '../../src/ground/platform/version.ts'
import { childEnv } from '../children.ts'

const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))

/** Options for a miner that only has to run: one thread, whose kernel is ready at once. */
export const SMALL_SEARCH = ['--gpu', 'none', '--threads', '1', '--kernel', 'js']

export interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** The stdout text so far. */
  readonly out: () => string
  /** The stderr text so far. */
  readonly err: () => string
  /** Resolves with the match as soon as stdout contains it; rejects if the process ends first. */
  readonly sees: (pattern: RegExp) => Promise<RegExpExecArray>
}

const running = new Set<ChildProcess>()
/** Characters of a command's output that a failed test shows. */
const SHOWN_CHARACTERS = 2000

/** Starts `newcut` with these arguments. `env` is added to a bare environment. */
export function start(args: readonly string[], env: Record<string, string> = {}, input?: string | Uint8Array): Running {
  return startScript(main, args, env, input)
}

/** Like `start`, with `nodeOptions` for Node itself. */
export function startWith(
  nodeOptions: readonly string[],
  args: readonly string[],
  env: Record<string, string> = {},
): Running {
  return launch([...nodeOptions, main, ...args], env)
}

/** Like `start`, for another script. */
export function startScript(
  script: string,
  args: readonly string[],
  env: Record<string, string> = {},
  input?: string | Uint8Array,
): Running {
  return launch([script, ...args], env, input)
}

function launch(args: readonly string[], env: Record<string, string>, input?: string | Uint8Array): Running {
  const child = spawn(process.execPath, args, {
    env: { ...childEnv, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  running.add(child)
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  let out = ''
  let err = ''
  child.stdout.on('data', (bytes) => {
    out += bytes
  })
  child.stderr.on('data', (bytes) => {
    err += bytes
  })
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal, out, err })
    })
  })
  const sees = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(out)
        if (match === null) return
        child.stdout.off('data', look)
        resolve(match)
      }
      child.stdout.on('data', look)
      void ended.then((result) => reject(new Error(`${pattern} not seen: ${JSON.stringify(result)}`)))
      look()
    })
  shownOnFailure(args, () => out + err)
  return { child, ended, out: () => out, err: () => err, sees }
}

/** Makes a failed test show the end of its commands' output. */
function shownOnFailure(args: readonly string[], output: () => string): void {
  // Commands of a beforeAll belong to no test.
  if (TestRunner.getCurrentTest() === undefined) return
  onTestFailed(() => console.log(`newcut ${args.join(' ')}:\n${output().slice(-SHOWN_CHARACTERS)}`))
}

/** Runs `newcut` in a process of its own until it exits. */
export function runProcess(
  args: readonly string[],
  env?: Record<string, string>,
  input?: string | Uint8Array,
): Promise<Ended> {
  return start(args, env, input).ended
}

/** A command that runs in this process. */
export interface RunningHere extends Omit<Running, 'child'> {
  /** Stops the command as SIGTERM stops a process. */
  readonly stop: () => Promise<Ended>
}

const stops = new Set<() => Promise<Ended>>()

/** Starts `newcut` in this process, through the function that main.ts calls. */
export function startHere(
  args: readonly string[],
  env: Record<string, string> = {},
  input: string | Uint8Array = '',
): RunningHere {
  const [out, err] = [new Text(), new Text()]
  const stopped = new AbortController()
  const ended = newcut(args, {
    version: packageVersion,
    environment: { PATH: process.env.PATH, ...env },
    out,
    err,
    input: () => Buffer.from(input),
    nowMs: systemClock.wallMs,
    untilStopped: (task) => task(stopped.signal),
  }).then((code): Ended => ({ code, signal: null, out: out.text, err: err.text }))
  const stop = () => {
    stopped.abort()
    return ended
  }
  stops.add(stop)
  void ended.finally(() => stops.delete(stop))
  shownOnFailure(args, () => out.text + err.text)
  return { ended, stop, out: () => out.text, err: () => err.text, sees: (pattern) => out.sees(pattern, ended) }
}

/** Runs `newcut` in this process until it ends. */
export function run(
  args: readonly string[],
  env?: Record<string, string>,
  input?: string | Uint8Array,
): Promise<Ended> {
  return startHere(args, env, input).ended
}

/** An output that keeps its text. */
class Text {
  text = ''
  readonly #readers = new Set<() => void>()

  write(text: string): boolean {
    this.text += text
    for (const look of this.#readers) look()
    return true
  }

  sees(pattern: RegExp, ended: Promise<Ended>): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.text)
        if (match === null) return
        this.#readers.delete(look)
        resolve(match)
      }
      this.#readers.add(look)
      void ended.then((result) => reject(new Error(`${pattern} not seen: ${JSON.stringify(result)}`)))
      look()
    })
  }
}

/** The exit code that belongs to the error that the program printed, as text or JSON. */
export function exitCodeFor({ out, err }: Ended): number {
  const [, code = ''] = /\[([A-Z_]+)\]\s*$/.exec(err) ?? /"code":"([A-Z_]+)"/.exec(out) ?? []
  if (!(code in errorCodes)) throw new Error(`no error code: ${err}${out}`)
  return exitCodeOf(code as ErrorCode)
}

/** For afterEach: kills processes that a failed test left running. */
export async function stopAll(): Promise<void> {
  for (const child of running) child.kill('SIGKILL')
  await Promise.all([...stops].map((stop) => stop()))
}
