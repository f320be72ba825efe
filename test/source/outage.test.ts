/** Outages of a node that fails at every few requests. */
import { describe, expect, it } from 'vitest'
import { Outage } from '../../src/mining/source/node/outage.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

function watched() {
  const clock = new VirtualClock()
  const said: string[] = []
  const outage = new Outage(clock, {
    onTrouble: (message) => said.push(message),
    onRecovered: (message) => said.push(message),
  })
  return { clock, outage, said }
}

describe('node that fails at every second request', () => {
  it('a node that fails at every second request is reported once, however fast its requests are', async () => {
    const { clock, outage, said } = watched()
    for (let request = 0; request < 200; request++) {
      outage.reportFailure('work', 'no work')
      await clock.pass(5)
      outage.reportSuccess('work')
      await clock.pass(5)
    }
    expect(said).toEqual(['no work', 'the node answers again, after 5 ms'])
  })

  it('a node is reported again when a failure lasts for a second, with its whole length', async () => {
    const { clock, outage, said } = watched()
    outage.reportFailure('work', 'no work')
    outage.reportSuccess('work')
    outage.reportFailure('work', 'still no work')
    await clock.pass(999)
    expect(said).toHaveLength(2)
    await clock.pass(1)
    expect(said[2]).toBe('still no work')
    await clock.pass(4_000)
    outage.reportSuccess('work')
    expect(said[3]).toBe('the node answers again, after 5 s')
  })

  it('a node is reported at once when it has worked for ten seconds', async () => {
    const { clock, outage, said } = watched()
    outage.reportFailure('work', 'no work')
    outage.reportSuccess('work')
    await clock.pass(10_000)
    outage.reportFailure('work', 'no work again')
    expect(said[2]).toBe('no work again')
  })

  it('the outage of a stream keeps the longer delay before it is reported', async () => {
    const { clock, outage, said } = watched()
    outage.reportFailure('work', 'no work')
    outage.reportSuccess('work')
    outage.reportFailure('stream', 'no news', 5_000)
    await clock.pass(4_999)
    expect(said).toHaveLength(2)
    await clock.pass(1)
    expect(said[2]).toBe('no news')
  })
})
