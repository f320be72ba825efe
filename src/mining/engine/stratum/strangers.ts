/** Reports connections without a log-in, each with its first line. A flood of them is reported as a number. */
import { printable } from '#ground/base/printable.ts'

/** Maximum number of reports per second: a scan of ports must not flood the console. */
const MAX_REPORTS = 20
/** Maximum length of a quoted line. It may be anything that a stranger sends. */
const MAX_LINE = 200

export class UnknownConnections {
  readonly #onReport: (message: string) => void
  #reported = 0
  #suppressed = 0

  constructor(report: (message: string) => void) {
    this.#onReport = report
  }

  /** @param firstLine null if the TLS handshake was not completed */
  tell(address: string, firstLine: string | null): void {
    if (++this.#reported > MAX_REPORTS) this.#suppressed++
    else this.#onReport(`a connection from ${address} ended without a log-in; ${lineText(firstLine)}`)
  }

  /** Begins another second. */
  refill(): void {
    this.#reported = 0
    if (this.#suppressed > 0) this.#onReport(`${this.#suppressed} more connections ended without a log-in`)
    this.#suppressed = 0
  }
}

function lineText(line: string | null): string {
  if (line === null) return 'it did not do the TLS handshake: does it use stratum+tcp:// where TLS is served?'
  return line === '' ? 'it sent nothing' : `its first line was: ${printable(line, MAX_LINE)}`
}
