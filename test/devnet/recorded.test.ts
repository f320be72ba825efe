/** Stored blocks of older rules: gas and outputs hold as recorded, but the writes must be those of the block. */
import { describe, expect, it } from 'vitest'
import { executePayloadAsRecorded } from '../../src/devnet/ledger/execute-payload.ts'
import { payloadHashes } from '../../src/ground/chain/payload.ts'
import { LedgerGround, transferCaps } from './ledger-ground.ts'

const MINER = { account: 'miner', predicate: 'keys-all', publicKeys: ['a'.repeat(64)] }

/** A transfer and a failed command; `change` forges the output of one, and the block is executed again. */
function again(index: 0 | 1, change: (output: string) => string) {
  const ground = new LedgerGround('singleton')
  const caps = { clist: transferCaps('sender00', 'sender01', 1) }
  const commands = [
    ground.command(0, '(coin.transfer "sender00" "sender01" 1.0)', caps),
    ground.command(0, '(enforce false "no")'),
  ]
  const parent = ground.chains.cut.get(0)
  if (parent === undefined) throw new Error('no chain 0')
  const { payload } = ground.grow(0, commands)
  const transactions = payload.transactions.map(({ transaction, output }, i) => {
    return { transaction, output: i === index ? Buffer.from(change(Buffer.from(output).toString())) : output }
  })
  const parts = { minerData: payload.minerData, coinbase: payload.coinbase, transactions }
  const execution = { begin: () => ground.ledger.begin(parent, MINER), check: () => null }
  return executePayloadAsRecorded(execution, { ...parts, ...payloadHashes(parts) })
}

describe('a block of older rules', () => {
  it('a block of older rules executes with another error text, and the writes that it had', () => {
    const same = again(0, (output) => output)
    expect(same).toHaveProperty('writes')
    expect(again(1, (output) => output.replace('"message":"no"', '"message":"it was no"'))).toEqual(same)
  })

  it.each([
    [0, /"gas":\d+/, '"gas":1', 'transaction 0: it has other writes'],
    [0, /"txId":(\d+)/, '"txId":9$1', 'transaction 0: it has other transaction ids'],
    [0, '"continuation":null', '"continuation":{}', 'transaction 0: it has other continuations'],
    [0, '"status":"success"', '"status":"failure"', 'transaction 0: it has other writes'],
    [1, '"status":"failure"', '"status":"success"', 'transaction 1: it fails: no'],
    [1, /"gas":\d+/, '"gas":1', 'transaction 1: it has other writes'],
  ] as const)('a block of older rules is refused: transaction %i with %s as %s', (index, from, to, fault) => {
    expect(again(index, (output) => output.replace(from, to))).toEqual({ fault })
  })
})
