/** Faults in the texts of fields. */

/** A fault in the text of a field. The message says the expected form; the cause is the field, where it is known. */
export class FieldFault extends Error {}

/** The faults of several fields. Its cause is the first field. */
export class FormFault extends FieldFault {
  readonly faults: readonly FieldFault[]

  constructor(faults: readonly FieldFault[]) {
    super(`${faults.length} fields are wrong: ${faults.map(({ message }) => message).join('; ')}`, {
      cause: faults[0].cause,
    })
    this.faults = faults
  }
}

/** Reads fields to the last one, so that each shows what is wrong with it. */
export class FieldReader {
  readonly #faults: FieldFault[] = []

  /** @returns what `read` returns, or `instead` after a fault */
  take<T>(read: () => T, instead: T): T {
    try {
      return read()
    } catch (error) {
      if (error instanceof FormFault) this.#faults.push(...error.faults)
      else if (error instanceof FieldFault) this.#faults.push(error)
      else throw error
      return instead
    }
  }

  /** @throws FieldFault, or FormFault for several */
  finish(): void {
    if (this.#faults.length === 1) throw this.#faults[0]
    if (this.#faults.length > 1) throw new FormFault(this.#faults)
  }
}
