import { getEventListeners, setMaxListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { withFirstOf } from '../../src/ground/base/signals.ts'

const listeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length

describe('withFirstOf', () => {
  it('withFirstOf aborts with the first of its sources, for the same reason', async () => {
    for (const first of [0, 1]) {
      const sources = [new AbortController(), new AbortController()]
      const signals = sources.map(({ signal }) => signal)
      const reason = await withFirstOf(signals, (signal) => {
        expect(signal.aborted).toBe(false)
        sources[first].abort('first')
        sources[1 - first].abort('second')
        return signal.reason
      })
      expect(reason).toBe('first')
    }
  })

  it('withFirstOf aborts with any source while the call runs', async () => {
    const source = new AbortController()
    const call = withFirstOf([source.signal], async (signal) => {
      await null
      source.abort('late')
      return [signal.aborted, signal.reason]
    })
    expect(listeners(source)).toBe(1)
    expect(await call).toEqual([true, 'late'])
  })

  it('withFirstOf starts aborted if one of its sources is aborted', async () => {
    const signals = [new AbortController().signal, AbortSignal.abort('before')]
    expect(await withFirstOf(signals, (signal) => [signal.aborted, signal.reason])).toEqual([true, 'before'])
  })

  it('withFirstOf removes its listeners at the end of each call', async () => {
    const lasting = new AbortController()
    setMaxListeners(0, lasting.signal)
    let most = 0
    const use = async (fails: boolean) => {
      most = Math.max(most, listeners(lasting))
      await null
      if (fails) throw new RangeError('no')
    }
    for (let i = 0; i < 10_000; i++) {
      const sources = [lasting.signal, new AbortController().signal]
      const call = withFirstOf(sources, () => use(i % 2 === 1))
      if (i % 2 === 1) await expect(call).rejects.toThrow('no')
      else await call
    }
    expect(most).toBe(1)
    expect(listeners(lasting)).toBe(0)
  })
})
