/** The code of a command. */
import { ContractError } from '../../contracts/errors.ts'
import type { Form } from '../../contracts/syntax/form.ts'
import { read } from '../../contracts/syntax/reader.ts'

/** Code and its forms, which are read when they are first asked for, and kept. */
export class CommandCode {
  readonly text: string
  #read: readonly Form[] | ContractError | null = null

  constructor(text: string) {
    this.text = text
  }

  /** Throws ContractError for code that cannot be read. */
  get forms(): readonly Form[] {
    this.#read ??= readOrFail(this.text)
    if (this.#read instanceof ContractError) throw this.#read
    return this.#read
  }

  /** Why the code cannot be read; null: it can. */
  get fault(): string | null {
    this.#read ??= readOrFail(this.text)
    return this.#read instanceof ContractError ? this.#read.message : null
  }
}

function readOrFail(text: string): readonly Form[] | ContractError {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof ContractError) return error
    throw error
  }
}
