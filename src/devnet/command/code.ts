/** Contract code of a command, parsed on first use. */
import { ContractError } from '#language/contracts/errors.ts'
import type { Form } from '#language/contracts/syntax/form.ts'
import { readProgram } from '#language/contracts/syntax/program.ts'

/** Code with its parsed forms. Parses on first access and caches the result. */
export class CommandCode {
  readonly text: string
  #read: readonly Form[] | ContractError | null = null

  constructor(text: string) {
    this.text = text
  }

  /** @throws ContractError if the code does not parse */
  get forms(): readonly Form[] {
    this.#read ??= readOrFail(this.text)
    if (this.#read instanceof ContractError) throw this.#read
    return this.#read
  }

  /** Message of the parse error, as live nodes word it, or null if the code parses. */
  get fault(): string | null {
    this.#read ??= readOrFail(this.text)
    return this.#read instanceof ContractError ? this.#read.wireMessage : null
  }
}

function readOrFail(text: string): readonly Form[] | ContractError {
  try {
    return readProgram(text)
  } catch (error) {
    if (error instanceof ContractError) return error
    throw error
  }
}
