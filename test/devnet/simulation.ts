/** Commands and requests of the tests of simulations. */
import { onTestFinished } from 'vitest'
import { type Change, funded } from './command.ts'
import type { Started } from './common.ts'
import { order, refusal } from './control-common.ts'
import { Peer } from './request.ts'

export const GAS = { name: 'coin.GAS', args: [] }
const TRANSFER = { name: 'coin.TRANSFER', args: ['sender00', 'sender01', { decimal: '1.5' }] }
/** A transfer from `sender00`, which pays. */
export const PAY = {
  code: '(coin.transfer "sender00" "sender01" 1.5)',
  sender: 'sender00',
  signers: [{ key: 'sender00', caps: [GAS, TRANSFER] }],
}
export const GUARD = { pred: 'keys-all', keys: [funded.publicKey] }
export const CROSS_CODE = '(coin.transfer-crosschain "sender00" "sender00" (read-keyset "guard") "1" 2.5)'
const TRANSFER_XCHAIN = { name: 'coin.TRANSFER_XCHAIN', args: ['sender00', 'sender00', { decimal: '2.5' }, '1'] }
export const CROSS = {
  code: CROSS_CODE,
  data: { guard: GUARD },
  sender: 'sender00',
  signers: [{ key: 'sender00', caps: [GAS, TRANSFER_XCHAIN] }],
}

export function simulatorOf({ devnet }: Pick<Started, 'devnet'>) {
  const plain = new Peer(devnet.url)
  onTestFinished(() => plain.close())
  const simulate = (...blocks: Change[]) => order(plain, '/devnet/simulate', { blocks })
  const refused = (...blocks: Change[]) => refusal(plain, '/devnet/simulate', { blocks })
  return { plain, devnet, simulate, refused }
}

export const on0 = (...commands: Change[]) => ({ chains: { 0: commands } })
