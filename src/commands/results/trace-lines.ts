/** A trace as lines for a terminal: gas at the left, the tree of steps at the right. */
import stringWidth from 'string-width'
import type { Paint } from '#faces/cli/line.ts'
import { withoutControls } from './value-lines.ts'

/** A step, as `POST /devnet/trace` and test runs give it. */
export interface TraceStepView {
  readonly kind: string
  readonly name: string
  readonly by?: string | undefined
  readonly args: readonly string[]
  readonly result?: string | undefined
  readonly error?: string | undefined
  /** Milligas. */
  readonly gasOwn: number
  readonly gasTotal: number
  readonly failedAt?: { readonly module: string | null; readonly line: number; readonly column: number }
  readonly children: readonly TraceStepView[]
  readonly omitted?: number | undefined
}

export interface TraceStyle {
  readonly paint: Paint
  /** Columns of the terminal; undefined shows whole lines. */
  readonly columns: number | undefined
}

/** Gas with three decimal places. */
const gasText = (milligas: number): string => (milligas / 1000).toFixed(3)

/** Below this, a terminal wraps by itself. */
const LEAST_COLUMNS = 40

interface TreeRow {
  readonly total: string
  readonly own: string
  readonly branch: string
  readonly text: string
  readonly step: TraceStepView | null
}

/** Lines of these steps and all within them, below a line with the names of the columns. */
export function traceLines(steps: readonly TraceStepView[], { paint, columns }: TraceStyle): string[] {
  const rows: TreeRow[] = []
  for (const step of steps) addRows(rows, step, '', '')
  const width = (of: 'total' | 'own') => Math.max(of.length, ...rows.map((row) => row[of].length))
  const [total, own] = [width('total'), width('own')]
  const room = columns === undefined || columns < LEAST_COLUMNS ? null : columns - total - own - 4
  const lines = rows.map((row) => {
    const text = fitText(
      withoutControls(row.text).replaceAll('\n', ' '),
      room === null ? null : room - row.branch.length,
    )
    const gas = `${row.total.padStart(total)}  ${row.own.padStart(own)}`
    return `${gas}  ${paint('dim', row.branch)}${paintText(row, text, paint)}`
  })
  return [paint('dim', `${'total'.padStart(total)}  ${'own'.padStart(own)}  gas of each step`), ...lines]
}

function addRows(rows: TreeRow[], step: TraceStepView, branch: string, below: string): void {
  const { gasTotal, gasOwn, children, omitted = 0 } = step
  rows.push({ total: gasText(gasTotal), own: gasText(gasOwn), branch, text: stepText(step), step })
  children.forEach((child, index) => {
    const isLast = index === children.length - 1 && omitted === 0
    addRows(rows, child, `${below}${isLast ? '└ ' : '├ '}`, `${below}${isLast ? '  ' : '│ '}`)
  })
  if (omitted === 0) return
  rows.push({ total: '', own: '', branch: `${below}└ `, text: `${omitted} more steps`, step: null })
}

/** The step in words: `update coin.coin-table "alice" → "Write succeeded"`. */
function stepText(step: TraceStepView): string {
  const { kind, name, by, args, result } = step
  const isBare = kind === 'call' || kind === 'gas' || kind === name
  const head = isBare ? name : `${by ?? kind} ${name}`
  const called = [head, ...args].join(' ')
  if (step.error !== undefined) return isDeepest(step) ? `${called}  FAILED: ${step.error}` : `${called}  failed`
  return result === undefined ? called : `${called} → ${result}`
}

/** Whether the error arose in this step, not within one of its children. */
function isDeepest({ children, error }: TraceStepView): boolean {
  return error !== undefined && children.every((child) => child.error !== error)
}

/** The deepest step of an error: where it arose. Null if the last step did not fail. */
export function deepestFailure(step: TraceStepView): TraceStepView | null {
  if (step.error === undefined) return null
  const cause = step.children.findLast(({ error }) => error === step.error)
  return cause === undefined ? step : deepestFailure(cause)
}

/** Where a step failed, as a sentence. @param top name of code outside of modules */
export function failureText({ name, error = '', failedAt }: TraceStepView, top: string): string {
  const place = failedAt === undefined ? '' : ` at ${failedAt.module ?? top}:${failedAt.line}:${failedAt.column}`
  return withoutControls(`failed in ${name}${place}: ${error}`).replaceAll('\n', ' ')
}

function fitText(text: string, room: number | null): string {
  if (room === null || stringWidth(text) <= room) return text
  let [shown, width] = ['', 1]
  for (const character of text) {
    width += stringWidth(character)
    if (width > room) break
    shown += character
  }
  return `${shown}…`
}

function paintText({ step }: TreeRow, text: string, paint: Paint): string {
  if (step === null || step.kind === 'gas') return paint('dim', text)
  if (step.error !== undefined) return paint('red', text)
  if (step.kind === 'event') return paint('cyan', text)
  return step.kind === 'guard' || step.kind === 'capability' ? paint('yellow', text) : text
}
