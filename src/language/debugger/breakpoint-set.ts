/** The breakpoints of a program, and where they stop it. */
import { suggestName } from '#ground/base/similar-names.ts'
import type { Breakpoints, LineBreakpoint, RowBreakpoint } from './messages.ts'
import type { Frame, Point } from './point.ts'

const NO_BREAKPOINTS: Breakpoints = {
  lines: [],
  functions: [],
  rows: [],
  failures: { expectations: false, uncaught: false, all: false },
}

export class BreakpointSet {
  readonly failures: Breakpoints['failures']
  readonly #lines = new Map<string, Map<number, LineBreakpoint>>()
  readonly #functions: ReadonlySet<string>
  /** Functions that have run while there were breakpoints on functions. */
  readonly #called = new Set<string>()
  readonly #rows: readonly RowBreakpoint[]

  constructor({ lines, functions, rows, failures }: Breakpoints = NO_BREAKPOINTS) {
    for (const [source, list] of lines) this.#lines.set(source, new Map(list.map((each) => [each.line, each])))
    this.#functions = new Set(functions)
    this.#rows = rows
    this.failures = failures
  }

  /** The breakpoint of a line; only its first code counts. */
  atLine({ isFirst, source, line }: Point): LineBreakpoint | null {
    return isFirst ? (this.#lines.get(source)?.get(line) ?? null) : null
  }

  /** Whether the code of a function with a breakpoint begins. */
  isFunctionStart({ kind, name, hasBegun }: Frame): boolean {
    if (hasBegun || (kind !== 'call' && kind !== 'capability')) return false
    if (this.#functions.size === 0) return false
    const [qualified] = name.split(' ', 1)
    this.#called.add(qualified)
    return this.#functions.has(qualified)
  }

  /** Why breakpoints on functions did not stop the program: a line for each. */
  missedFunctions(): string[] {
    return [...this.#functions]
      .filter((name) => !this.#called.has(name))
      .map((name) => {
        const longer = [...this.#called].find((each) => each.endsWith(`.${name}`))
        const guess = longer === undefined ? suggestName(name, this.#called) : `; did you mean ${longer}?`
        return `no function ${name} has run${guess}`
      })
  }

  hasRows(): boolean {
    return this.#rows.length > 0
  }

  isRow(table: string, key: string): boolean {
    return this.#rows.some((each) => isRow(each, table, key))
  }
}

/** Whether a breakpoint means the row. */
export function isRow(breakpoint: RowBreakpoint, table: string, key: string): boolean {
  return breakpoint.table === table && (breakpoint.key === null || breakpoint.key === key)
}
