/** The files of the dashboard, and its event stream over HTTP. */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Metrics } from '../../../src/faces/api/metrics.ts'
import { startApi } from '../../../src/faces/api/server.ts'
import { Hub, MAX_READERS } from '../../../src/faces/web/dashboard/hub.ts'
import { addDashboard, readDashboard } from '../../../src/faces/web/dashboard/page.ts'
import { addEvents } from '../../../src/faces/web/dashboard/stream.ts'
import type { Clock } from '../../../src/ground/base/clock.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { staysSo, until } from '../../wait.ts'
import { entriesOf, foreignIn, loadedBy, scriptsIn } from '../modules.ts'
import { snapshotWith, step } from './common.ts'

describe('the files of the dashboard', () => {
  it('the files of the dashboard use only what browsers have, and load nothing from elsewhere', () => {
    const assets = readDashboard()
    expect(foreignIn(assets)).toEqual([])
    expect(loadedBy(assets, ...entriesOf(assets.get('/')?.text ?? ''))).toEqual(scriptsIn(assets).toSorted())
    const page = assets.get('/')?.text ?? ''
    const files = [...page.matchAll(/<(?:link|script|img)[^>]* (?:src|href)="([^"]+)"/g)].map(([, file]) => file)
    expect(files.length).toBeGreaterThan(5)
    expect(files.filter((file) => !assets.has(file))).toEqual([])
    expect(page).not.toMatch(/<script>|<style|style=|onclick/)
    for (const { text } of assets.values()) expect(text).not.toMatch(/@import|url\(\s*['"]?https?:/)
  })

  it('the files of the dashboard are small, and the charts come with their license', () => {
    const assets = readDashboard()
    expect([...assets.values()].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThan(150_000)
    expect(
      readFileSync(new URL('../../../dist/src/faces/web/dashboard/kept/LICENSE', import.meta.url), 'utf8'),
    ).toContain('MIT License')
  })
})

async function startDashboard(snapshot = () => snapshotWith(), clock: Clock = systemClock) {
  const about = { version: '1', network: 'development', account: 'k:a' }
  const hub = new Hub({ about, snapshot, clock })
  const extensions = [
    { path: '/', addTo: addDashboard },
    { path: '/api/events', addTo: (app: Parameters<typeof addEvents>[0]) => addEvents(app, hub) },
  ]
  const api = await startApi({ host: '127.0.0.1', port: 0 }, snapshot, new Metrics(snapshot, '1'), ...extensions)
  onTestFinished(() => api.close())
  return { url: api.url, hub, close: () => api.close() }
}

/** Opens a stream without reading it. */
function open(url: string, headers: http.OutgoingHttpHeaders = {}): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.get(`${url}/api/events`, { headers, agent: false }, resolve).on('error', reject)
    onTestFinished(() => void request.destroy())
  })
}

/** The text of a stream so far. */
function textOf(stream: http.IncomingMessage): () => string {
  let text = ''
  stream.on('data', (bytes) => {
    text += bytes
  })
  stream.on('error', () => undefined)
  return () => text
}

const EVENTS = ['event: change', 'event: state']

/** Counts texts in a stream of large events, without a copy of what has come. */
function countOf(stream: http.IncomingMessage, ...texts: readonly string[]): () => readonly number[] {
  const counts = texts.map(() => 0)
  let end = ''
  stream.on('data', (bytes: Buffer) => {
    for (const [i, text] of texts.entries()) {
      // A chunk may begin within a text.
      const around = end.slice(1 - text.length) + bytes.toString('latin1', 0, text.length - 1)
      counts[i] += around.split(text).length - 1
      for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) counts[i]++
    }
    end = (end + bytes.toString('latin1', Math.max(0, bytes.length - 20))).slice(-20)
  })
  stream.on('error', () => undefined)
  return () => [...counts]
}

describe('the server of the dashboard', () => {
  it('the server of the dashboard serves the page with a policy that allows its own origin alone', async () => {
    const { url } = await startDashboard()
    const answer = await fetch(url)
    expect(answer.headers.get('content-type')).toBe('text/html;charset=utf-8')
    expect(answer.status).toBe(200)
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toBe("default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    for (const path of readDashboard().keys()) expect((await fetch(url + path)).status, path).toBe(200)
    const missing = await fetch(`${url}/dashboard/../package.json`)
    expect(await missing.json()).toMatchObject({ endpoints: expect.arrayContaining(['/', '/api/events']) })
  })

  it('the server of the dashboard answers no other host name', async () => {
    const { url } = await startDashboard()
    expect((await open(url, { host: 'evil.example' })).statusCode).toBe(403)
  })

  it('the server of the dashboard streams the state, and then changes', async () => {
    const { url, hub } = await startDashboard()
    const stream = await open(url)
    expect(stream.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    expect(stream.headers).not.toHaveProperty('access-control-allow-origin')
    const text = textOf(stream)
    await expect.poll(text).toMatch(/^retry: 1000\n\nevent: state\ndata: \{"about".*\}\n\n/)
    hub.onEvent(step('hash', { step: 'handed-in' }))
    await expect.poll(text).toMatch(/event: change\ndata: .*"hash":"hash".*\n\n$/)
  })

  it.each([{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }])(
    'the server of the dashboard lets no page of another site hold a stream: %o',
    async (headers) => {
      const { url } = await startDashboard()
      expect((await open(url, headers)).statusCode).toBe(403)
    },
  )

  it('the server of the dashboard refuses a stream above the limit, until one ends', async () => {
    const { url } = await startDashboard()
    const streams = await Promise.all(Array.from({ length: MAX_READERS }, () => open(url)))
    expect(streams.map(({ statusCode }) => statusCode)).toEqual(streams.map(() => 200))
    const refused = await open(url)
    expect(refused.statusCode).toBe(503)
    expect(refused.headers['retry-after']).toBe('5')
    streams[0].destroy()
    await expect.poll(async () => (await open(url)).statusCode).toBe(200)
  })

  it('the server of the dashboard buffers nothing for a reader that does not read, and sends it the full state when it does', async () => {
    // Large events fill the buffers of the connection soon.
    let count = 0
    const clock = new VirtualClock()
    const { url } = await startDashboard(() => snapshotWith({ source: String(++count).padStart(4_000_000) }), clock)
    const stream = await open(url)
    const other = countOf(await open(url), ...EVENTS, '\n\n')
    // The next event comes when the other reader has the end of the last one, on every machine.
    const received = async (changes: number) => {
      await expect.poll(other).toEqual([changes, 1, changes + 2])
      // The server learns in its next turn that the event is gone.
      for (let i = 0; i < 3; i++) await turn()
    }
    await received(0)
    const change = async () => {
      const [before] = other()
      await clock.pass(1000)
      await received(before + 1)
    }
    for (let i = 0; i < 8; i++) await change()
    const own = countOf(stream, ...EVENTS)
    let bytes = 0
    stream.on('data', ({ length }: Buffer) => {
      bytes += length
    })
    // The server drops a reader that stays behind for long: the next event comes once nothing is on its way.
    const drained = async () => {
      for (let before = -1; before !== bytes; ) {
        before = bytes
        await staysSo(() => bytes === before)
      }
    }
    await expect.poll(() => own()[1]).toBe(1)
    await until(async () => {
      await drained()
      await change()
      return own()[1] > 1
    })
    expect(own()[0]).toBeLessThan(other()[0] - 2)
  })

  it('the server of the dashboard ends all streams when it closes', async () => {
    const { url, close } = await startDashboard()
    const stream = await open(url)
    const ended = new Promise((resolve) => stream.once('end', resolve))
    stream.resume()
    await close()
    await ended
  })
})
