/** The HTTP client of the tests. It uses node:http, so that a GET can have a body, and nothing of src/. */
import http from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
  /** `ADDRESS:PORT` of this end of the connection. */
  readonly from: string
}

export interface RequestOptions {
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: Uint8Array | string
}

/** A client of one node, over one kept-alive connection. */
export class Peer {
  readonly url: string
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

  constructor(url: string) {
    this.url = url
  }

  request(method: string, path: string, { headers = {}, body }: RequestOptions = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const options = { method, agent: this.#agent, headers: { ...length, ...headers } }
      const request = http.request(this.url + path, options, (response) => {
        const { localAddress, localPort } = response.socket
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
            from: `${localAddress}:${localPort}`,
          })
        })
      })
      request.on('error', reject)
      request.end(body)
    })
  }

  get(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.request('GET', path, options)
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** A response that stays open. */
export class OpenResponse {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly from: string
  /** Settles when the response has ended, whichever side ended it. */
  readonly closed: Promise<void>
  text = ''
  #changed: () => void = () => undefined
  readonly #response: http.IncomingMessage

  private constructor(response: http.IncomingMessage) {
    const { localAddress, localPort } = response.socket
    this.status = response.statusCode ?? 0
    this.headers = response.headers
    this.from = `${localAddress}:${localPort}`
    this.#response = response
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      this.text += chunk
      this.#changed()
    })
    this.closed = new Promise((resolve) => {
      response.on('error', () => undefined)
      response.on('close', () => resolve())
    })
  }

  /** Sends a GET on a new connection; resolves with the head of the response. */
  static open(url: string, { headers = {}, body }: RequestOptions = {}): Promise<OpenResponse> {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    return new Promise((resolve, reject) => {
      const request = http.request(url, { agent: false, headers: { ...length, ...headers } })
      request.on('response', (response) => resolve(new OpenResponse(response)))
      request.on('error', reject)
      request.end(body)
    })
  }

  /** Resolves with the text so far once it is at least this long. */
  async read(length: number): Promise<string> {
    while (this.text.length < length) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
    return this.text
  }

  /** Stops reading. */
  pause(): void {
    this.#response.pause()
  }

  destroy(): void {
    this.#response.destroy()
  }
}
