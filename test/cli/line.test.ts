/** Colours and widths of the console. */
import { describe, expect, it } from 'vitest'
import { hasColours, lineFormatter, painter, wrapText } from '../../src/faces/cli/line.ts'
import { linesOf } from '../../src/faces/cli/lines.ts'
import { screenFor } from '../../src/faces/cli/screen.ts'
import { statusText } from '../../src/faces/cli/status.ts'
import type { HardwareSnapshot } from '../../src/mining/mine/hardware.ts'
import { NO_WINDOWS } from '../../src/mining/mine/hashrate.ts'
import { snapshotWith } from '../mine/snapshot.ts'

const silent = { write: () => true }
const terminal = { ...silent, isTTY: true, columns: 80 }

describe('colours', () => {
  it.each([
    [terminal, {}, true],
    [silent, {}, false],
    [terminal, { NO_COLOR: '1' }, false],
    [terminal, { NO_COLOR: '' }, true],
    [terminal, { TERM: 'dumb' }, false],
    [silent, { FORCE_COLOR: '1' }, true],
    [silent, { FORCE_COLOR: '' }, true],
    [terminal, { FORCE_COLOR: '0' }, false],
    [terminal, { FORCE_COLOR: 'false' }, false],
    [silent, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('colours follow output and environment (case %#)', (out, environment, expected) => {
    expect(hasColours(out, environment)).toBe(expected)
    expect(painter(out, environment)('green', 'x') !== 'x').toBe(expected)
  })
})

describe('lines', () => {
  const noon = () => new Date('2026-01-01T12:00:00').getTime()
  const line = { label: 'rejected', style: 'red', text: `chain 7  height 5  ${'word '.repeat(30).trim()}` } as const

  it('long lines wrap below their text on a terminal, preferably at gaps, and stay whole elsewhere', () => {
    const narrow = lineFormatter({ ...terminal, columns: 60 }, { NO_COLOR: '1' }, noon)([line]).split('\n')
    expect(narrow[0]).toBe('12:00:00 rejected  chain 7  height 5')
    expect(narrow[1]).toBe(`${' '.repeat(19)}${'word '.repeat(8).trim()}`)
    for (const each of narrow) expect(each.length).toBeLessThanOrEqual(60)
    expect(narrow.join(' ').match(/word/g)).toHaveLength(30)
    expect(lineFormatter(silent, {}, noon)([line])).toBe(`12:00:00 rejected  ${line.text}\n`)
  })

  it('lines count wide characters as two columns', () => {
    expect(wrapText('採掘'.repeat(20), terminal, 19).map((each) => each.length)).toEqual([30, 10])
  })
})

describe('the status line', () => {
  const plain = painter(silent, {})
  const snapshot = snapshotWith({
    hashrates: { '10s': 1.21e9, '60s': null, '15m': null },
    highestHashrate: 1.23e9,
    solutions: { accepted: 12, unconfirmed: 0, stale: 1, orphaned: 0, rejected: 0, lost: 0 },
    issuer: 'http://node.example:1848',
    work: { chain: 7, height: 5123456, difficulty: 1e15, ageMs: 10, forkVotes: 0 },
    results: { expected: 12, found: 13, effort: 0.84, best: [] },
  })

  it('the status line drops the least important parts until it fits', () => {
    const whole = '1.21 GH/s  max 1.23 GH/s  12 accepted  1 stale  chain 7 at 5123456  effort 84%  node.example:1848'
    expect(statusText(snapshot, 120, plain)).toBe(whole)
    expect(statusText(snapshot, 79, plain)).toBe(whole.replace('  node.example:1848', ''))
    expect(statusText(snapshot, 40, plain)).toBe('1.21 GH/s  12 accepted  1 stale')
    for (let columns = 9; columns < 130; columns++)
      expect(statusText(snapshot, columns, plain).length).toBeLessThanOrEqual(columns)
  })

  it('the status line says first that nothing is searched, and why', () => {
    const paused = (by: 'user' | 'schedule', text: string) => ({ ...snapshot, paused: true, pauses: [{ by, text }] })
    expect(statusText(paused('user', 'until it is resumed'), 30, plain)).toMatch(/^paused {2}1\.21 GH\/s/)
    const closed = paused('schedule', 'until 22:00 by the schedule')
    expect(statusText(closed, 79, plain)).toMatch(/^paused until 22:00 by the schedule {2}1\.21 GH\/s/)
    expect(statusText({ ...snapshot, work: null }, 30, plain)).toMatch(/^no work {2}/)
    expect(statusText({ ...snapshot, work: null, waitReason: 'for a test' }, 40, plain)).toMatch(
      /^waits for a test {2}/,
    )
    expect(statusText({ ...snapshot, idleReason: 'cpu thread0 is parked' }, 30, plain)).toMatch(/^nothing searches/)
  })

  it('the status line stays below printed lines, and disappears when it is empty', () => {
    let written = ''
    const out = { ...terminal, rows: 24, write: (text: string) => (written += text) }
    const screen = screenFor(out, {})
    screen.status('now')
    screen.print('event\n')
    expect(written.lastIndexOf('now')).toBeGreaterThan(written.indexOf('event'))
    written = ''
    screen.status(null)
    screen.print('last\n')
    expect(written).not.toContain('now')
    expect(screenFor(silent, {}).isLive).toBe(false)
    expect(screenFor(terminal, { TERM: 'dumb' }).isLive).toBe(false)
  })
})

it('a status line that a narrower terminal has broken into rows is cleared whole', () => {
  let [written, columns] = ['', 80]
  const out = { isTTY: true, columns, write: (text: string) => (written += text) }
  const screen = screenFor(
    {
      ...out,
      get columns() {
        return columns
      },
    },
    {},
  )
  screen.status('x'.repeat(60))
  ;[written, columns] = ['', 25]
  screen.status('now')
  expect(written.split('\u001B[1A\u001B[2K')).toHaveLength(4)
  // An equal status is not drawn again.
  written = ''
  screen.status('now')
  expect(written).toBe('')
})

it('many rigs do not fill the screen: sixteen devices have a line each, and one more line counts the others', () => {
  const { solutions } = snapshotWith()
  const rig = (name: string): HardwareSnapshot => ({
    ...{ name, engine: 'rigs', devices: [name], model: null, vendor: null, pci: null, celsius: null, fanPercent: null },
    ...{ watts: null, hashes: 5000, hashrates: NO_WINDOWS, solutions, hardwareErrors: 0 },
  })
  const texts = (count: number, type: 'speed' | 'summary') => {
    const hardware = Array.from({ length: count }, (_, n) => rig(`rig:${n}`))
    return linesOf({ type, snapshot: snapshotWith({ hardware, uptimeMs: 1000 }) }).map(({ text }) => text)
  }
  for (const type of ['speed', 'summary'] as const) {
    expect(texts(16, type).filter((text) => text.startsWith('rig:'))).toHaveLength(16)
    expect(texts(16, type).join()).not.toContain('more devices')
    expect(texts(200, type).filter((text) => text.startsWith('rig:'))).toHaveLength(16)
    expect(texts(200, type)).toContain('and 184 more devices')
  }
})
