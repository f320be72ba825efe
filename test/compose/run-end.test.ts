/** The end of a run of the miner. */
import { expect, it } from 'vitest'
import { RunEnd } from '../../src/compose/run-end.ts'

const running = () => new RunEnd(new AbortController().signal)

it('the end of a run closes parts in reverse order, one after the other', async () => {
  const end = running()
  const closed: string[] = []
  for (const part of ['source', 'search', 'faces']) {
    end.onClose(async () => {
      await Promise.resolve()
      closed.push(part)
    })
  }
  await end.close()
  expect(closed).toEqual(['faces', 'search', 'source'])
})

it('the end of a run starts when the user stops the miner, and on a request over HTTP', () => {
  const stop = new AbortController()
  const stopped = new RunEnd(stop.signal)
  stop.abort()
  const asked = running()
  asked.request()
  for (const end of [stopped, asked]) {
    expect(end.wanted.aborted).toBe(true)
    expect(end.over.aborted).toBe(true)
    expect(() => end.throwIfFaulted()).not.toThrow()
  }
})

it('the end of a run starts when a part fails, and throws its error', () => {
  const end = running()
  end.fault(new Error('the disk is gone'))
  expect(end.wanted.aborted).toBe(true)
  expect(() => end.throwIfFaulted()).toThrow('the disk is gone')
})

it('a run is over once it is closed, even if nobody stopped it', async () => {
  const end = running()
  expect(end.wanted.aborted).toBe(false)
  expect(end.over.aborted).toBe(false)
  await end.close()
  expect(end.wanted.aborted).toBe(false)
  expect(end.over.aborted).toBe(true)
})
