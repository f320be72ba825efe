/** A proxy between a payer and its node that may swallow requests and answers, or replace answers. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The purpose of a request. */
export type RequestKind = 'local' | 'send' | 'poll' | 'other'

/** Called before the node sees the request, and after it has answered. @returns true to forward nothing more */
export type Swallows = (kind: RequestKind, when: 'before' | 'after') => boolean | Promise<boolean>

/** @returns the status and body that replace an answer of the node, or null */
export type Replaces = (kind: RequestKind, path: string, body: string) => Replacement | null

export interface Replacement {
  readonly status: number
  readonly body: string
}

const kindOf = (url: string) => (/\/(local|send|poll)(?:\?|$)/.exec(url)?.[1] ?? 'other') as RequestKind

export class Gate {
  readonly #node: string
  readonly #swallows: Swallows
  readonly #replaces: Replaces
  readonly #server = createServer((from, to) => void this.#pass(from, to))

  constructor(node: string, swallows: Swallows, replaces: Replaces = () => null) {
    this.#node = node
    this.#swallows = swallows
    this.#replaces = replaces
  }

  /** Starts listening. @returns its URL */
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
        const { 'content-length': _, ...rest } = answer.headers
        const body = Buffer.concat(chunks)
        const replaced = this.#replaces(kind, url, body.toString())
        to.writeHead(replaced?.status ?? answer.statusCode ?? 502, replaced === null ? answer.headers : rest)
        to.end(replaced?.body ?? body)
      })
    })
    onward.on('error', () => to.destroy())
    to.on('close', () => onward.destroy())
    from.pipe(onward)
  }
}
