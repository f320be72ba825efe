/** Sells coins for tokens at the node of NEWCUT_NODE, or on a network of its own. Deploys the contracts where needed. */
import { startDevnet } from 'newcut/devnet'
import { NodeClient } from 'newcut/node'
import { CommandFailed, knownKey } from 'newcut/wallet'
import { eventLines, Market } from './market.ts'

const { NEWCUT_NODE } = process.env
const devnet =
  NEWCUT_NODE === undefined ? await startDevnet({ port: 0, autoMine: { kind: 'on-arrival', confirmations: 0 } }) : null
const client = await NodeClient.connect({ url: NEWCUT_NODE ?? devnet?.url ?? '' })
const owner = knownKey('sender00')
if (owner === null) throw new Error('no such key')

try {
  const market = new Market(client, owner)
  if (!(await market.isDeployed())) {
    await market.deploy()
    await market.mint('1000.0')
    for (const line of eventLines(await market.deposit('100.0', '400.0'))) console.log(line)
  }
  const minimum = await market.quote('10.0')
  const trade = await market.sellCoins('10.0', minimum)
  for (const line of eventLines(trade)) console.log(line)
  console.log(`tokens: ${await market.tokens()}`)
  console.log(`trade: ${trade.reqKey}`)
  // The price is worse now.
  await market.sellCoins('10.0', minimum)
} catch (error) {
  if (!(error instanceof CommandFailed)) throw error
  console.log(error.message)
} finally {
  await client.close()
  await devnet?.close()
}
