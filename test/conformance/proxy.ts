/** A proxy before a real node that changes requests and answers, to plant one defect. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ProxiedAnswer {
  status: number
  headers: Record<string, string | undefined>
  body: Buffer
}

/** One defect: it changes the path of a request, an answer, or the text of a stream. */
export interface Defect {
  readonly path?: (path: string) => string
  readonly answer?: (answer: ProxiedAnswer, request: { readonly method: string; readonly path: string }) => void
  readonly events?: (text: string) => string
}

export interface Proxy {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Headers that concern one connection only, and sizes that a change makes wrong. */
const OWN = ['connection', 'keep-alive', 'transfer-encoding', 'content-length']

export async function proxyBefore(node: string, defect: Defect): Promise<Proxy> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => forward(node, defect, request, Buffer.concat(chunks), response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

function forward(
  node: string,
  defect: Defect,
  { method = 'GET', url = '/', headers }: http.IncomingMessage,
  body: Buffer,
  response: http.ServerResponse,
): void {
  const path = defect.path?.(url) ?? url
  const { connection, ...kept } = headers
  const sent = { ...kept, ...(body.length > 0 && { 'content-length': body.length }) }
  const out = http.request(node + path, { method, headers: sent, agent: false }, (answer) => {
    const shown = Object.fromEntries(
      Object.entries(answer.headers)
        .filter(([name]) => !OWN.includes(name))
        .map(([name, value]) => [name, String(value)]),
    )
    if (shown['content-type']?.startsWith('text/event-stream')) {
      response.writeHead(answer.statusCode ?? 0, shown)
      response.flushHeaders()
      answer.on('data', (chunk: Buffer) => response.write(defect.events?.(chunk.toString()) ?? chunk))
      answer.on('end', () => response.end())
      answer.on('error', () => response.destroy())
      response.on('close', () => answer.destroy())
      return
    }
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('end', () => {
      const changed: ProxiedAnswer = { status: answer.statusCode ?? 0, headers: shown, body: Buffer.concat(chunks) }
      defect.answer?.(changed, { method, path: url })
      const final = Object.entries(changed.headers).filter(([, value]) => value !== undefined) as [string, string][]
      response.writeHead(changed.status, Object.fromEntries(final))
      response.end(changed.body)
    })
  })
  out.on('error', () => response.destroy())
  // A client may leave a call that waits, such as listen.
  response.on('close', () => out.destroy())
  out.end(body)
}
