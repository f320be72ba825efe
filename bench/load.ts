/** HTTP load over raw sockets. A client library would cost more time per request than the server. */
import { connect, type Socket } from 'node:net'
import { pause } from './suite.ts'

export interface Load {
  readonly port: number
  /** A complete request, or a function that creates the next one. */
  readonly request: Uint8Array | (() => Uint8Array)
  readonly connections: number
  readonly durationMs: number
  /**
   * Verifies one answer body per connection.
   * @throws if it is wrong
   */
  readonly check: (body: Buffer) => void
}

const HEAD_END = '\r\n\r\n'
const MAX_HEAD_BYTES = 16 * 1024

/** An HTTP/1.1 keep-alive request as bytes. */
export function requestBytes(method: string, path: string, headers: Record<string, string>, body = ''): Uint8Array {
  const length: Record<string, string> = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host: '127.0.0.1', ...headers, ...length }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from(`${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}${HEAD_END}${body}`)
}

/**
 * Measures answers per second, with one request in flight per connection, for `durationMs` and until there is an
 * answer.
 * @throws for an answer other than 200
 */
export async function answersPerSecond({ port, request, connections, durationMs, check }: Load): Promise<number> {
  const clients = Array.from({ length: connections }, () => new LoadClient(port, request, check))
  try {
    await Promise.all(clients.map((client) => client.firstAnswer))
    const [startMs, before] = [performance.now(), sum(clients)]
    do await Promise.race([pause(durationMs), ...clients.map((one) => one.failed)])
    while (sum(clients) === before)
    return ((sum(clients) - before) * 1000) / (performance.now() - startMs)
  } finally {
    for (const client of clients) client.close()
  }
}

const sum = (clients: readonly LoadClient[]) => clients.reduce((total, { answers }) => total + answers, 0)

class LoadClient {
  answers = 0
  /** Settles after the first verified answer. */
  readonly firstAnswer: Promise<void>
  /** Rejects on any failure, and never resolves. */
  readonly failed: Promise<never>
  readonly #socket: Socket
  readonly #next: () => Uint8Array
  #head: Buffer = Buffer.alloc(0)
  /** Missing bytes of the body, or null while the head is incomplete. */
  #missing: number | null = null
  #body: Buffer[] = []

  constructor(port: number, request: Load['request'], check: (body: Buffer) => void) {
    this.#next = typeof request === 'function' ? request : () => request
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    let fail: (error: Error) => void = () => undefined
    this.failed = new Promise((_, reject) => {
      fail = reject
    })
    // Callers get the error from the promises they await. After a planned end, nothing awaits this one.
    this.failed.catch(() => undefined)
    let succeed: () => void = () => undefined
    const first = new Promise<void>((resolve) => {
      succeed = resolve
    })
    this.firstAnswer = Promise.race([first, this.failed])
    this.#socket.on('connect', () => this.#socket.write(this.#next()))
    this.#socket.on('error', fail)
    this.#socket.on('close', () => fail(new Error('the node closed the connection')))
    this.#socket.on('data', (chunk) => {
      try {
        this.#take(chunk, (body) => {
          check(body)
          succeed()
        })
      } catch (error) {
        fail(error as Error)
      }
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer, onFirst: (body: Buffer) => void): void {
    let rest = chunk
    if (this.#missing === null) {
      this.#head = this.#head.length === 0 ? rest : Buffer.concat([this.#head, rest])
      const end = this.#head.indexOf(HEAD_END)
      if (end < 0 && this.#head.length < MAX_HEAD_BYTES) return
      const head = this.#head.toString('latin1', 0, Math.max(end, 0))
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
      if (!head.startsWith('HTTP/1.1 200') || length === undefined)
        throw new Error(`expected a 200 with a length, got: ${head}`)
      rest = this.#head.subarray(end + HEAD_END.length)
      this.#missing = Number(length)
      this.#head = Buffer.alloc(0)
    }
    if (this.answers === 0) this.#body.push(rest)
    this.#missing -= rest.length
    if (this.#missing > 0) return
    this.#missing = null
    if (this.answers === 0) onFirst(Buffer.concat(this.#body))
    this.#body = []
    this.answers++
    this.#socket.write(this.#next())
  }
}
