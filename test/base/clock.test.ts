import { afterEach, describe, expect, it, vi } from 'vitest'
import { machineClock } from '../../src/client/node/machine-clock.ts'
import { notBefore } from '../../src/ground/base/clock.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

afterEach(() => void vi.restoreAllMocks())

describe.each([
  ['of the platform', systemClock],
  ['of the client', machineClock],
])('the clock %s', (name, clock) => {
  // Node 24 prints a warning to stderr for a timer with a negative delay.
  it(`the clock ${name} sets no negative delay for a time in the past`, async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await new Promise<void>((resolve) => clock.after(-0.004, resolve))
    expect(timers.mock.calls.map(([, delayMs]) => delayMs)).toEqual([0])
  })

  it(`the clock ${name} runs nothing that was cancelled`, async () => {
    const ran: string[] = []
    const cancel = clock.after(1, () => ran.push('cancelled'))
    cancel()
    await new Promise<void>((resolve) =>
      clock.after(2, () => {
        ran.push('kept')
        resolve()
      }),
    )
    expect(ran).toEqual(['kept'])
  })
})

describe('callbacks that must not run early', () => {
  /** A virtual clock whose timers fire `byMs` early, as timers of Node may. */
  const early = (byMs: number) => {
    const clock = new VirtualClock()
    return Object.assign(clock, {
      after: (
        (after) => (delayMs: number, run: () => void) =>
          after(Math.max(0, delayMs - byMs), run)
      )(clock.after),
    })
  }

  it.each([0, 0.4, 0.9])('a guarded callback waits again if its timer fires %s ms early', async (byMs) => {
    const clock = early(byMs)
    const dueMs = clock.monotonicMs() + 1000
    const ran: number[] = []
    notBefore(clock, dueMs, () => ran.push(clock.monotonicMs()))
    await clock.pass(1010)
    expect(ran).toEqual([expect.any(Number)])
    expect(ran[0] - dueMs).toBeGreaterThanOrEqual(0)
    expect(ran[0] - dueMs).toBeLessThanOrEqual(1)
  })

  it('a guarded callback runs once at times with rounded fractions', async () => {
    // For three in ten of these values, (t + 60,000) - t is less than 60,000.
    for (let part = 0; part < 40; part++) {
      const clock = new VirtualClock()
      await clock.pass(part / 7)
      const startMs = clock.monotonicMs()
      let runs = 0
      notBefore(clock, startMs + 60_000, () => {
        runs++
        expect(clock.monotonicMs()).toBeGreaterThanOrEqual(startMs + 60_000)
      })
      await clock.pass(60_002)
      expect(runs).toBe(1)
    }
  })

  it('a guarded callback runs at once if its time has passed, and never after a cancel', async () => {
    const clock = early(0.5)
    const ran: string[] = []
    notBefore(clock, clock.monotonicMs() - 5, () => ran.push('over'))
    const cancel = notBefore(clock, clock.monotonicMs() + 1, () => ran.push('cancelled'))
    await clock.pass(0.6)
    cancel()
    await clock.pass(10)
    expect(ran).toEqual(['over'])
  })
})
