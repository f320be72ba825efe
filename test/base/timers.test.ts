/** Timers that end with an abort signal, on virtual time. */
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { sleep } from '../../src/ground/base/clock.ts'
import { every, everyAfter, rejectWhenAborted, after as runAfter, untilAborted } from '../../src/ground/base/signals.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'

describe('timers', () => {
  it('timers run once, or at each interval, until the signal aborts', async () => {
    const clock = new VirtualClock()
    const end = new AbortController()
    const calls: string[] = []
    runAfter(clock, 5, end.signal, () => calls.push('once'))
    runAfter(clock, 50, end.signal, () => calls.push('never'))
    every(clock, 10, end.signal, () => calls.push('often'))
    await clock.pass(35)
    expect(calls).toEqual(['once', 'often', 'often', 'often'])
    end.abort()
    await clock.pass(100)
    expect(calls).toHaveLength(4)
  })

  it('timers leave no listener after they ran and no timer after the abort', async () => {
    const [clock, end] = [new VirtualClock(), new AbortController()]
    const calls: string[] = []
    runAfter(clock, 5, end.signal, () => calls.push('once'))
    await clock.pass(5)
    expect(getEventListeners(end.signal, 'abort')).toHaveLength(0)
    every(clock, 10, end.signal, () => {
      calls.push('often')
      end.abort()
    })
    await clock.pass(10)
    expect(calls).toEqual(['once', 'often'])
    expect(clock.pending).toBe(0)
    runAfter(clock, 5, end.signal, () => calls.push('never'))
    every(clock, 5, end.signal, () => calls.push('never'))
    everyAfter(clock, 5, end.signal, async () => void calls.push('never'))
    expect(clock.pending).toBe(0)
  })

  it('timers pause only when the previous call has ended', async () => {
    const clock = new VirtualClock()
    const end = new AbortController()
    const turns: (() => void)[] = []
    everyAfter(clock, 10, end.signal, () => new Promise((resolve) => turns.push(resolve)))
    await clock.pass(35)
    expect(turns).toHaveLength(1)
    turns[0]()
    await settle()
    await clock.pass(9)
    expect(turns).toHaveLength(1)
    await clock.pass(1)
    expect(turns).toHaveLength(2)
    end.abort()
    turns[1]()
    await settle()
    await clock.pass(100)
    expect(turns).toHaveLength(2)
  })
})

describe('a sleep', () => {
  it('a sleep ends after its delay and leaves no listener', async () => {
    const [clock, end] = [new VirtualClock(), new AbortController()]
    const slept: number[] = []
    void sleep(clock, 10, end.signal).then(() => slept.push(clock.monotonicMs()))
    const dueMs = clock.monotonicMs() + 10
    await clock.pass(9)
    expect(slept).toEqual([])
    expect(getEventListeners(end.signal, 'abort')).toHaveLength(1)
    await clock.pass(5)
    expect(slept).toEqual([dueMs])
    expect(getEventListeners(end.signal, 'abort')).toHaveLength(0)
  })

  it.each(['before', 'after'] as const)(
    'a sleep ends with a signal that aborts %s and leaves no timer',
    async (when) => {
      const [clock, end] = [new VirtualClock(), new AbortController()]
      if (when === 'before') end.abort()
      const slept = sleep(clock, 10, end.signal)
      end.abort()
      await slept
      expect(clock.pending).toBe(0)
    },
  )
})

describe('waits for an abort', () => {
  it.each(['before', 'after'] as const)('aborted() ends for a signal that aborts %s', async (when) => {
    const end = new AbortController()
    const reason = new Error('no more')
    if (when === 'before') end.abort(reason)
    const waits = [untilAborted(end.signal), rejectWhenAborted(end.signal).catch((error: unknown) => error)]
    if (when === 'after') end.abort(reason)
    expect(await Promise.all(waits)).toEqual([undefined, reason])
  })
})
