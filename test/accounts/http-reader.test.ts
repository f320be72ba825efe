/** The client of a running miner's share log, at servers that answer in pages, late, or wrongly. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { HttpShareReader } from '../../src/mining/accounts/http-reader.ts'
import { listOf, shareOf } from './shares.ts'

/** A server with this answer. @returns its URL */
async function served(answer: (url: URL, response: ServerResponse, request: IncomingMessage) => void): Promise<string> {
  const server = createServer((request, response) => answer(new URL(request.url ?? '', 'http://x'), response, request))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const linesOf = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')

it('the HTTP reader reads page after page until one names no next', async () => {
  const asked: string[] = []
  const url = await served((at, response, { headers }) => {
    asked.push(`${at.pathname}${at.search} ${headers.authorization}`)
    const page = Number(at.searchParams.get('after') ?? '0')
    if (page < 2) response.setHeader('newcut-after', String(page + 1))
    response.end(linesOf([shareOf(2 * page), shareOf(2 * page + 1)]))
  })
  const reader = new HttpShareReader({ url, token: 'secret' })
  const shares = await listOf(reader.shares({ fromMs: 1.5, untilMs: 7, newestFirst: true }))
  expect(shares).toEqual([0, 1, 2, 3, 4, 5].map((number) => shareOf(number)))
  const first = '/api/shares?from=2&until=7&order=newest&limit=10000'
  expect(asked).toEqual([first, `${first}&after=1`, `${first}&after=2`].map((path) => `${path} Bearer secret`))
})

it('the HTTP reader asks for no time before 1970, which a miner would refuse', async () => {
  const asked: string[] = []
  const url = await served((at, response) => {
    asked.push(at.search)
    response.end()
  })
  await listOf(new HttpShareReader({ url }).refusals({ fromMs: -5, untilMs: 9.5 }))
  expect(asked).toEqual(['?from=0&until=10&limit=10000'])
})

it('the HTTP reader ends with an error at a line that is not JSON, after the lines before it', async () => {
  const url = await served((_at, response) => response.end(`${linesOf([shareOf(1)])}{"id":\n`))
  const shares: unknown[] = []
  const read = async () => {
    for await (const share of new HttpShareReader({ url }).shares()) shares.push(share)
  }
  await expect(read()).rejects.toMatchObject({
    code: 'NODE_MISBEHAVED',
    message: `${url}: a line of the share log is not valid JSON`,
  })
  expect(shares).toEqual([shareOf(1)])
})

it.each([
  [502, '<html>bad gateway</html>', 'status 502'],
  [404, '{"error":"no such path"}', 'no such path'],
])('an answer with status %i and the text %s is refused with: %s', async (status, text, reason) => {
  const url = await served((_at, response) => response.writeHead(status).end(text))
  await expect(listOf(new HttpShareReader({ url }).shares())).rejects.toMatchObject({
    code: 'NODE_REFUSED',
    message: `${url}: ${reason}`,
  })
})

it('the HTTP reader follows no redirect, which would take its token elsewhere', async () => {
  const url = await served((_at, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
  await expect(listOf(new HttpShareReader({ url, token: 'secret' }).shares())).rejects.toMatchObject({
    code: 'NODE_MISBEHAVED',
    message: expect.stringContaining('status 302'),
  })
})

it('a stop ends a request that waits for its answer', async () => {
  const stop = new AbortController()
  const reason = new Error('stopped')
  const url = await served(() => stop.abort(reason))
  await expect(listOf(new HttpShareReader({ url, stopped: stop.signal }).shares())).rejects.toBe(reason)
})
