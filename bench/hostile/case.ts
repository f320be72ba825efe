/** A hostile command, and helpers to write one. */

/** A command that tries to take more time, memory or disk than its gas allows. */
export interface HostileCase {
  readonly name: string
  readonly code: string
  /** JSON text of the data. A function makes large data only in the process that runs the case. */
  readonly data?: () => string
  /** Programs that run before without gas, each as a command of its own. */
  readonly before?: readonly string[]
  /** `block`: the command is executed and kept as in a block, default; `local`: by plain /local. */
  readonly as?: 'block' | 'local'
  /** JSON text of the capabilities that the first signer lists. */
  readonly capabilities?: () => string
  /** JSON text of the verifiers. */
  readonly verifiers?: () => string
  /** Number of signers with the same key. */
  readonly signers?: number
}

const ROUNDS = 100_000

/** Evaluates expressions again and again, until the gas ends. `bound` holds the bindings of a `let*`. */
export function again(bound: string, expression: string, inRound = 20): string {
  const round = Array.from({ length: inRound }, () => expression).join(' ')
  const loop = `(fold (lambda (a i) ${round} i) 0 (enumerate 1 ${ROUNDS}))`
  return bound === '' ? loop : `(let* (${bound}) ${loop})`
}

/** A list of `count` items. */
export function listOf<T>(count: number, item: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => item(index))
}

/** A module that a command deploys: outside of the root namespace, where it may not. */
export function deployModule(name: string, members: string): string {
  return `(namespace "free") ${moduleOf(name, members)}`
}

/** A module with the usual governance. */
export function moduleOf(name: string, members: string): string {
  return `(module ${name} G (defcap G () true) ${members})`
}

/** A long text of one character. */
export function long(length: number, character = 'x'): string {
  return character.repeat(length)
}

/** Data with one field. */
export function dataOf(field: string, value: unknown): () => string {
  return () => JSON.stringify({ [field]: value })
}

/** A call by plain /local that evaluates an expression with one value of the data, under the name of its field. */
export function onData(name: string, field: string, value: unknown, expression: string): HostileCase {
  return { name, as: 'local', data: dataOf(field, value), code: again(`(${field} (read-msg "${field}"))`, expression) }
}
