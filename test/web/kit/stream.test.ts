/** The event stream of a page on virtual time, with scripted connections. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { followEvents, type ListenOptions } from '../../../src/faces/web/kit/stream.ts'

class Connection extends EventTarget {
  readonly url: string
  isOpen = true

  constructor(url: string) {
    super()
    this.url = url
    opened.push(this)
  }

  close(): void {
    this.isOpen = false
  }

  send(name: string, data: string): void {
    this.dispatchEvent(new MessageEvent(name, { data }))
  }

  fail(): void {
    this.dispatchEvent(new Event('error'))
  }
}

let opened: Connection[] = []
let received: string[] = []

/** Starts a stream that records its events in `told`. */
function start(options: Partial<ListenOptions> = {}): () => void {
  const events = { news: (data: string) => void received.push(data) }
  return followEvents({ url: '/stream', events, onLost: () => void received.push('lost'), ...options })
}

/** Passes this time, and expects the next connection exactly at its end. */
function passPause(ms: number): void {
  const before = opened.length
  vi.advanceTimersByTime(ms - 1)
  expect(opened).toHaveLength(before)
  vi.advanceTimersByTime(1)
  expect(opened).toHaveLength(before + 1)
}

beforeEach(() => {
  ;[opened, received] = [[], []]
  vi.useFakeTimers()
  vi.stubGlobal('EventSource', Connection)
  vi.spyOn(Math, 'random').mockReturnValue(1)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe('the event stream of a page', () => {
  it('the event stream of a page passes on the data of the requested events', () => {
    start()
    opened[0].send('news', 'a')
    opened[0].send('other', 'b')
    expect(received).toEqual(['a'])
    expect(opened[0].url).toBe('/stream')
  })

  it('the event stream of a page is reopened when it breaks, after pauses that double until data arrives', () => {
    start()
    const pauses = [300, 600, 1200, 2400, 4800, 5000, 5000]
    for (const pauseMs of pauses) {
      opened.at(-1)?.fail()
      passPause(pauseMs)
    }
    expect(received).toEqual(pauses.map(() => 'lost'))
    opened.at(-1)?.send('news', 'a')
    opened.at(-1)?.fail()
    passPause(300)
    expect(opened.filter(({ isOpen }) => isOpen)).toEqual(opened.slice(-1))
  })

  it('the event stream of a page waits for at least half of each pause', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    start()
    opened[0].fail()
    passPause(150)
  })

  it('the event stream of a page counts as broken when it is silent for too long, from its start and after each event', () => {
    start({ maxSilentMs: 8000 })
    vi.advanceTimersByTime(7999)
    opened[0].send('news', 'a')
    vi.advanceTimersByTime(7999)
    expect(received).toEqual(['a'])
    vi.advanceTimersByTime(1)
    expect(received).toEqual(['a', 'lost'])
    expect(opened[0].isOpen).toBe(false)
    passPause(300)
    vi.advanceTimersByTime(8000)
    expect(received).toEqual(['a', 'lost', 'lost'])
  })

  it('the event stream of a page may be silent for any time without a limit', () => {
    start()
    expect(vi.getTimerCount()).toBe(0)
    expect(received).toEqual([])
  })

  it('the event stream of a page is opened later if a delay is set', () => {
    start({ delayMs: 400 })
    passPause(400)
  })

  it.each(['open', 'silent', 'broken', 'not yet open'])(
    'the event stream of a page reports nothing and opens nothing once it is closed: %s',
    (was) => {
      const close = start({ maxSilentMs: 8000, ...(was === 'not yet open' && { delayMs: 400 }) })
      if (was === 'broken') opened[0].fail()
      if (was === 'silent') vi.advanceTimersByTime(7999)
      received = []
      close()
      vi.runAllTimers()
      expect(received).toEqual([])
      expect(opened.filter(({ isOpen }) => isOpen)).toEqual([])
    },
  )

  it('the event stream of a page may be closed by the listener that learns of its loss', () => {
    const close = start({ onLost: () => close() })
    opened[0].fail()
    expect(vi.getTimerCount()).toBe(0)
  })
})
