/** Stands between a payer and its node, and may keep requests and answers to itself. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a request is for. */
export type RequestKind = 'local' | 'send' | 'poll' | 'other'

/** `before`: the node has not seen the request; `after`: it has answered. True: it goes no further. */
export type Swallows = (kind: RequestKind, when: 'before' | 'after') => boolean | Promise<boolean>

const kindOf = (url: string) => (/\/(local|send|poll)(?:\?|$)/.exec(url)?.[1] ?? 'other') as RequestKind

export class Gate {
  readonly #node: string
  readonly #swallows: Swallows
  readonly #server = createServer((from, to) => void this.#pass(from, to))

  constructor(node: string, swallows: Swallows) {
    this.#node = node
    this.#swallows = swallows
  }

  /** Its address. */
  async open(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const { method, url = '', headers } = from
    const kind = kindOf(url)
    if (await this.#swallows(kind, 'before')) return
    const onward = request(new URL(url, this.#node), { method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', async () => {
        if (await this.#swallows(kind, 'after')) return
        to.writeHead(answer.statusCode ?? 502, answer.headers)
        to.end(Buffer.concat(chunks))
      })
    })
    onward.on('error', () => to.destroy())
    to.on('close', () => onward.destroy())
    from.pipe(onward)
  }
}
