/** Reads, transfers and moves coins between chains with `@kadena/client-utils`, each in one call. */
import { createSignWithKeypair } from '@kadena/client'
import { describeModule, listModules } from '@kadena/client-utils/built-in'
import { discoverAccount, getBalance, transfer, transferCrossChain } from '@kadena/client-utils/coin'
import { amountOf, attempt, host, other, sender } from './attempt.mjs'

const ROUNDS = 9
const NETWORK = 'development'
const config = {
  host,
  defaults: { networkId: NETWORK, meta: { chainId: '0' } },
  sign: createSignWithKeypair([sender, other]),
}
const party = ({ account, publicKey }) => ({ account, publicKeys: [publicKey] })

for (let round = 0; round < ROUNDS; round++) {
  await attempt('getBalance', () => getBalance(`sender0${round % 10}`, NETWORK, '0', host))
  if (round % 4 === 0) await attempt('discoverAccount', () => discoverAccount('sender01', NETWORK, host).execute())
  if (round % 4 === 1) await attempt('listModules', () => listModules(config))
  if (round % 4 === 2) await attempt('describeModule', () => describeModule('coin', config))
  const inputs = { sender: party(sender), amount: amountOf(round), chainId: '0' }
  await attempt('transfer', () => transfer({ ...inputs, receiver: 'sender01' }, config).execute())
  const receiver = { account: 'sender01', keyset: { keys: [other.publicKey], pred: 'keys-all' } }
  const across = { ...inputs, receiver, targetChainId: '1', targetChainGasPayer: party(other) }
  await attempt('transferCrossChain', () => transferCrossChain(across, config).execute())
}
