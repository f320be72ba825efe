/** A progress bar on a terminal, for tasks that take long. Other outputs get none. */
import type { OnProgress, Progress } from '#ground/base/progress.ts'
import { formatDuration, withPrefix } from '#ground/base/units.ts'
import { type Output, type Paint, type ProcessEnvironment, painter, runBeforeWrites } from './line.ts'
import { screenFor } from './screen.ts'
import { textWidth } from './text-width.ts'

/** The progress of a task. Another `what` starts a new bar. */
export interface Task extends Progress {
  /** The unit, such as `suites`, if `what` does not name it. The line then shows elapsed instead of remaining time. */
  readonly unit?: string
}

export interface ProgressBar {
  /** Updates the bar. It appears after a second, and is drawn at most ten times a second. */
  readonly update: (task: Task) => void
  /** Clears the line until the next update. */
  readonly clear: () => void
  /** The same output. Each text clears the line first. */
  readonly wrapOutput: (out: Output) => Output
}

/** A task that takes less time shows no bar. */
const SHOW_AFTER_MS = 1000
const REDRAW_MS = 100
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
  let [what, beganMs, drawnMs, isShown] = ['', 0, 0, false]
  const clear = () => {
    if (isShown) screen.status(null)
    isShown = false
    drawnMs = 0
  }
  const update = (task: Task) => {
    const now = nowMs()
    if (task.what !== what) {
      clear()
      what = task.what
      beganMs = now
    }
    if (!screen.isLive || isOff || now - beganMs < SHOW_AFTER_MS || now - drawnMs < REDRAW_MS) return
    drawnMs = now
    isShown = true
    const columns = Math.min(MAX_COLUMNS, out.columns || MAX_COLUMNS)
    // Some terminals break a line that fills the last column.
    screen.status(progressLine(task, now - beganMs, columns - 1, paint))
  }
  const wrapOutput = (other: Output): Output => runBeforeWrites(clear, other)
  const end = () => {
    clear()
    what = ''
  }
  return { update, clear: end, wrapOutput }
}

/** Draws updates, and clears the bar at the end. */
export function progressReporter(bar: ProgressBar): OnProgress {
  return (progress) => (progress === null ? bar.clear() : bar.update(progress))
}

/** `checking blocks  [======>      ]  45 %  1.2k of 2.7k  12 s left`, at most `columns` wide. */
export function progressLine(task: Task, tookMs: number, columns: number, paint: Paint): string {
  const { what, done, total, unit } = task
  const fraction = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
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
