/** Reports connections without a log-in, each with its first line. A flood of them is reported as a number. */
import { printable } from '#ground/base/printable.ts'

/** Maximum number of reports per second. */
const MAX_TOLD = 20
const MAX_LINE = 200

export class Strangers {
  readonly #tell: (message: string) => void
  #told = 0
  #untold = 0

  constructor(tell: (message: string) => void) {
    this.#tell = tell
  }

  /** @param firstLine null if the TLS handshake was not completed */
  tell(address: string, firstLine: string | null): void {
    if (++this.#told > MAX_TOLD) this.#untold++
    else this.#tell(`a connection from ${address} ended without a log-in; ${lineText(firstLine)}`)
  }

  /** Begins another second. */
  refill(): void {
    this.#told = 0
    if (this.#untold > 0) this.#tell(`${this.#untold} more connections ended without a log-in`)
    this.#untold = 0
  }
}

function lineText(line: string | null): string {
  if (line === null) return 'it did not do the TLS handshake: does it use stratum+tcp:// where TLS is served?'
  return line === '' ? 'it sent nothing' : `its first line was: ${printable(line, MAX_LINE)}`
}
