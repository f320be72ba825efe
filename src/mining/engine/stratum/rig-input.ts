/** The lines of a rig: each is a request, or garbage. */
import { FormatError } from '#ground/base/errors.ts'
import { type Request, readMessage } from '../../stratum/messages.ts'

/** Longest text of a rig that is kept: its program, its first line. */
export const MAX_TEXT = 512
/** Maximum number of invalid lines; beyond it the client is closed, because it speaks another protocol. */
const MAX_GARBAGE = 3

interface RigInputPorts {
  readonly onRequest: (request: Request) => void
  /** Receives each unparsable line. `isTooMuch`: the client speaks another protocol. */
  readonly onGarbage: (isTooMuch: boolean) => void
}

export class RigInput {
  readonly #ports: RigInputPorts
  #garbage = 0
  #line = ''
  #firstLine = ''

  constructor(ports: RigInputPorts) {
    this.#ports = ports
  }

  /** The current line. */
  get line(): string {
    return this.#line
  }

  /** The start of the first line. */
  get firstLine(): string {
    return this.#firstLine
  }

  /** Handles a line, without its line break. Responses of the client are not needed. */
  receive(line: string): void {
    this.#line = line
    if (this.#firstLine === '') this.#firstLine = line.slice(0, MAX_TEXT)
    let message: ReturnType<typeof readMessage>
    try {
      message = readMessage(line)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      this.#garbage++
      this.#ports.onGarbage(this.#garbage >= MAX_GARBAGE)
      return
    }
    if (message.kind === 'request') this.#ports.onRequest(message)
  }
}
