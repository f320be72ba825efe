/** A proxy before a node: it counts requests, and answers some of them as a test wants. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Forwarded {
  readonly method: string
  readonly url: string
  readonly body: string
}

export interface ProxyAnswer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the first half of the body, and ends the connection. */
  readonly isCut?: boolean
}

/** Answers a request: as the node does by `forward`, or in another way; null ends the connection without an answer. */
export type Manner = (request: Forwarded, forward: () => Promise<ProxyAnswer>) => Promise<ProxyAnswer | null>

export interface NodeProxy {
  readonly url: string
  readonly seen: Forwarded[]
  manner: Manner
  readonly close: () => Promise<void>
}

export const honest: Manner = (_, forward) => forward()

/** Starts a proxy for one test. */
export async function proxyTo(node: string): Promise<NodeProxy> {
  const seen: Forwarded[] = []
  const server = createServer(async (request, response) => {
    const forwarded = { method: request.method ?? '', url: request.url ?? '', body: await bodyOfRequest(request) }
    seen.push(forwarded)
    const answer = await proxy.manner(forwarded, () => forward(node, forwarded)).catch(() => null)
    if (answer === null) {
      request.socket.destroy()
      return
    }
    const { status, body, headers = {}, isCut = false } = answer
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    if (!isCut) response.end(body)
    else response.write(body.slice(0, body.length / 2), () => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const { port } = server.address() as AddressInfo
  const proxy: NodeProxy = { url: `http://127.0.0.1:${port}`, seen, manner: honest, close }
  onTestFinished(close)
  return proxy
}

export async function bodyOfRequest(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function forward(node: string, { method, url, body }: Forwarded): Promise<ProxyAnswer> {
  const response = await fetch(node + url, {
    method,
    ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body }),
  })
  return { status: response.status, body: await response.text() }
}
