/** Payouts by the shares of a fleet, which its relays store in JetStream. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { JetStreamStore } from '../../src/mining/accounts/jetstream-store.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import type { PayoutReport } from '../../src/pool/payouts/report.ts'
import { run } from '../cli/run.ts'
import { NatsBed } from '../fleet/nats.ts'
import { describeWith, lackOf } from '../needs.ts'
import { keyPair, PoolGround } from './pool-ground.ts'

describeWith(lackOf('nats-server'), 'newcut payouts --fleet', () => {
  const bed = new NatsBed()
  const [ann, ben] = [1, 2].map(keyPair)

  async function grounded() {
    const ground = await PoolGround.start()
    bed.cleanups.push(() => ground.close())
    const payouts = (...args: string[]) =>
      run(['payouts', '--node', ground.devnet.url, '--state', ground.state, '--account', ground.pool.account, ...args])
    return { ground, payouts }
  }

  async function storeOf(fleet: string, relay: string) {
    const address = readNatsAddress(bed.nats.url)
    const shared = { clock: systemClock, random: Math.random }
    const options = { addresses: [address], trust: {}, fleet, agent: 'test', ...shared }
    const link = await FleetLink.open(options, null, new AbortController().signal)
    bed.cleanups.push(() => link.close())
    const onWarning = (message: string) => expect.fail(message)
    return await JetStreamStore.open({ link, relay, clock: systemClock, session: randomUUID(), onWarning })
  }

  it('the payouts of a fleet are divided by the shares of all relays', async () => {
    const { ground, payouts } = await grounded()
    const [one, other] = [await storeOf('hall', 'one'), await storeOf('hall', 'other')]
    const found = await ground.mine(0)
    await one.append([ground.share(ann.account, 30)])
    await other.append([ground.share(ben.account, 10, found)])
    await ground.bury(3)
    const where = ['--fleet', bed.nats.url, '--fleet-name', 'hall', '--scheme', 'prop', '--confirmations', '3']
    const { code, out, err } = await payouts(...where, '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const { blocks } = JSON.parse(out) as PayoutReport
    expect(blocks.map(({ block, state }) => [block, state])).toEqual([[found.block, 'credited']])
    const parts = blocks[0].division?.parts.map(({ payee, amount }) => [payee, Number(amount)]) ?? []
    const [[, large], [, small]] = parts.toSorted(([, a], [, b]) => Number(b) - Number(a))
    expect(new Map(parts as [string, number][])).toEqual(
      new Map([
        [ann.account, large],
        [ben.account, small],
      ]),
    )
    expect(Number(large) / Number(small)).toBeCloseTo(3, 5)
  })

  it.each([
    [['--fleet', 'URL', '--fleet-name', 'nobody'], 1, /the fleet nobody has no share log/],
    [['--fleet', 'URL', '--from', '127.0.0.1:4148'], 2, /--from has no effect: with --fleet the shares come from/],
    [['--fleet-name', 'hall'], 2, /--fleet-name has no effect: .*add --fleet nats:\/\/HOST:4222/],
    [['--nats-domain', 'hub'], 2, /--nats-domain has no effect: .*add --fleet nats:\/\/HOST:4222/],
    [['--fleet', 'nats://127.0.0.1:1'], 20, /no NATS server answers at nats:\/\/127.0.0.1:1/],
  ])('the options %j end with exit code %d', async (args, code, message) => {
    const { payouts } = await grounded()
    const ended = await payouts(...args.map((each) => (each === 'URL' ? bed.nats.url : each)))
    expect(ended.err).toMatch(message)
    expect(ended.code).toBe(code)
  })
})
