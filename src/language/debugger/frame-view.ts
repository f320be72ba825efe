/** The paused program as text: its call stack, variables, capabilities, gas and rows. */
import { isValue, type Term } from '../contracts/machine/term.ts'
import { shortText } from '../contracts/trace/short-text.ts'
import { showCall, showValue } from '../contracts/values/print.ts'
import type { ObjectValue, Value } from '../contracts/values/value.ts'
import type { DebuggedProgram } from './debug-program.ts'
import { type Evaluation, evaluateInFrame } from './frame-evaluation.ts'
import type { ScopeName, ShownFrame, ShownVariable } from './messages.ts'
import { type Frame, variablesOf } from './point.ts'
import type { ProgramFollower } from './program-follower.ts'
import type { RowAccess } from './row-log.ts'

/** Maximum parts of a list or an object that are shown. */
const MAX_PARTS = 1000

export class FrameView {
  readonly #follower: ProgramFollower
  readonly #program: DebuggedProgram
  readonly #values: Term[] = []

  constructor(follower: ProgramFollower, program: DebuggedProgram) {
    this.#follower = follower
    this.#program = program
  }

  /** The frames with a place in a text, innermost first. */
  get #frames(): Frame[] {
    return this.#follower.frames.filter(({ point }) => point !== null).reverse()
  }

  stack(): ShownFrame[] {
    return this.#frames.flatMap((frame) => {
      const { point } = frame
      return point === null
        ? []
        : [{ name: frameNameOf(frame), source: point.source, line: point.line, column: point.column }]
    })
  }

  /** @throws MissingEntry if the state misses what the expression reads */
  evaluate(index: number, text: string): Evaluation {
    const { run } = this.#follower
    const frame = this.#frames[index]
    if (run === null || frame === undefined) return { fault: 'no code has run yet' }
    this.#follower.isMuted = true
    try {
      return evaluateInFrame(run, frame, text)
    } finally {
      this.#follower.isMuted = false
    }
  }

  variables(index: number, scope: ScopeName): ShownVariable[] {
    const frame = this.#frames[index]
    switch (scope) {
      case 'locals':
      case 'arguments': {
        if (frame === undefined) return []
        const { locals, args } = variablesOf(frame)
        return (scope === 'locals' ? locals : args).map(({ name, value }) => this.describe(name, value))
      }
      case 'capabilities':
        return this.#capabilities()
      case 'gas':
        return this.#program.gas.map((each) => ({ ...each, ref: 0 }))
      case 'rows':
        return this.#follower.rows.entries.map((access) => this.#row(access))
    }
  }

  /** The parts of a value. */
  children(ref: number): ShownVariable[] {
    const value = this.#values[ref - 1]
    if (Array.isArray(value)) {
      return value.slice(0, MAX_PARTS).map((each: Value, i) => this.describe(String(i), each))
    }
    if (!(value instanceof Map)) return []
    return [...(value as ObjectValue)].slice(0, MAX_PARTS).map(([name, each]) => this.describe(name, each))
  }

  describe(name: string, value: Term): ShownVariable {
    const hasParts = (Array.isArray(value) && value.length > 0) || (value instanceof Map && value.size > 0)
    return { name, text: shortText(value), ref: hasParts ? this.#values.push(value) : 0 }
  }

  #capabilities(): ShownVariable[] {
    const { run } = this.#follower
    if (run === null) return []
    const { call, transaction } = run
    const plain = (name: string, text: string) => ({ name, text, ref: 0 })
    return [
      ...call.slots.flatMap(({ token, composed }) => [
        plain(showCall(token.name, token.args), call.evaluated.includes(token) ? 'its body runs' : 'granted'),
        ...composed.map((each) => plain(showCall(each.name, each.args), `granted, part of ${token.name}`)),
      ]),
      ...transaction.installed.map(({ token, left, isUsed }) => {
        const once = isUsed ? 'managed, used' : 'managed, not used yet'
        return plain(showCall(token.name, token.args), left === undefined ? once : `managed, left ${showValue(left)}`)
      }),
    ]
  }

  #row({ kind, by, table, key, before, after }: RowAccess): ShownVariable {
    const name = `${by} ${table}${key === null ? '' : ` ${key}`}`
    const ref = after === undefined ? 0 : this.#values.push(after)
    const text = kind === 'read' ? rowText(key, after) : changeText(before, after)
    return { name, text, ref, row: { table, key } }
  }
}

function rowText(key: string | null, row: ObjectValue | undefined): string {
  if (key === null) return 'all rows'
  return row === undefined ? 'no such row' : shortText(row)
}

/** The fields that a write has changed. */
function changeText(before: ObjectValue | undefined, after: ObjectValue | undefined): string {
  if (after === undefined) return 'nothing'
  if (before === undefined) return `new ${shortText(after)}`
  const fields = [...after].filter(([name, value]) => shortTextOf(before.get(name)) !== shortTextOf(value))
  if (fields.length === 0) return 'the same values'
  return fields.map(([name, value]) => `${name}: ${shortTextOf(before.get(name))} -> ${shortTextOf(value)}`).join(', ')
}

function shortTextOf(value: Value | undefined): string {
  return value === undefined || !isValue(value) ? 'nothing' : shortText(value)
}

function frameNameOf({ kind, name }: Frame): string {
  switch (kind) {
    case 'top':
      return 'top level'
    case 'capability':
      return `capability ${name}`
    case 'deploy':
      return `module ${name}`
    default:
      return name
  }
}
