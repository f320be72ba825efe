/** A progress bar on a terminal, for tasks that take long. Other outputs get none. */
import type { OnProgress, Progress } from '#ground/base/progress.ts'
import { formatDuration, withPrefix } from '#ground/base/units.ts'
import { type Output, type Paint, type ProcessEnvironment, painter, runBeforeWrites } from './line.ts'
import { screenFor } from './screen.ts'
import type { Terminal } from './terminal.ts'
import { textWidth } from './text-width.ts'

export interface ProgressBar {
  /**
   * Updates the bar. It appears after a second, is drawn at most ten times a second, and goes on with its time by itself.
   * Another `what` starts a new bar.
   */
  readonly update: (task: Progress) => void
  /** Clears the line until the next update. */
  readonly clear: () => void
  /** The same output. Each text clears the line first. */
  readonly wrapOutput: (out: Output) => Output
  /** The same terminal, with both outputs wrapped. */
  readonly wrapTerminal: <T extends Terminal>(terminal: T) => T
}

/** A task that takes less time shows no bar. */
const SHOW_AFTER_MS = 1000
const REDRAW_MS = 100
/** Interval of the time while the task reports nothing. */
const TICK_MS = 500
const MAX_COLUMNS = 80
const MAX_BAR = 30
/** The least useful width of a bar. */
const MIN_BAR = 5

/** With `isOff`, nothing is drawn even on a terminal, as for output that programs read. */
export function progressBarFor(
  out: Output,
  environment: ProcessEnvironment,
  nowMs: () => number,
  isOff = false,
): ProgressBar {
  const screen = screenFor(out, environment)
  const paint = painter(out, environment)
  let [beganMs, drawnMs, isShown] = [0, 0, false]
  let current: Progress | null = null
  let timer: NodeJS.Timeout | null = null
  const clear = () => {
    if (isShown) screen.status(null)
    isShown = false
    drawnMs = 0
  }
  const draw = () => {
    const now = nowMs()
    if (current === null || now - beganMs < SHOW_AFTER_MS || now - drawnMs < REDRAW_MS) return
    drawnMs = now
    isShown = true
    const columns = Math.min(MAX_COLUMNS, out.columns || MAX_COLUMNS)
    // Some terminals break a line that fills the last column.
    screen.status(progressLine(current, now - beganMs, columns - 1, paint))
  }
  const update = (task: Progress) => {
    if (!screen.isLive || isOff) return
    if (task.what !== current?.what) {
      clear()
      beganMs = nowMs()
    }
    current = task
    timer ??= setInterval(draw, TICK_MS).unref()
    draw()
  }
  const wrapOutput = (other: Output): Output => runBeforeWrites(clear, other)
  const end = () => {
    clear()
    current = null
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  // Its keyboard must not be read: that would open stdin.
  const wrapTerminal = <T extends Terminal>(terminal: T): T =>
    Object.create(terminal, {
      out: { value: wrapOutput(terminal.out) },
      err: { value: wrapOutput(terminal.err) },
    }) as T
  return { update, clear: end, wrapOutput, wrapTerminal }
}

/** Draws updates, and clears the bar at the end. */
export function progressReporter(bar: ProgressBar): OnProgress {
  return (progress) => (progress === null ? bar.clear() : bar.update(progress))
}

/**
 * `checking blocks  [======>      ]  45 %  1.2k of 2.7k  12 s left`, at most `columns` wide. If the total is unknown, it
 * is `reading shares  1.2k  3 s`.
 */
export function progressLine(task: Progress, tookMs: number, columns: number, paint: Paint): string {
  const { what, done, total, unit } = task
  if (total === 0)
    return `${what}  ${withPrefix(done)}${unit === undefined ? '' : ` ${unit}`}  ${secondsText(tookMs)}`.slice(
      0,
      Math.max(0, columns),
    )
  const fraction = Math.min(1, Math.max(0, done / total))
  const percent = `${Math.floor(fraction * 100)} %`
  const count = `${withPrefix(done)} of ${withPrefix(total)}${unit === undefined ? '' : ` ${unit}`}`
  const isKnown = fraction > 0 && fraction < 1
  const left = isKnown ? `${secondsText((tookMs * (1 - fraction)) / fraction)} left` : ''
  const time = unit === undefined ? left : secondsText(tookMs)
  // The least important part is left out first.
  const choices = [[percent, count, time], [percent, count], [percent]].map((parts) => parts.filter((each) => each))
  for (const parts of choices) {
    const rest = parts.join('  ')
    const bar = Math.min(MAX_BAR, columns - textWidth(what) - textWidth(rest) - '  []  '.length)
    if (bar < MIN_BAR) continue
    const filled = Math.floor(fraction * bar)
    const head = filled < bar ? '>' : ''
    const drawn = `${'='.repeat(filled)}${head}`.padEnd(bar)
    return `${what}  ${paint('cyan', `[${drawn}]`)}  ${rest}`
  }
  return `${what} ${percent}`.slice(0, Math.max(0, columns))
}

/** Time in whole seconds: fractions would flicker. */
const secondsText = (milliseconds: number) => formatDuration(1000 * Math.max(1, Math.round(milliseconds / 1000)))
