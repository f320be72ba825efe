/** The connection of a debug adapter: requests in, responses and events out. The framing is that of language servers. */
import type { Readable, Writable } from 'node:stream'
import { type Message, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node'
import { MessageFilter } from '../../editor/protocol/framing.ts'
import { type DapRequest, RequestArguments, RequestFault } from './messages.ts'

export interface DapStreams {
  readonly input: Readable
  readonly output: Writable
  /** Reports input that is not a message. */
  readonly warn: (line: string) => void
}

/** Answers a request. @throws RequestFault */
type RequestHandler = (command: string, args: RequestArguments) => Promise<unknown>

export class DapConnection {
  readonly #writer: StreamMessageWriter
  #seq = 1
  /** The last request that waits for its turn. */
  #last: Promise<void> = Promise.resolve()

  /**
   * @param urgent requests that do not wait for those before them
   */
  constructor({ input, output, warn }: DapStreams, urgent: ReadonlySet<string>, answer: RequestHandler) {
    const refuse = (what: string) => warn(`not a Debug Adapter Protocol message: ${what}`)
    const reader = new StreamMessageReader(input.pipe(new MessageFilter(refuse)))
    this.#writer = new StreamMessageWriter(output)
    // A client that has died reads nothing.
    this.#writer.onError(() => undefined)
    reader.onError(({ message }) => refuse(message.split('\n', 1)[0]))
    reader.listen((message) => {
      const request = message as unknown as Partial<Omit<DapRequest, 'type'>> & { readonly type?: string }
      if (request.type !== 'request' || typeof request.command !== 'string' || typeof request.seq !== 'number') {
        if (request.type !== 'response') refuse('a message that is not a request')
        return
      }
      const respond = () => this.#respond(request as DapRequest, answer)
      if (urgent.has(request.command)) void respond()
      else this.#last = this.#last.then(respond)
    })
  }

  async #respond({ seq, command, arguments: fields }: DapRequest, answer: RequestHandler): Promise<void> {
    const response = { type: 'response', request_seq: seq, command }
    try {
      const body = await answer(command, new RequestArguments(fields))
      this.#write({ ...response, success: true, ...(body !== undefined && { body }) })
    } catch (error) {
      if (!(error instanceof RequestFault)) throw error
      const { message } = error
      // An editor shows the fault of an expression where it was written.
      const showUser = command !== 'evaluate'
      this.#write({ ...response, success: false, message, body: { error: { id: 1, format: message, showUser } } })
    }
  }

  send(event: string, body: object = {}): void {
    this.#write({ type: 'event', event, body })
  }

  #write(message: object): void {
    void this.#writer.write({ seq: this.#seq++, ...message } as unknown as Message).catch(() => undefined)
  }
}
