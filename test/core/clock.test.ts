import { afterEach, describe, expect, it, vi } from 'vitest'
import { machineClock } from '../../src/node/machine-clock.ts'
import { systemClock } from '../../src/platform/clock.ts'

afterEach(() => void vi.restoreAllMocks())

describe.each([
  ['of the platform', systemClock],
  ['of the client', machineClock],
])('the clock %s', (_, clock) => {
  // Node 24 warns on standard error of a timer for less than nothing.
  it('asks for no negative delay when the time is over', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await new Promise<void>((resolve) => clock.after(-0.004, resolve))
    expect(timers.mock.calls.map(([, delayMs]) => delayMs)).toEqual([0])
  })

  it('runs nothing that was cancelled', async () => {
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
