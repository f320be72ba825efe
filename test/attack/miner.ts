/** The real miner in a process of its own, and its output. Only this file knows how to start it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { childEnv } from '../children.ts'

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))

/** The content of one line of the miner's log. */
export interface LogLine {
  readonly kind:
    | 'handed-in'
    | 'acknowledged'
    | 'confirmed'
    | 'stale'
    | 'orphaned'
    | 'rejected'
    | 'lost'
    | 'idle'
    | 'work'
    | 'summary'
    | 'complaint'
    | 'other'
  /** Block hash of a solution, base64url. */
  readonly hash: string | null
  /** Whether the line calls the block of the solution accepted. */
  readonly claims: boolean
  /** Number of accepted blocks, if the line has it. */
  readonly accepted: number | null
  readonly line: string
}

/** Parses a line of `--log json`. For `--log text` it only sees whether the line is a complaint. */
export function readLine(line: string): LogLine {
  const other: LogLine = { kind: 'other', hash: null, claims: false, accepted: null, line }
  let record: Record<string, unknown>
  try {
    record = JSON.parse(line)
  } catch {
    return /^\S+ (trouble|warning)/.test(line) ? { ...other, kind: 'complaint' } : other
  }
  const { event, level, counts, hash = null } = record as { event?: string; level?: string; [key: string]: unknown }
  if (event === 'solution') {
    const accepted = (counts as { accepted?: number } | undefined)?.accepted ?? null
    const kind = record.step as LogLine['kind']
    const claims = kind === 'confirmed' || record.verdict === 'accepted'
    return { kind, hash: hash as string | null, claims, accepted, line }
  }
  if (event === 'idle' || event === 'work' || event === 'summary') return { ...other, kind: event }
  return level === 'warn' || level === 'error' ? { ...other, kind: 'complaint' } : other
}

export interface Ended {
  readonly code: number | null
  readonly signal: string | null
}

const running = new Set<Miner>()

export class Miner {
  readonly lines: LogLine[] = []
  readonly ended: Promise<Ended>
  out = ''
  err = ''
  /** null while the miner runs. */
  end: Ended | null = null
  readonly #child: ChildProcess
  #unread = ''

  constructor(args: readonly string[]) {
    running.add(this)
    this.#child = spawn(process.execPath, [MAIN, ...args], { env: childEnv, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.stdout?.on('data', (bytes: Buffer) => this.#hear(bytes.toString()))
    this.#child.stderr?.on('data', (bytes: Buffer) => {
      this.err += bytes
    })
    this.ended = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        running.delete(this)
        this.end = { code, signal }
        resolve(this.end)
      })
    })
  }

  /** Requests a path of the HTTP server. Null before the miner has printed its address, and after the miner ended. */
  async fetchPath(path: string): Promise<{ readonly status: number; readonly text: string } | null> {
    const [, url] = /(http:\/\/127\.0\.0\.1:\d+)\/metrics/.exec(this.out) ?? []
    if (url === undefined || this.end !== null) return null
    try {
      const answer = await fetch(url + path)
      return { status: answer.status, text: await answer.text() }
    } catch {
      // Only a miner that is exiting refuses to answer.
      await this.ended
      return null
    }
  }

  /** Total hashes so far. */
  async hashes(): Promise<number> {
    return JSON.parse((await this.fetchPath('/api/summary'))?.text ?? '{}').hashes ?? 0
  }

  /** Whether the miner has printed its fatal error. */
  get hasFatalError(): boolean {
    return this.lines.some(({ line }) => line.includes('"event":"error"'))
  }

  /** Resident memory in MiB, or null if the system does not report it. */
  get memoryMiB(): number | null {
    try {
      const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')) ?? []
      return kib === undefined ? null : Number(kib) / 1024
    } catch {
      return null
    }
  }

  count(...kinds: readonly LogLine['kind'][]): number {
    return this.lines.filter(({ kind }) => kinds.includes(kind)).length
  }

  /** The kind of the newest line among these kinds. */
  newest(...kinds: readonly LogLine['kind'][]): LogLine['kind'] | undefined {
    return this.lines.findLast(({ kind }) => kinds.includes(kind))?.kind
  }

  /** Asks the miner to stop and waits until it has. */
  stop(): Promise<Ended> {
    this.#child.kill('SIGTERM')
    return this.ended
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }

  #hear(text: string): void {
    this.out += text
    const lines = (this.#unread + text).split('\n')
    this.#unread = lines.pop() ?? ''
    for (const line of lines) this.lines.push(readLine(line))
  }
}

// At low priority a busy machine would not let the miner search at all.
const PLAIN = ['--threads', '1', '--kernel', 'js', '--priority', 'normal', '--gpu', 'none', '--http', '127.0.0.1:0']

/** Starts a miner for the node at `url`, with one thread, a kernel that needs no start-up time, and a JSON log. */
export function startMiner(url: string, args: readonly string[] = []): Miner {
  const log = args.includes('--log') ? [] : ['--log', 'json']
  return new Miner(['mine', '--node', url, ...PLAIN, ...log, ...args])
}

/** For afterEach: kills miners that a failed test left running. */
export async function killAll(): Promise<void> {
  await Promise.all([...running].map((miner) => miner.kill()))
}
