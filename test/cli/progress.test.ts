/** The text of progress bars. progress-terminal.test.ts shows them in a terminal. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Output } from '../../src/faces/cli/line.ts'
import { progressBarFor, progressLine } from '../../src/faces/cli/progress.ts'

const plain = (_style: string, text: string) => text

describe('a line of progress', () => {
  const task = { what: 'checking blocks', done: 4321, total: 9600 }

  it('a line of progress shows a bar, the percentage, the count and the remaining time', () => {
    expect(progressLine(task, 9000, 79, plain)).toBe(
      'checking blocks  [============>              ]  45 %  4.32k of 9.60k  11 s left',
    )
    expect(progressLine({ ...task, done: 0 }, 9000, 79, plain)).toMatch(
      /^checking blocks {2}\[> +\] {2}0 % {2}0 of 9\.60k$/,
    )
    expect(progressLine({ ...task, done: 9600 }, 9000, 79, plain)).toMatch(/\[=+\] {2}100 % {2}9\.60k of 9\.60k$/)
  })

  it('a line of progress shows the elapsed time if the items differ in size', () => {
    const suites = { what: 'measuring cpu', done: 1, total: 4, unit: 'suites' }
    expect(progressLine(suites, 61_000, 79, plain)).toMatch(/ {2}25 % {2}1 of 4 suites {2}1 m 1 s$/)
  })

  it('a line of progress without a total shows the count and the elapsed time', () => {
    const copying = { what: 'copying from http://node', done: 37, total: 0, unit: 'requests, 8 wait' }
    expect(progressLine(copying, 12_000, 79, plain)).toBe('copying from http://node  37 requests, 8 wait  12 s')
    expect(progressLine(copying, 12_000, 20, plain)).toBe('copying from http://n'.slice(0, 20))
    expect(progressLine({ what: 'reading shares', done: 1234, total: 0 }, 2000, 79, plain)).toBe(
      'reading shares  1.23k  2 s',
    )
  })

  it('a line of progress leaves out parts that do not fit, and fits any terminal', () => {
    for (let columns = 0; columns < 100; columns++) {
      expect(progressLine(task, 9000, columns, plain).length).toBeLessThanOrEqual(columns)
    }
    expect(progressLine(task, 9000, 40, plain)).toBe('checking blocks  [======>        ]  45 %')
    expect(progressLine(task, 9000, 22, plain)).toBe('checking blocks 45 %')
  })
})

describe('a bar', () => {
  const written: string[] = []
  const terminal: Output = { isTTY: true, columns: 80, write: (text) => written.push(text) }
  afterEach(() => void written.splice(0))

  it('a progress bar goes on by itself while its task reports nothing, and ends when it is cleared', () => {
    vi.useFakeTimers()
    try {
      const bar = progressBarFor(terminal, {}, Date.now)
      const drawn = () => written.splice(0).join('')
      bar.update({ what: 'waits', done: 1, total: 4, unit: 'suites' })
      vi.advanceTimersByTime(900)
      expect(drawn()).toBe('')
      vi.advanceTimersByTime(2100)
      expect(drawn()).toMatch(/1 of 4 suites {2}1 s.*1 of 4 suites {2}3 s/s)
      const wrapped = bar.wrapTerminal({ out: terminal, err: terminal, environment: {}, nowMs: Date.now })
      wrapped.out.write('a line\n')
      expect(drawn().split('\u001B[2K').at(-1)).toMatch(/^[^\n]*a line\n$/)
      vi.advanceTimersByTime(1000)
      expect(drawn()).toContain('1 of 4 suites')
      bar.clear()
      expect(drawn()).toContain('\u001B[2K')
      vi.advanceTimersByTime(5000)
      expect(drawn()).toBe('')
    } finally {
      vi.useRealTimers()
    }
  })

  it('a progress bar appears after a second, updates at most ten times a second, and only on a terminal', () => {
    for (const [out, environment, isOff] of [
      [{ ...terminal, isTTY: false }, {}, false],
      [terminal, { TERM: 'dumb' }, false],
      [terminal, {}, true],
    ] as const) {
      let now = 5000
      const bar = progressBarFor(out, environment, () => now, isOff)
      for (; now < 20_000; now += 10) bar.update({ what: 'x', done: now, total: 20_000 })
      bar.clear()
    }
    expect(written).toEqual([])
    const drawnWith = (environment: Readonly<Record<string, string>>) => {
      let now = 5000
      const bar = progressBarFor(terminal, environment, () => now)
      for (; now < 6000; now += 10) bar.update({ what: 'x', done: now, total: 20_000 })
      expect(written).toEqual([])
      for (; now < 7000; now += 10) bar.update({ what: 'x', done: now, total: 20_000 })
      return written.splice(0).filter((text) => text.includes('%'))
    }
    const draws = drawnWith({})
    expect(draws.length).toBeGreaterThan(5)
    expect(draws.length).toBeLessThanOrEqual(10)
    const cyan = '[36m'
    expect(draws.every((text) => text.includes(cyan))).toBe(true)
    expect(drawnWith({ NO_COLOR: '1' }).join('')).not.toContain(cyan)
  })
})
