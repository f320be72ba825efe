/** The breakpoints that an editor sets. */
import type { Debugger } from '../debugger.ts'
import { type FailureFilters, hitRuleOf, type LineBreakpoint, type RowBreakpoint } from '../messages.ts'
import type { RequestArguments } from './messages.ts'

const ROW_SEPARATOR = '\t'

export class EditorBreakpoints {
  readonly #program: Debugger
  readonly #firstLine: number
  /** Whether they stop the program. */
  readonly #areOn: boolean
  readonly #lines = new Map<string, readonly LineBreakpoint[]>()
  #functions: readonly string[] = []
  #rows: readonly RowBreakpoint[] = []
  #failures: FailureFilters = { expectations: false, uncaught: false, all: false }

  /** @param firstLine number of the first line in the editor */
  constructor(program: Debugger, firstLine: number, areOn: boolean) {
    this.#program = program
    this.#firstLine = firstLine
    this.#areOn = areOn
  }

  async setLines(source: string, args: RequestArguments): Promise<object> {
    const set: LineBreakpoint[] = []
    const breakpoints = []
    for (const each of args.list('breakpoints')) {
      const lineNumber = (each.number('line') ?? 0) - this.#firstLine
      const line = await this.#program.ask({ ask: 'line', source, line: lineNumber })
      const hitText = textIn(each, 'hitCondition')
      const hits = hitText === null ? null : hitRuleOf(hitText)
      if (line === null) breakpoints.push({ verified: false, message: 'no code here, nor below' })
      else if (hitText !== null && hits === null) {
        breakpoints.push({ verified: false, message: `${hitText}: expected a number of hits, such as 3, >= 3 or % 3` })
      } else {
        set.push({ line, condition: textIn(each, 'condition'), hits, log: textIn(each, 'logMessage') })
        breakpoints.push({ verified: true, line: line + this.#firstLine })
      }
    }
    this.#lines.set(source, set)
    this.#apply()
    return { breakpoints }
  }

  /** The lines with code in a range. */
  async locations(source: string, args: RequestArguments): Promise<object> {
    const first = (args.number('line') ?? 0) - this.#firstLine
    const last = (args.number('endLine') ?? args.number('line') ?? 0) - this.#firstLine
    const breakpoints = []
    let line = await this.#program.ask({ ask: 'line', source, line: first })
    while (line !== null && line <= last) {
      breakpoints.push({ line: line + this.#firstLine })
      line = await this.#program.ask({ ask: 'line', source, line: line + 1 })
    }
    return { breakpoints }
  }

  async setFunctions(args: RequestArguments): Promise<object> {
    const names = args.list('breakpoints').map((each) => each.text('name') ?? '')
    this.#functions = names.filter(isFunctionName)
    this.#apply()
    return {
      breakpoints: names.map((name) => {
        if (isFunctionName(name)) return { verified: true }
        return { verified: false, message: `${name}: expected module.function` }
      }),
    }
  }

  async setFilters(args: RequestArguments): Promise<object> {
    const filters = args.texts('filters')
    const [expectations, uncaught, all] = ['expectations', 'uncaught', 'all'].map((each) => filters.includes(each))
    this.#failures = { expectations, uncaught, all }
    this.#apply()
    return { breakpoints: filters.map(() => ({ verified: true })) }
  }

  async setRows(args: RequestArguments): Promise<object> {
    const rows = args.list('breakpoints').map((each) => breakpointOf(each.text('dataId') ?? ''))
    this.#rows = rows.filter((each) => each !== null)
    this.#apply()
    return {
      breakpoints: rows.map((row) => (row === null ? { verified: false, message: 'no such row' } : { verified: true })),
    }
  }

  #apply(): void {
    if (!this.#areOn) return
    this.#program.setBreakpoints({
      lines: [...this.#lines],
      functions: this.#functions,
      rows: this.#rows,
      failures: this.#failures,
    })
  }
}

/** Whether a text is `module.function`. */
function isFunctionName(name: string): boolean {
  return /^[^\s.]+(\.[^\s.]+)+$/.test(name)
}

function textIn(args: RequestArguments, name: string): string | null {
  const text = args.text(name)
  return text === null || text.trim() === '' ? null : text
}

/** @returns null for an id that is not of a row */
function breakpointOf(id: string): RowBreakpoint | null {
  const [table, key] = id.split(ROW_SEPARATOR)
  if (table === '' || key === undefined) return null
  return { table, key: key === '' ? null : key.slice(1) }
}

/** The id of a row: its table, a tab, and its key after a mark; without a key, all rows. */
export function rowIdOf({ table, key }: RowBreakpoint): string {
  return `${table}${ROW_SEPARATOR}${key === null ? '' : `=${key}`}`
}
