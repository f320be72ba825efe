/** The clocks of the payer and of its node are compared before anything is signed. */
import { expect, it } from 'vitest'
import { type ClockNode, ClockSkew, signingTime } from '../../src/pool/payouts/signing-time.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

const clock = new VirtualClock()
const { signal } = new AbortController()
/** The signing time with a node that tells whole seconds, as the header has them, or no time. */
const at = (aheadMs: number | null) => {
  const time = aheadMs === null ? {} : { 'x-server-timestamp': String(Math.floor((clock.wallMs() + aheadMs) / 1000)) }
  const answer = { status: 200, headers: { 'content-type': 'text/plain', ...time }, body: Buffer.from('OK') }
  return signingTime({ http: { request: async () => answer } } as unknown as ClockNode, clock, signal)
}

it('a transaction has the time of the slower clock', async () => {
  const nowMs = clock.wallMs()
  expect(await at(29_000)).toBe(nowMs)
  expect(await at(-29_000)).toBe(Math.floor((nowMs - 29_000) / 1000) * 1000)
  expect(await at(null)).toBe(nowMs)
})

it.each([31_001, -31_001, 86_400_000])('nothing is signed if the node is %d ms ahead', async (aheadMs) => {
  const error = await at(aheadMs).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ClockSkew)
  const times = [0, aheadMs].map((ms) => new Date(clock.wallMs() + ms).toISOString().slice(0, 19))
  const message = expect.stringMatching(`here says ${times[0]}\\S+ and that of the node ${times[1]}`)
  expect(error).toMatchObject({ code: 'COMMAND_FAILED', message })
})
