/** The rows that a transaction reads and writes, with their values before and after. */
import type { Run } from '../contracts/machine/ast.ts'
import { domainOfRows, type Layer, MissingEntry } from '../contracts/machine/state.ts'
import type { TraceStep } from '../contracts/machine/tracer.ts'
import type { ObjectValue } from '../contracts/values/value.ts'

/** Maximum entries that are kept: the newest ones. */
const MAX_ENTRIES = 1000

/** An access to a row. */
export interface RowAccess {
  readonly kind: 'read' | 'write'
  /** Native or form, such as `update`. */
  readonly by: string
  /** Qualified name of the table. */
  readonly table: string
  /** Null for an access to all rows. */
  readonly key: string | null
  readonly before: ObjectValue | undefined
  readonly after: ObjectValue | undefined
}

interface OpenAccess {
  readonly step: TraceStep
  readonly key: string | null
  readonly before: ObjectValue | undefined
}

export class RowLog {
  readonly #open: OpenAccess[] = []
  #entries: RowAccess[] = []
  #layer: Layer | null = null

  /** The accesses of the current transaction, in their order. */
  get entries(): readonly RowAccess[] {
    return this.#entries
  }

  /** An access begins. Other steps count for nothing. */
  begin(step: TraceStep, run: Run): void {
    if (!isAccess(step)) return
    const { state } = run.transaction
    if (this.#layer !== state) {
      this.#entries = []
      this.#layer = state
    }
    const [key] = step.args
    const name = typeof key === 'string' ? key : null
    this.#open.push({ step, key: name, before: name === null ? undefined : currentRowOf(run, step.name, name) })
  }

  /** The step ends. @returns the row that it has written, or null */
  end(step: TraceStep, run: Run): { readonly table: string; readonly key: string } | null {
    const open = this.#close(step)
    if (open === null) return null
    const { key, before } = open
    const kind = step.kind === 'write' ? 'write' : 'read'
    const after = key === null ? undefined : currentRowOf(run, step.name, key)
    if (this.#entries.length >= MAX_ENTRIES) this.#entries.shift()
    this.#entries.push({ kind, by: step.by ?? '', table: step.name, key, before, after })
    return kind === 'write' && key !== null ? { table: step.name, key } : null
  }

  /** The step fails, so it counts for nothing. */
  fail(step: TraceStep): void {
    this.#close(step)
  }

  #close(step: TraceStep): OpenAccess | null {
    if (this.#open.at(-1)?.step !== step) return null
    return this.#open.pop() ?? null
  }
}

const WRITES: ReadonlySet<string | undefined> = new Set(['insert', 'update', 'write'])

/** Whether a step reads or writes rows of a table. Definitions of keysets and the like are not rows. */
function isAccess({ kind, name, by }: TraceStep): boolean {
  return kind === 'read' ? name.includes('.') : kind === 'write' && WRITES.has(by)
}

/** The row as the state has it now. Looking at it costs nothing. */
function currentRowOf(run: Run, table: string, key: string): ObjectValue | undefined {
  try {
    return run.transaction.state.get<ObjectValue>(domainOfRows({ qualified: table }), key)
  } catch (error) {
    // The access itself has it fetched.
    if (error instanceof MissingEntry) return undefined
    throw error
  }
}
