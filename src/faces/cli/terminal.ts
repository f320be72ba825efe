/** The terminal and the process, as commands see them. */
import type { Keyboard } from './hotkeys.ts'
import type { Output, ProcessEnvironment } from './line.ts'

/** Outputs, environment and time of the terminal. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly environment: ProcessEnvironment
  /** The source of keys. */
  readonly keyboard?: Keyboard | undefined
  /** Unix time in milliseconds. */
  readonly nowMs: () => number
}

/** The version of the program, and the terminal that it runs in. */
export interface CommandContext extends Terminal {
  readonly version: string
  /** Reads stdin to its end. */
  readonly input: () => Uint8Array
  /** Runs a task with a signal that aborts when the user stops the program. */
  readonly untilStopped: <T>(task: (stopped: AbortSignal) => Promise<T>) => Promise<T>
}

/** Prints lines to an output. */
export function printerTo(out: Output): (line: string) => void {
  return (line) => void out.write(`${line}\n`)
}
