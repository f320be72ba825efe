/** A trace as lines for a terminal: gas at the left, the tree of steps at the right. */
import { type Paint, textWidth } from '#faces/cli/line.ts'
import { isGasPart, ShortValues } from '#ground/base/printable.ts'
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
  /** Shows whole values, and the steps that buy and redeem gas. */
  readonly isWhole: boolean
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
export function traceLines(steps: readonly TraceStepView[], { paint, columns, isWhole }: TraceStyle): string[] {
  const rows = steps.flatMap((step) => new TreeRows(step, isWhole).rows)
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

/** Rows of a step and of all within it. */
class TreeRows {
  readonly rows: TreeRow[] = []
  readonly #values = new ShortValues()
  readonly #isWhole: boolean

  constructor(root: TraceStepView, isWhole: boolean) {
    this.#isWhole = isWhole
    this.#add(root, '', '')
  }

  #add(step: TraceStepView, branch: string, below: string): void {
    const { gasTotal, gasOwn, children, omitted = 0 } = step
    const isTop = branch === ''
    this.rows.push({ total: gasText(gasTotal), own: gasText(gasOwn), branch, text: this.#textOf(step), step })
    children.forEach((child, index) => {
      const isLast = index === children.length - 1 && omitted === 0
      const childBranch = `${below}${isLast ? '└ ' : '├ '}`
      if (isTop && !this.#isWhole && isGasPart(child)) this.#addFolded(child, childBranch)
      else this.#add(child, childBranch, `${below}${isLast ? '  ' : '│ '}`)
    })
    if (omitted === 0) return
    this.rows.push({ total: '', own: '', branch: `${below}└ `, text: `${omitted} more steps`, step: null })
  }

  /** One row for a step and all within it. */
  #addFolded(step: TraceStepView, branch: string): void {
    const gas = gasText(step.gasTotal)
    const text = `${step.name} (${stepCount(step)} steps, shown by --all)`
    this.rows.push({ total: gas, own: gas, branch, text, step: null })
  }

  /** The step in words: `update coin.coin-table "alice" → "Write succeeded"`. */
  #textOf(step: TraceStepView): string {
    const { kind, name, by, args, result } = step
    const isBare = kind === 'call' || kind === 'gas' || kind === name
    const head = isBare ? name : `${by ?? kind} ${name}`
    const called = [head, ...args.map((arg) => this.#valueText(arg))].join(' ')
    if (step.error !== undefined) return isDeepest(step) ? `${called}  FAILED: ${step.error}` : `${called}  failed`
    return result === undefined ? called : `${called} → ${this.#valueText(result)}`
  }

  #valueText(value: string): string {
    return this.#isWhole ? value : this.#values.shorten(value)
  }
}

/** Number of steps within a step. */
function stepCount({ children, omitted = 0 }: TraceStepView): number {
  return children.reduce((sum, child) => sum + 1 + stepCount(child), omitted)
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
  if (room === null || textWidth(text) <= room) return text
  let [shown, width] = ['', 1]
  for (const character of text) {
    width += textWidth(character)
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
