/** The parent's end of a GPU's child process: starts it, passes messages, and reports its end. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { describeError } from '#ground/base/errors.ts'
import { type GpuCommand, type GpuReport, LineReader, parseReport, REPORT_DESCRIPTOR } from './messages.ts'

export type LiveReport = Exclude<GpuReport, { readonly type: 'failed' }>

export interface ChildEnd {
  readonly reason: string
  /** Whether another start would fail in the same way. */
  readonly hopeless: boolean
}

interface ChildOptions {
  /** Environment variables in addition to those of this process, for example to choose a driver. */
  readonly env: Readonly<Record<string, string>>
  /** The program. Tests inject a faulty one instead of child.ts. */
  readonly program?: URL | undefined
  readonly onReport: (report: LiveReport) => void
  /** Called once, unless kill() ended it. */
  readonly onEnd: (end: ChildEnd) => void
}

/** The compiled program is next to this file, with the same extension. */
const PROGRAM = new URL(import.meta.url.endsWith('.ts') ? './child.ts' : './child.js', import.meta.url)
/** Length of the kept end of the child's stderr. */
const MAX_STDERR_CHARACTERS = 2000

export class GpuChild {
  readonly #options: ChildOptions
  readonly #process: ChildProcess
  readonly #exited: Promise<void>
  #ended = false
  #stderr = ''

  constructor(options: ChildOptions) {
    this.#options = options
    this.#process = spawn(process.execPath, [fileURLToPath(options.program ?? PROGRAM)], {
      env: { ...process.env, ...options.env },
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
      windowsHide: true,
    })
    this.#exited = new Promise((resolve) => {
      this.#process.once('exit', () => resolve())
      this.#process.once('error', () => resolve())
    })
    this.#process.once('error', (error) => this.#end(`it cannot be started: ${describeError(error)}`))
    this.#process.once('exit', (code, signal) => this.#end(this.#exitReason(code, signal)))
    // Writing to a dead child fails; its exit reports that.
    this.#process.stdin?.on('error', () => undefined)
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_CHARACTERS)
    })
    this.#read(this.#process.stdio[REPORT_DESCRIPTOR] as Readable)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  send(command: GpuCommand): void {
    if (!this.#ended) this.#process.stdin?.write(`${JSON.stringify(command)}\n`)
  }

  /**
   * Kills the child at once, whatever the device does. Nothing is reported afterwards. Resolves when the child is gone.
   */
  kill(): Promise<void> {
    this.#ended = true
    this.#process.kill('SIGKILL')
    return this.#exited
  }

  #read(stream: Readable): void {
    const lines = new LineReader()
    stream.setEncoding('utf8')
    // The pipe of a dying child may break; its exit reports that.
    stream.on('error', () => undefined)
    stream.on('data', (text: string) => {
      try {
        for (const line of lines.push(text)) this.#onLine(line)
      } catch (error) {
        this.#end(`it sent an invalid report: ${describeError(error)}`)
      }
    })
  }

  #onLine(line: string): void {
    if (this.#ended) return
    const report = parseReport(line)
    if (report === null) this.#end(`it sent an invalid report: ${JSON.stringify(line.slice(0, 60))}`)
    else if (report.type === 'failed') this.#end(report.message, report.hopeless)
    else this.#options.onReport(report)
  }

  #end(reason: string, hopeless = false): void {
    if (this.#ended) return
    void this.kill()
    this.#options.onEnd({ reason, hopeless })
  }

  #exitReason(code: number | null, signal: NodeJS.Signals | null): string {
    const how = signal === null ? `exit code ${code}` : signal
    const said = this.#stderr.trim().split('\n').at(-1) ?? ''
    return said === '' ? `it ended with ${how}` : `it ended with ${how}: ${said.slice(0, 200)}`
  }
}
