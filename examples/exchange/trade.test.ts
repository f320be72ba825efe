import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Devnet, startDevnet } from 'newcut/devnet'
import { NodeClient } from 'newcut/node'
import { knownKey } from 'newcut/wallet'
import { eventLines, Market } from './market.ts'

const owner = knownKey('sender00')
if (owner === null) throw new Error('no such key')

/** A pin is 10 blocks below the head, so each command gets 10 blocks on top. */
const autoMine = { kind: 'on-arrival', confirmations: 10 } as const
let devnet: Devnet
let client: NodeClient
let market: Market

before(async () => {
  devnet = await startDevnet({ port: 0, graph: 'singleton', autoMine })
  client = await NodeClient.connect({ url: devnet.url })
  market = new Market(client, owner)
  await market.deploy()
  await market.mint('1000.0')
  await market.deposit('100.0', '400.0')
})

after(async () => {
  await client.close()
  await devnet.close()
})

test('a trade pays what was quoted, and an event reports it', async () => {
  assert.equal(await market.quote('10.0'), '36.26443575')
  const lines = eventLines(await market.sellCoins('10.0', '36.0'))
  const [swapped] = lines.filter((line) => line.startsWith('free.exchange.SWAPPED'))
  assert.equal(swapped, 'free.exchange.SWAPPED "coin/free.token" "sender00" 10.0 36.26443575 0.275752256809')
  assert.equal(await market.tokens(), '636.26443575')
})

test('a trade fails below the minimum that its seller accepts', async () => {
  await assert.rejects(market.sellCoins('10.0', '36.0'), /The price has moved: 30\.\d+ is less than 36\.0/)
})

test('a trade on a fork leaves the pool of the network alone', async () => {
  const fork = await startDevnet({
    port: 0,
    autoMine: { kind: 'on-arrival', confirmations: 0 },
    fork: { url: devnet.url },
  })
  try {
    const forkClient = await NodeClient.connect({ url: fork.url })
    const forkMarket = new Market(forkClient, owner)
    const tokens = await market.tokens()
    const quote = await market.quote('5.0')
    assert.equal(await forkMarket.tokens(), tokens)
    await forkMarket.sellCoins('5.0', quote)
    assert.notEqual(await forkMarket.tokens(), tokens)
    assert.equal(await market.tokens(), tokens)
    assert.equal(await market.quote('5.0'), quote)
    await forkClient.close()
  } finally {
    await fork.close()
  }
})
