/** The console: prints events as lines for people or as JSON records. */
import { type Logger, pino } from 'pino'
import { describeError, type NewcutError } from '../core/errors.ts'
import { withoutSecrets } from '../core/host.ts'
import { formatDuration, formatHashrate, withPrefix } from '../core/units.ts'
import type { MinerEvent, SolutionEvent } from '../mine/events.ts'
import type { Verdict } from '../mine/life.ts'
import type { Snapshot } from '../mine/stats.ts'
import { type Environment, type Line, linePrinter, type Output, type Style } from './line.ts'

/** Things to show besides the miner's own events. */
export type Notice =
  | { readonly type: 'banner'; readonly lines: readonly string[] }
  | { readonly type: 'summary'; readonly snapshot: Snapshot }
  | { readonly type: 'block'; readonly chain: number; readonly height: number; readonly difficulty: number }
  | { readonly type: 'refused'; readonly chain: number; readonly height: number; readonly reason: string }

export type ConsoleEvent = MinerEvent | Notice

export interface Face {
  readonly show: (event: ConsoleEvent) => void
}

/** Outputs, environment and time of the terminal. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly environment: Environment
  /** Unix time in milliseconds. */
  readonly nowMs: () => number
}

export type LogFormat = 'text' | 'json'

/** The face for that format. Text has colours on a terminal unless the variable NO_COLOR is set. */
export function faceFor(format: LogFormat, terminal: Terminal): Face {
  return format === 'json' ? jsonFace(terminal) : textFace(terminal)
}

/** Lines of work and solutions: at most this many at once, then this many a second, since easy chains move fast. */
const MAX_LINE_BURST = 60
const MAX_LINES_PER_SECOND = 5

/** Lines for people. */
function textFace({ out, environment, nowMs }: Terminal): Face {
  const budget = new LineBudget(nowMs)
  const print = linePrinter(out, environment, nowMs)
  return {
    show: (event) => {
      if (event.type === 'banner') {
        for (const line of event.lines) out.write(`${line}\n`)
        return
      }
      const lines = linesOf(event)
      if (lines.length === 0 || (isFrequent(event) && !budget.take())) return
      if (budget.skipped > 0 && !budget.isEmpty) {
        print({ label: '...', style: 'dim', text: `${budget.skipped} more lines of work and solutions not shown` })
        budget.skipped = 0
      }
      for (const line of lines) print(line)
    },
  }
}

function isFrequent(event: ConsoleEvent): boolean {
  return event.type === 'work' || event.type === 'block' || event.type === 'idle' || event.type === 'solution'
}

/** A bucket of lines that refills with time. */
class LineBudget {
  skipped = 0
  readonly #nowMs: () => number
  #left = MAX_LINE_BURST
  #at: number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#at = nowMs()
  }

  get isEmpty(): boolean {
    return this.#left < 1
  }

  take(): boolean {
    const at = this.#nowMs()
    this.#left = Math.min(MAX_LINE_BURST, this.#left + ((at - this.#at) * MAX_LINES_PER_SECOND) / 1000)
    this.#at = at
    if (this.isEmpty) {
      this.skipped++
      return false
    }
    this.#left--
    return true
  }
}

/** One JSON object a line, through pino. */
function jsonFace(terminal: Terminal): Face {
  const logger = jsonLogger(terminal)
  return {
    show: (event) => {
      const { type, ...rest } = event
      const level = type === 'trouble' || type === 'warning' ? 'warn' : type === 'hardwareError' ? 'error' : 'info'
      logger[level]({ event: type, ...rest })
    },
  }
}

function jsonLogger({ out, nowMs }: Terminal): Logger {
  const timestamp = () => `,"time":"${new Date(nowMs()).toISOString()}"`
  return pino(
    { base: null, messageKey: 'message', timestamp, formatters: { level: levelName } },
    { write: (text: string) => void out.write(text) },
  )
}

/**
 * Reports the error that ends the program: a line on `err`, or an object on `out`, where the other JSON records are.
 */
export function reportError(error: NewcutError, format: LogFormat, terminal: Terminal): void {
  const { code } = error
  // These repeat what was typed, such as the address of a node with a password in it.
  const shown = code === 'BAD_OPTION' ? withoutSecrets : (text: string) => text
  const message = shown(describeError(error))
  const hint = error.hint === undefined ? undefined : shown(error.hint)
  if (format === 'json') jsonLogger(terminal).error({ event: 'error', code, message, hint })
  else terminal.err.write(`newcut: ${message}${hint === undefined ? '' : ` (${hint})`} [${code}]\n`)
}

const levelName = (label: string) => ({ level: label })

/** The lines for an event. */
export function linesOf(event: Exclude<ConsoleEvent, { type: 'banner' }>): Line[] {
  switch (event.type) {
    case 'work':
      return [{ label: 'work', style: 'cyan', text: `${place(event)}  ${difficultyText(event)}  ${reasonText(event)}` }]
    case 'ready':
      return [{ label: 'ready', style: 'bold', text: devicesText(event.devices) }]
    case 'idle':
      return [{ label: 'idle', style: 'yellow', text: 'no work for now' }]
    case 'paused':
      return [{ label: 'paused', style: 'yellow', text: 'nothing is searched until it is resumed' }]
    case 'resumed':
      return [{ label: 'resumed', style: 'green', text: 'the newest work is searched again' }]
    case 'solution':
      // Text shows only the verdict; JSON has all steps.
      return event.verdict === null ? [] : [solutionLine(event, event.verdict)]
    case 'reward':
      // `newcut blocks` shows it.
      return []
    case 'hardwareError': {
      const text = `${event.device} claimed nonce ${event.nonce}, which does not solve`
      return [{ label: 'hardware', style: 'red', text }]
    }
    case 'warning':
      return [{ label: 'warning', style: 'yellow', text: event.message }]
    case 'trouble':
      return [{ label: 'trouble', style: 'yellow', text: event.message }]
    case 'recovered':
      return [{ label: 'recovered', style: 'green', text: event.message }]
    case 'speed':
      return [{ label: 'speed', style: 'bold', text: `${ratesText(event.snapshot)}  ${countsText(event.snapshot)}` }]
    case 'block':
      return [{ label: 'block', style: 'green', text: `${place(event)}  ${difficultyText(event)}` }]
    case 'refused':
      return [{ label: 'refused', style: 'yellow', text: `${place(event)}  ${event.reason}` }]
    case 'summary':
      return summaryLines(event.snapshot)
  }
}

/** `cpu: 2 x native-avx512` */
function devicesText(devices: Snapshot['devices']): string {
  const counts = new Map<string, number>()
  for (const { engine, kernel, note } of devices) {
    const key = `${engine}: ${kernel}${note === undefined ? '' : ` (${note})`}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].map(([key, count]) => (count === 1 ? key : key.replace(': ', `: ${count} x `))).join(', ')
}

const place = ({ chain, height }: { chain: number; height: number }) =>
  `chain ${String(chain).padEnd(2)} height ${String(height).padEnd(5)}`

const difficultyText = ({ difficulty }: { difficulty: number }) => `difficulty ${withPrefix(difficulty).padEnd(5)}`

function reasonText({ reason, preemptMs }: Extract<MinerEvent, { type: 'work' }>): string {
  const after = `in ${formatDuration(preemptMs)}`
  switch (reason) {
    case 'newCut':
      return `new cut, preempted ${after}`
    case 'solved':
      return `after a solution, ${after}`
    case 'start':
      return `first work, ${after}`
    case 'refreshed':
      return 'refreshed'
    case 'reconnected':
      return `newer work found, ${after}`
    case 'switched':
      return `from another node, ${after}`
    case 'better':
      return `a chain worth more, ${after}`
  }
}

const verdictStyles: Readonly<Record<Verdict, Style>> = {
  accepted: 'green',
  unconfirmed: 'yellow',
  stale: 'yellow',
  orphaned: 'yellow',
  rejected: 'red',
  lost: 'red',
}

function solutionLine(event: SolutionEvent, verdict: Verdict): Line {
  const { accepted, stale, orphaned, rejected, lost } = event.counts
  const parts = [
    place(event),
    `effort ${Math.round(event.effort * 100)}%`,
    `took ${formatDuration(event.elapsedMs)}`,
    `(${accepted}/${stale + orphaned}/${rejected + lost})`,
  ]
  if (event.step === 'rejected') parts.push(`${event.reason}: ${event.message}`)
  if (event.step === 'lost') parts.push(`${event.reason}: ${event.message}`)
  if (event.step === 'unconfirmed') parts.push(event.message)
  return { label: verdict, style: verdictStyles[verdict], text: parts.join('  ') }
}

function ratesText({ hashrates }: Snapshot): string {
  return Object.entries(hashrates)
    .map(([window, rate]) => `${window} ${formatHashrate(rate)}`)
    .join('  ')
}

function countsText({ solutions }: Snapshot): string {
  return Object.entries(solutions)
    .map(([verdict, count]) => `${count} ${verdict}`)
    .join('  ')
}

function summaryLines(snapshot: Snapshot): Line[] {
  const { hashes, uptimeMs, meanHashrate, preemptions, hardwareErrors } = snapshot
  const time = formatDuration(uptimeMs)
  const work = `${withPrefix(hashes)} hashes in ${time}, ${formatHashrate(meanHashrate)} on average`
  const lines: Line[] = [
    { label: 'summary', style: 'bold', text: countsText(snapshot) },
    { label: '', style: 'dim', text: `${work}, ${preemptions} preempted` },
  ]
  if (hardwareErrors > 0) lines.push({ label: '', style: 'red', text: `${hardwareErrors} hardware errors` })
  return lines
}
