/**
 * An external worker: a program that runs once for each piece of work (PROTOCOL.md G). It gets the target as its last
 * argument and the work on stdin, and prints a nonce:
 *
 *     argument: target, 64 hex digits, little-endian      stdin: work bytes, then the end
 *     stdout: nonce, 16 hex digits, big-endian [|| ' ' || hashes || ' ' || hashes per second]      exit code 0
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { encodeHex, u256LE } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import type { DeviceStatus, Engine, EngineEvents, EngineWork } from './engine.ts'

interface ExternalEngineOptions {
  /** Run by the shell; the target is appended. */
  readonly command: string
  readonly clock: Clock
}

const FIXED_NONCE = 'an external command cannot search work in which a pool fixes a part of the nonce'
const FIRST_PAUSE_MS = 500
/** Maximum backoff: a repaired program searches again within this time. */
const MAX_PAUSE_MS = 30_000
/** How long a restarted program has to run until it counts as searching. One that fails at once never does. */
const PROVEN_MS = 5000
/** Limit of the output; no answer is as long. */
const MAX_OUTPUT_BYTES = 4096
/** A nonce and optionally the number of hashes. Ignores the rest. */
const ANSWER = /^([0-9a-fA-F]{16})(?=\s|$)(?:\s+(\d{1,15})(?=\s|$))?/

export class ExternalEngine implements Engine {
  readonly name = 'external'
  readonly #options: ExternalEngineOptions
  #events: EngineEvents | null = null
  #work: EngineWork | null = null
  #child: ChildProcess | null = null
  #cancelRestart: () => void = () => undefined
  #pauseMs = FIRST_PAUSE_MS
  /** When a program that failed is started again. */
  #notBeforeMs = 0
  readonly #killAtExit = () => this.#kill()
  #hashes = 0
  #faults = 0
  /** Why the last program failed, or null after a good answer. */
  #failure: string | null = null
  /** Whether an external program cannot search the current work. */
  #unable = false
  #hasWarned = false

  constructor(options: ExternalEngineOptions) {
    this.#options = options
  }

  async start(_workBytes: number, events: EngineEvents): Promise<void> {
    this.#events = events
    // The program has a process group of its own, so it would outlive this process.
    process.on('exit', this.#killAtExit)
  }

  /** A program that already searches this job, or will soon, keeps the older creation time. */
  async setWork(work: EngineWork): Promise<boolean> {
    if (this.#events === null) return false
    const searched = this.#work
    if (searched !== null && isSameSearch(searched, work)) return true
    this.#kill()
    this.#work = work
    this.#unable = work.bytes !== null && work.fixedNonce.bits > 0
    if (this.#unable) this.#warnOfFixedNonce()
    // New work does not shorten the backoff of a failing program.
    else this.#launchAfter(this.#notBeforeMs - this.#options.clock.monotonicMs())
    return true
  }

  hashes(): number {
    return this.#hashes
  }

  devices(): readonly DeviceStatus[] {
    const kernel = programOf(this.#options.command)
    const base = { device: 'command', kernel, hashes: this.#hashes, faults: this.#faults }
    if (this.#unable) return [{ ...base, state: 'unable', reason: FIXED_NONCE }]
    const isProven = this.#options.clock.monotonicMs() >= this.#notBeforeMs + PROVEN_MS
    if (this.#failure === null || isProven) return [base]
    return [{ ...base, state: 'restarting', reason: this.#failure }]
  }

  async stop(): Promise<void> {
    this.#events = null
    process.off('exit', this.#killAtExit)
    this.#kill()
  }

  #warnOfFixedNonce(): void {
    if (!this.#hasWarned) this.#events?.onWarning(FIXED_NONCE)
    this.#hasWarned = true
  }

  #launchAfter(delayMs: number): void {
    if (delayMs <= 0) this.#launch()
    else this.#cancelRestart = this.#options.clock.after(delayMs, () => this.#launch())
  }

  #launch(): void {
    const work = this.#work
    if (work === null || work.bytes === null || this.#events === null) return
    const command = `${this.#options.command} ${encodeHex(u256LE(work.target))}`
    // A process group of its own, so that #kill reaches all processes of the shell.
    const child = spawn(command, {
      shell: true,
      detached: process.platform !== 'win32',
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child = child
    let out = ''
    let complaint = ''
    child.stdout.on('data', (bytes) => {
      out = (out + bytes).slice(0, MAX_OUTPUT_BYTES)
    })
    child.stderr.on('data', (bytes) => {
      complaint = (complaint + bytes).slice(-MAX_OUTPUT_BYTES)
    })
    // A program may close its input early. Its exit code shows whether it failed.
    child.stdin.on('error', () => child.stdin.destroy())
    child.stdin.end(work.bytes)
    child.on('error', (error) => this.#onEnd(child, work, `does not start: ${error.message}`, ''))
    child.on('close', (code, signal) => {
      const lastLine = complaint.trim().split('\n').pop() ?? ''
      const failure = code === 0 ? null : `ended with ${signal ?? `exit code ${code}`}${lastLine && `: ${lastLine}`}`
      this.#onEnd(child, work, failure, out)
    })
  }

  #onEnd(child: ChildProcess, work: EngineWork, failure: string | null, out: string): void {
    if (child !== this.#child) return
    this.#child = null
    const answer = failure === null ? readAnswer(out) : null
    if (answer === null) {
      this.#faults++
      const what = failure ?? `printed ${JSON.stringify(out.slice(0, 80))}, expected a nonce of 16 hex digits`
      this.#failure = `the external command ${what}`
      this.#events?.onWarning(this.#failure)
    } else {
      this.#failure = null
      this.#pauseMs = FIRST_PAUSE_MS
      this.#hashes += answer.hashes
      this.#events?.onCandidate({ sequence: work.sequence, nonce: answer.nonce, device: 'command' })
    }
    // A good nonce leads to new work. Otherwise the nonce was bad or the program failed: try again.
    if (this.#child !== null || this.#work !== work) return
    this.#launchAfter(this.#pauseMs)
    if (answer !== null) return
    this.#notBeforeMs = this.#options.clock.monotonicMs() + this.#pauseMs
    this.#pauseMs = Math.min(MAX_PAUSE_MS, 2 * this.#pauseMs)
  }

  #kill(): void {
    this.#cancelRestart()
    const { pid } = this.#child ?? {}
    this.#child = null
    if (pid === undefined) return
    try {
      // Windows has no process groups; only the shell is killed.
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
    } catch (error) {
      // It has ended by itself in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/** The program without arguments and variables, which may be secret: the device list is public. */
function programOf(command: string): string {
  return /^[\w.:/\\-]+(?=\s|$)/.exec(command.trim())?.[0] ?? 'shell command'
}

/**
 * Parses the output of a program.
 * @returns the nonce with the number of hashes (0 if unknown), or null if the line is not an answer
 */
export function readAnswer(out: string): { readonly nonce: bigint; readonly hashes: number } | null {
  const answer = ANSWER.exec(out.trim())
  return answer && { nonce: BigInt(`0x${answer[1]}`), hashes: Number(answer[2] ?? 0) }
}

function isSameSearch(a: EngineWork, b: EngineWork): boolean {
  return a.bytes !== null && b.bytes !== null && a.job === b.job && a.target === b.target
}
