/** Rewards that no coinbase states: by Kadena's table, and by code that a node runs as of the block. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { type ForecastPorts, forecastOf } from '../../src/compose/forecast.ts'
import { rewardAt } from '../../src/devnet/ledger/gas.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { coinsText, unitsOf } from '../../src/ground/base/coins.ts'
import { type PaidBlock, paymentOf, tableReward } from '../../src/ground/chain/block-payment.ts'
import { definitionOf, type NetworkForm } from '../../src/ground/chain/network-form.ts'
import { expectedReward } from '../../src/ground/chain/reward.ts'
import { rewardOf } from '../../src/pool/payouts/found-blocks.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { until } from '../wait.ts'

/** Three coins more than the height of the block. */
const CALL = { code: '(+ 3 (at "block-height" (chain-data)))' }
const HOUR = 3_600_000

let devnet: Devnet
beforeAll(async () => {
  devnet = await startDevnet({ port: 0, pow: false })
  await devnet.mine({ 0: 4 })
})
afterAll(() => devnet.close())

async function connect(coin: NonNullable<NetworkForm['coin']>): Promise<NodeClient> {
  const network = definitionOf({ network: 1, name: 'development', public: false, coin })
  const client = await NodeClient.connect({ url: devnet.url, networks: [network] })
  onTestFinished(() => client.close())
  return client
}

/** Rewards of the blocks of chain 0 at these heights, as payouts read them. */
async function rewardsAt(client: NodeClient, heights: readonly number[]) {
  const node = { client, network: client.network.network, placeOf: async () => ({ kind: 'awaited' }) as const }
  const blockAt = async (height: number) => {
    const { items } = await client.headers(0, { minheight: height, maxheight: height, encoding: 'object' }).page()
    return { block: items[0].hash, chain: 0, height }
  }
  const read = async (height: number) => await rewardOf(node, await blockAt(height), AbortSignal.timeout(60_000))
  return await Promise.all(heights.map(read))
}

const encoded = (text: string) => encodeBase64Url(new TextEncoder().encode(text))

describe('the payment model', () => {
  const silent: PaidBlock = {
    coinbase: encoded('{"result":{"status":"success","data":"paid"},"events":[]}'),
    minerData: encoded('{"account":"k:me","predicate":"keys-all","public-keys":[]}'),
    height: 7,
    chains: 20,
  }
  const failed = { ...silent, coinbase: encoded('{"result":{"status":"failure","error":{}},"events":[]}') }
  const paid = { ...silent, coinbase: encoded('{"events":[{"name":"TRANSFER","params":["","k:you",1.5]}]}') }

  it.each([
    ['table', { model: 'table' }, '1.1522615'],
    ['call', { model: 'call', call: CALL }, '10'],
  ] as const)(
    'the payment model %s pays the account of the miner data, unless the block failed or an event pays',
    async (_, model, amount) => {
      const read = (block: PaidBlock) => paymentOf(block, model, async () => '10')
      expect(await read(silent)).toEqual({ account: 'k:me', amount })
      expect(await read(failed)).toBeNull()
      expect(await read(paid)).toEqual({ account: 'k:you', amount: '1.5' })
    },
  )

  it('the payment model "call" pays nothing if its value is not an amount', async () => {
    expect(await paymentOf(silent, { model: 'call', call: CALL }, async () => null)).toBeNull()
  })
})

it('the table rounds as nodes do, and follows its curve beyond its entries', () => {
  for (const height of [1n, 87_600n, 87_601n, 5_256_000n]) {
    // Divided by 2^8 and 2^9, some have exact halves of the last place.
    for (const chains of [1, 2, 3, 7, 20, 256, 512]) {
      expect(tableReward(height, chains)).toBe(coinsText(unitsOf(`${rewardAt(height, chains)}`) ?? -1n))
    }
  }
  expect(tableReward(87_601n, 3)).toBe('7.659593333333')
  expect(Number(tableReward(6_000_000n, 20))).toBeCloseTo(expectedReward(6_000_000n, 20), 11)
  expect(() => tableReward(0n, 20)).toThrow(RangeError)
})

describe('payouts read', () => {
  it('payouts read rewards by a call as of each block', async () => {
    const client = await connect({ payment: 'call', call: CALL })
    // Events of the coin contract would count first.
    const { payloadOutputs } = client
    client.payloadOutputs = async (...args) => {
      const outputs = await payloadOutputs.apply(client, args)
      const coinbase = Buffer.from(outputs.coinbase, 'base64url').toString().replaceAll('TRANSFER', 'PAID')
      return { ...outputs, coinbase: Buffer.from(coinbase).toString('base64url') }
    }
    const [byEvent] = await rewardsAt(await connect({}), [1])
    expect(byEvent).toMatchObject({ amount: 1_152_261_500_000n })
    const paid = [4n, 6n, 7n].map((coins) => ({ account: byEvent?.account, amount: coins * 10n ** 12n }))
    expect(await rewardsAt(client, [1, 3, 4])).toEqual(paid)
  })
})

describe('the forecast', () => {
  const ports = (): ForecastPorts & { readonly clock: VirtualClock; readonly told: unknown[]; faults: unknown[] } => {
    const [told, faults]: unknown[][] = [[], []]
    return {
      clock: new VirtualClock(),
      told,
      faults,
      stopped: new AbortController().signal,
      onEvent: (event) => void told.push(event),
      onFault: (error) => void faults.push(error),
    }
  }

  it('the forecast is by the table or unknown, as the file says', async () => {
    for (const [forecast, reward] of [
      ['table', 23.04523 / 20],
      ['none', null],
    ] as const) {
      const client = await connect({ forecast })
      expect(forecastOf(client, ports())(1n, 20)).toBe(reward)
    }
  })

  it('the forecast runs a call at the head, and again after an hour', async () => {
    const client = await connect({ forecast: 'call', call: CALL })
    const own = ports()
    const rewardAt = forecastOf(client, own)
    expect(rewardAt(1n, 20)).toBeNull()
    await until(() => rewardAt(1n, 20) !== null)
    const height = (await client.cut()).hashes[0].height
    expect(rewardAt(1n, 20)).toBe(height + 4)
    await devnet.mine({ 0: 1 })
    await own.clock.pass(HOUR - 1)
    expect(rewardAt(1n, 20)).toBe(height + 4)
    await own.clock.pass(1)
    await until(() => rewardAt(1n, 20) === height + 5)
    expect(own.told).toEqual([])
    expect(own.faults).toEqual([])
  })

  it('the forecast reports once that a call states no amount, and repeats it', async () => {
    const client = await connect({ forecast: 'call', call: { code: '(coin.pays)', chain: 1 } })
    const own = ports()
    const rewardAt = forecastOf(client, own)
    rewardAt(1n, 20)
    await until(() => own.told.length > 0)
    const message =
      'the reward of future blocks is unknown: coin.call (coin.pays) on chain 1: it returned no amount of coins'
    expect(own.told).toEqual([{ type: 'trouble', message }])
    let asked = 0
    const { local } = client
    client.local = (...args) => {
      asked++
      return local.apply(client, args)
    }
    const again = forecastOf(client, own)
    again(1n, 20)
    await until(() => own.told.length > 1)
    await own.clock.pass(59_999)
    again(1n, 20)
    expect(asked).toBe(1)
    await own.clock.pass(1)
    again(1n, 20)
    await until(() => asked === 2)
  })
})
