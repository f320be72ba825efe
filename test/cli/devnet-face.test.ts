/** The console output of a development network: a status line on a terminal, otherwise plain lines or JSON. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { devnetConsole } from '../../src/faces/cli/devnet-view.ts'
import type { Output } from '../../src/faces/cli/line.ts'
import type { ConsoleEvent } from '../../src/faces/cli/notices.ts'
import { block, included, KEY, refused } from './devnet-events.ts'

const NOW = { lowest: 12, highest: 12, pending: 0, blocksBy: 'blocks by miners' }
const NOON = new Date('2026-01-01T12:00:00').getTime()
const ESCAPE = '\u001b'

beforeEach(() => void vi.useFakeTimers({ now: NOON }))
afterEach(() => void vi.useRealTimers())

function faceOn(format: 'text' | 'json', kind: Partial<Output> = {}) {
  const written: string[] = []
  const out: Output = { ...kind, write: (text) => written.push(text) }
  const terminal = { out, err: out, environment: { NO_COLOR: '1' }, nowMs: Date.now }
  const { views: faces, hasOwnLine: tells, attend } = devnetConsole(terminal, format)
  const shown = faces(format, () => 'info')
  const show = (event: ConsoleEvent) => {
    if (event.type !== 'block' || tells(event)) shown.show(event)
  }
  return { face: { show, attend }, text: () => written.join(''), forget: () => void written.splice(0) }
}

describe('on a terminal', () => {
  const terminal = { isTTY: true, columns: 100 }

  it('the status line of a development network is rewritten in place, and empty blocks write nothing else', () => {
    const { face, text, forget } = faceOn('text', terminal)
    const leave = face.attend(() => NOW)
    expect(text()).toContain('height 12  0 blocks')
    face.show(block())
    forget()
    for (let i = 0; i < 50; i++) face.show(block())
    expect(text()).toBe('')
    vi.advanceTimersByTime(1000)
    // One newline, and the previous status line is erased.
    expect(text().match(/\n/g)).toHaveLength(1)
    expect(text()).toContain(`${ESCAPE}[2K`)
    expect(text()).toContain('height 12  51 blocks, 51 without transactions')
    leave()
    forget()
    vi.advanceTimersByTime(10_000)
    expect(text()).toBe('')
  })

  it('events and requests stand above the status line', () => {
    const { face, text, forget } = faceOn('text', terminal)
    face.attend(() => NOW)
    const request = { type: 'request', method: 'GET', path: '/a', status: 200, ms: 1, bytes: 2 } as const
    for (const event of [included(), request]) {
      forget()
      face.show(event)
      expect(text()).toMatch(/\n[^\n]*height 12 {2}0 blocks[^\n]*\n[^\n]*$/)
    }
  })
})

describe('in a pipe', () => {
  it('a pipe gets plain lines and no status line', () => {
    const { face, text } = faceOn('text')
    const leave = face.attend(() => NOW)
    face.show(included())
    face.show(block({ by: 'miner', transactions: 1 }))
    for (let i = 0; i < 9; i++) face.show(block())
    vi.advanceTimersByTime(60_000)
    leave()
    expect(text()).toBe(
      [
        '12:00:00 ok        chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  gas 480  3',
        '12:00:00 block     chain 3  height 7      difficulty 100k  1 transaction',
        '12:00:00 block     chain 3  height 7',
        '12:01:00 empty     8 blocks in 1 m  height 12',
        '',
      ].join('\n'),
    )
  })

  it('a pipe gets pending lines at the end', () => {
    const { face, text } = faceOn('text')
    const leave = face.attend(() => NOW)
    face.show(block({ by: 'order' }))
    leave()
    expect(text()).toMatch(/ block {5}chain 3 {2}height 7$/m)
  })
})

describe('as JSON', () => {
  it('the JSON log has a record with all fields for every block and every step of a transaction', () => {
    const { face, text } = faceOn('json')
    const leave = face.attend(() => NOW)
    const shown = [block(), block(), included(), refused({ action: null })]
    for (const event of shown) face.show(event)
    vi.advanceTimersByTime(600_000)
    leave()
    const records = text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const time = new Date(NOON).toISOString()
    expect(records).toEqual(shown.map(({ type, ...fields }) => ({ level: 'info', time, event: type, ...fields })))
    expect(Object.keys(records[0])).toEqual([
      'level',
      'time',
      'event',
      'chain',
      'height',
      'difficulty',
      'by',
      'transactions',
    ])
    expect(records[2]).toMatchObject({ event: 'transaction', step: 'included', requestKey: KEY, status: 'success' })
  })
})
