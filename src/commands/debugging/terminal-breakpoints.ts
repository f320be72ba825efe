/** The breakpoints of the terminal debugger, as a person types and lists them. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { suggestName } from '#ground/base/similar-names.ts'
import {
  type Debugger,
  type FailureFilters,
  hitRuleOf,
  type LineBreakpoint,
  type ShownFrame,
} from '#language/debugger/debugger.ts'

/** A breakpoint with its number in the list. */
type Listed = { readonly number: number; readonly text: string } & (
  | { readonly kind: 'line'; readonly source: string; readonly breakpoint: LineBreakpoint }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'row'; readonly table: string; readonly key: string | null }
)

const FILTERS = ['expectations', 'uncaught', 'all'] as const

export class TerminalBreakpoints {
  readonly #program: Debugger
  readonly #nameOf: (source: string) => string
  readonly #mainSource: string
  #listed: Listed[] = []
  #next = 1
  #failures: FailureFilters = { expectations: true, uncaught: true, all: false }

  constructor(
    program: Debugger,
    { nameOf, mainSource }: { readonly nameOf: (source: string) => string; readonly mainSource: string },
  ) {
    this.#program = program
    this.#nameOf = nameOf
    this.#mainSource = mainSource
    this.#apply()
  }

  /** @returns lines that say what was set */
  async break(rest: string, here: ShownFrame | null): Promise<string[]> {
    if (rest === '') return this.#list()
    const { where, hit, condition } =
      /^(?<where>\S+)(?:\s+hit\s+(?<hit>[=<>%]*\s*\S+))?(?:\s+if\s+(?<condition>.+))?$/.exec(rest)?.groups ?? {}
    if (where === undefined) {
      return [`break ${rest}: expected FILE:LINE, LINE or module.function, and perhaps: hit N, if CODE`]
    }
    const hits = hit === undefined ? null : hitRuleOf(hit)
    if (hit !== undefined && hits === null) return [`hit ${hit}: expected a number of hits, such as 3, >= 3 or % 3`]
    const at = /^(?:(.+):)?(\d+)$/.exec(where)
    if (at === null) return where.includes('.') ? this.#breakFunction(where) : [notAPlace(where)]
    const source = at[1] === undefined ? (here?.source ?? this.#mainSource) : await this.#sourceOf(at[1])
    const lineNumber = Number(at[2])
    const line = await this.#program.ask({ ask: 'line', source, line: lineNumber - 1 })
    if (line === null) return [`${this.#nameOf(source)}:${lineNumber}: no code here, nor below`]
    const name = `${this.#nameOf(source)}:${line + 1}`
    const moved = line + 1 === lineNumber ? '' : ` (line ${lineNumber} has no code)`
    const breakpoint = { line, condition: condition ?? null, hits, log: null }
    const text = `${name}${hit ? ` hit ${hit}` : ''}${condition ? ` if ${condition}` : ''}`
    return this.#add({ kind: 'line', source, breakpoint, text }, moved)
  }

  #breakFunction(name: string): string[] {
    return this.#add({ kind: 'function', name, text: name }, '')
  }

  async watch(rest: string): Promise<string[]> {
    const [table, ...words] = rest.split(/\s+/)
    if (!table.includes('.')) return ['watch takes a table, such as coin.coin-table, and perhaps the key of a row']
    const key = words.length === 0 ? null : words.join(' ').replace(/^"(.*)"$/, '$1')
    return this.#add({ kind: 'row', table, key, text: `row ${table}${key === null ? '' : ` ${key}`}` }, '')
  }

  async catch(rest: string): Promise<string[]> {
    const words = rest.split(/[\s,]+/).filter((word) => word !== '')
    const unknown = words.find((word) => word !== 'none' && !FILTERS.includes(word as 'all'))
    if (unknown !== undefined) {
      return [`catch ${unknown}: expected ${FILTERS.join(', ')} or none${suggestName(unknown, [...FILTERS, 'none'])}`]
    }
    if (words.length > 0) {
      const [expectations, uncaught, all] = FILTERS.map((each) => words.includes(each))
      this.#failures = { expectations, uncaught, all }
      this.#apply()
    }
    const on = FILTERS.filter((each) => this.#failures[each])
    return [`stops at failures: ${on.length === 0 ? 'none' : on.join(', ')}`]
  }

  async delete(rest: string): Promise<string[]> {
    const number = Number(rest)
    const left = rest === '' ? [] : this.#listed.filter((each) => each.number !== number)
    if (rest !== '' && left.length === this.#listed.length) return [`delete ${rest}: no breakpoint has this number`]
    this.#listed = left
    this.#apply()
    return this.#list()
  }

  #add(breakpoint: Distributed<Listed>, note: string): string[] {
    const number = this.#next++
    this.#listed.push({ ...breakpoint, number })
    this.#apply()
    return [`breakpoint ${number}: ${breakpoint.text}${note}`]
  }

  #list(): string[] {
    return this.#listed.length === 0
      ? ['no breakpoints']
      : this.#listed.map(({ number, text }) => `  ${number}: ${text}`)
  }

  /** The text that a name means: one that the program has, or a file. */
  async #sourceOf(name: string): Promise<string> {
    const sources = await this.#program.ask({ ask: 'sources' })
    const known = sources.find((source) => this.#nameOf(source) === name || source === name)
    const beside = resolve(dirname(this.#mainSource), name)
    return known ?? (existsSync(beside) ? beside : resolve(name))
  }

  #apply(): void {
    const lines = new Map<string, LineBreakpoint[]>()
    for (const each of this.#listed) {
      if (each.kind === 'line') lines.set(each.source, [...(lines.get(each.source) ?? []), each.breakpoint])
    }
    this.#program.setBreakpoints({
      lines: [...lines],
      functions: this.#listed.flatMap((each) => (each.kind === 'function' ? [each.name] : [])),
      rows: this.#listed.flatMap((each) => (each.kind === 'row' ? [{ table: each.table, key: each.key }] : [])),
      failures: this.#failures,
    })
  }
}

/** A breakpoint without its number. */
type Distributed<T> = T extends unknown ? Omit<T, 'number'> : never

function notAPlace(where: string): string {
  return `break ${where}: neither a line nor a function; write FILE:LINE, LINE or module.function`
}
