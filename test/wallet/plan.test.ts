/** Transfers that cannot work are refused before anything is sent. A receiver with a guard is named by that guard. */
import { describe, expect, it } from 'vitest'
import { signingKey } from '../../src/client/wallet/keys.ts'
import { planTransfer } from '../../src/client/wallet/plan.ts'
import type { WalletNode } from '../../src/client/wallet/wallet-node.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'

const SECRET = 'ab'.repeat(32)
const KEY = signingKey(SECRET).publicKey
const OTHER = 'cd'.repeat(32)
const keys = [signingKey(SECRET)]
const keyset = (...list: string[]) => ({ pred: 'keys-all', keys: list })
const code = { fun: 'free.guards.mine', args: [] }

/** Account and chain -> balance and guard as nodes write them. Other accounts do not exist. */
function nodeWith(accounts: Readonly<Record<string, { balance: number; guard: unknown } | 'nonsense'>>): WalletNode {
  const local = async (chain: number, { cmd }: { readonly cmd: string }) => {
    const [, name] = /details \\"([^\\]*)\\"/.exec(cmd) ?? []
    const found = accounts[`${name} ${chain}`]
    if (found === undefined) {
      const error = { message: `No value found in table coin_coin-table for key: ${name}`, type: 'EvalError' }
      return { result: { status: 'failure', error } }
    }
    return { result: { status: 'success', data: found === 'nonsense' ? 'nonsense' : { account: name, ...found } } }
  }
  return { info: { nodeVersion: 'development' }, network: { network: development }, local } as unknown as WalletNode
}

const requestFor = (to: string, targetChain = 0) => ({
  transfer: { from: 'alice', to, amount: Decimal.parse('2.5') as Decimal },
  chain: 0,
  targetChain,
  keys,
  terms: { gasLimit: 1000, gasPrice: '0.001', ttlMs: 1000 },
})
const alice = { 'alice 0': { balance: 10, guard: keyset(KEY) } }
const refusal = (accounts: Parameters<typeof nodeWith>[0], to: string, targetChain?: number) =>
  planTransfer(nodeWith({ ...alice, ...accounts }), requestFor(to, targetChain)).then(
    () => 'planned',
    (error: Error) => error.message,
  )

const PAYER_THERE =
  'the step there needs up to 1 coins for gas: move some there, or name an account of the key with `gasPayer`'

describe('a transfer is refused', () => {
  it.each([
    ['from nobody', { 'alice 0': undefined as never }, 'bob', 0, 'there is no account alice on chain 0'],
    [
      'without enough coins for gas',
      { 'alice 0': { balance: 2.5, guard: keyset(KEY) } },
      'bob',
      0,
      'alice has 2.5 coins',
    ],
    [
      'without the key',
      { 'alice 0': { balance: 10, guard: keyset(OTHER) } },
      'bob',
      0,
      'is guarded by keys-all of cdcd',
    ],
    ['to a name that does not say who guards it', {}, 'bob', 0, 'its name does not imply a guard'],
    ['where nobody can pay for the second step', {}, `k:${OTHER}`, 1, 'there is no account alice on chain 1'],
    [
      'where the second step costs more than there is',
      { 'alice 1': { balance: 0.5, guard: keyset(KEY) } },
      `k:${OTHER}`,
      1,
      'alice has 0.5 coins on chain 1',
    ],
    [
      'to an account on another chain that code guards',
      { 'alice 1': { balance: 9, guard: keyset(KEY) }, 'bob 1': { balance: 0, guard: code } },
      'bob',
      1,
      'is guarded by code',
    ],
    ['at a node that answers nonsense', { 'bob 0': 'nonsense' as const }, 'bob', 0, 'gave no balance and guard'],
  ] as const)('a transfer %s is refused', async (_, accounts, to, targetChain, message) => {
    expect(await refusal(accounts, to, targetChain)).toContain(message)
  })

  it.each([
    ['nobody pays here', { 'alice 0': undefined as never }, 0, 'newcut balance alice shows where it is'],
    [
      'others guard the sender',
      { 'alice 0': { balance: 10, guard: keyset(OTHER) } },
      0,
      'sign with the keys that guard it',
    ],
    ['nobody pays there', {}, 1, PAYER_THERE],
    ['others guard the payer there', { 'alice 1': { balance: 9, guard: keyset(OTHER) } }, 1, PAYER_THERE],
    ['the payer there has too little', { 'alice 1': { balance: 0.5, guard: keyset(KEY) } }, 1, PAYER_THERE],
  ] as const)('a transfer is refused with advice where %s', async (_, accounts, targetChain, hint) => {
    const planned = planTransfer(nodeWith({ ...alice, ...accounts }), requestFor(`k:${OTHER}`, targetChain))
    await expect(planned).rejects.toMatchObject({ code: 'COMMAND_FAILED', hint })
  })

  it('a transfer is refused for a gas price that is not a number', async () => {
    const terms = { gasLimit: 1, gasPrice: 'much', ttlMs: 1000 }
    await expect(planTransfer(nodeWith(alice), { ...requestFor('bob'), terms })).rejects.toMatchObject({
      code: 'BAD_OPTION',
    })
  })
})

describe('a transfer is planned', () => {
  it('a transfer from an account that code guards is planned: the node judges the signatures', async () => {
    const accounts = { 'alice 0': { balance: 10, guard: code }, 'bob 0': { balance: 0, guard: keyset(OTHER) } }
    const request = await planTransfer(nodeWith(accounts), requestFor('bob'))
    expect(request.payload).toMatchObject({ code: '(coin.transfer "alice" "bob" 2.5)' })
  })

  it('a transfer to an account on another chain that a named keyset guards is planned', async () => {
    const accounts = {
      'alice 1': { balance: 9, guard: keyset(KEY) },
      'bob 1': { balance: 0, guard: { keysetref: { ns: 'free', ksn: 'admins' } } },
    }
    const request = await planTransfer(nodeWith({ ...alice, ...accounts }), requestFor('bob', 1))
    expect(request.payload).toMatchObject({
      code: '(coin.transfer-crosschain "alice" "bob" (keyset-ref-guard "free.admins") "1" 2.5)',
    })
  })
})
