/** Blocks that execute: gas, rewards, failures, and a state for every block on every branch. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../src/devnet/store/block-store.ts'
import { parseExactJson } from '../../src/ground/base/json.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { encodeWork } from '../../src/ground/chain/header.ts'
import { payloadHashes } from '../../src/ground/chain/payload.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { valueFromJson } from '../../src/language/contracts/values/wire.ts'
import { roundsOf } from '../rotation.ts'
import { headOf, LedgerGround, resultOf, transferCaps } from './ledger-ground.ts'

const REWARD = Decimal.parse('23.04523') as Decimal

describe('a transfer', () => {
  const ground = new LedgerGround('singleton')
  const transfer = (amount: number, gasLimit = 2000) =>
    ground.command(0, `(coin.transfer "sender00" "sender01" ${amount.toFixed(1)})`, {
      clist: transferCaps('sender00', 'sender01', amount),
      gasLimit,
    })

  it('a transfer moves coins, pays the miner for its gas, and reports both in this order', () => {
    const command = transfer(1.5)
    ground.grow(0, [command])
    const result = ground.result(0, command.key)
    expect(result).toMatchObject({ result: { status: 'success', data: 'Write succeeded' }, continuation: null })
    expect(result?.events?.map(({ name, params }) => [name, params[1]])).toEqual([
      ['TRANSFER', 'sender01'],
      ['TRANSFER', 'miner'],
    ])
    expect(ground.local(0, '(coin.get-balance "sender01")')).toBe(110_000_001.5)
    const fee = Number(((result?.gas ?? 0) * 1e-8).toFixed(12))
    expect(result?.events?.[1]?.params[2]).toBeCloseTo(fee, 12)
  })

  it('a transfer costs what buying gas, its size and the transfer itself cost', () => {
    const paidFor = (code: string, options = {}) => {
      const command = ground.command(0, code, options)
      ground.grow(0, [command])
      return ground.result(0, command.key)?.gas ?? 0
    }
    const caps = { clist: transferCaps('sender00', 'sender01', 420) }
    const [transfer, sum] = [
      paidFor('(coin.transfer "sender00" "sender01" 420.0)', { ...caps, gasLimit: 2000 }),
      paidFor('(fold + 0 [1 2 3 4 5])', { ...caps, gasLimit: 2000 }),
    ]
    // 155.9 gas for the transfer and 1.8 for the sum; the command of the transfer is a few bytes longer.
    expect(transfer - sum).toBeGreaterThanOrEqual(154)
    expect(transfer - sum).toBeLessThanOrEqual(155)
    // 69.2 gas to buy the gas, and at most 35 for a command of one signature.
    expect(sum).toBeGreaterThan(69.2 + 1.8 + 21)
    expect(sum).toBeLessThan(69.2 + 1.8 + 36)
  })

  it('a transfer that the gas left after buying it does not pay for fails and costs its limit', () => {
    const command = transfer(1, 70)
    ground.grow(0, [command])
    expect(ground.result(0, command.key)).toMatchObject({
      gas: 70,
      result: { status: 'failure', error: { message: expect.stringMatching(/^Gas limit "70" exceeded: /) } },
    })
  })

  it('a transfer that the sender cannot afford fails, takes all its gas, and changes nothing else', () => {
    const command = transfer(1e9)
    const before = ground.local(0, '(coin.get-balance "sender01")')
    ground.grow(0, [command])
    expect(ground.result(0, command.key)).toMatchObject({
      gas: 2000,
      result: { status: 'failure', error: { type: 'TxFailure', message: 'Insufficient funds' } },
      txId: null,
    })
    expect(ground.local(0, '(coin.get-balance "sender01")')).toBe(before)
  })

  it('a transfer that runs out of gas fails with the words of live nodes', () => {
    const command = transfer(1, 40)
    ground.grow(0, [command])
    const { result } = ground.result(0, command.key) ?? {}
    expect(result?.error?.message).toMatch(/^Gas limit "40" exceeded: \d+$/)
  })

  it('a transfer of an unknown account is in no block', () => {
    const command = ground.command(0, '(+ 1 1)', { sender: 'nobody', publicKey: 'b'.repeat(64) })
    const block = ground.grow(0, [command])
    expect(block.payload.transactions).toEqual([])
    expect(ground.ledger.gasFault(0, command.command)).toBe(
      `Attempt to buy gas failed with: "${command.key}" Failed to buy gas: No value found in table coin_coin-table for key: nobody`,
    )
  })
})

it('a miner whose account has another guard gets nothing, and the chain continues', () => {
  const ground = new LedgerGround('singleton')
  ground.grow(0)
  const other = { account: 'miner', predicate: 'keys-all', publicKeys: ['c'.repeat(64)] }
  const block = ground.grow(0, [ground.command(0, '(+ 1 2)')], other)
  expect(resultOf(block.payload.coinbase).result).toMatchObject({
    status: 'failure',
    error: { message: 'account guards do not match' },
  })
  expect(block.payload.transactions).toEqual([])
  expect(ground.local(0, '(coin.get-balance "miner")')).toBe(23.04523)
})

describe('a block of another node', () => {
  const pairOfNodes = () => {
    const [maker, taker] = [new LedgerGround('singleton'), new LedgerGround('singleton')]
    taker.wait(3600)
    return { maker, taker }
  }

  it('a block of another node is executed, and accepted if its outputs match', () => {
    const { maker, taker } = pairOfNodes()
    const command = maker.command(0, '(+ 1 2)')
    const { header, payload } = maker.grow(0, [command])
    expect(taker.chains.add(header, { ...payload }).status).toBe('added')
    expect(taker.result(0, command.key)?.result).toEqual({ status: 'success', data: { int: 3 } })
  })

  it('a block of another node with wrong outputs is refused with the reason', () => {
    const { maker, taker } = pairOfNodes()
    const { header, payload } = maker.grow(0, [maker.command(0, '(+ 1 2)')])
    const [{ transaction, output }] = payload.transactions
    const lie = Buffer.from(Buffer.from(output).toString().replace('{"int":3}', '{"int":4}'))
    const parts = { ...payload, transactions: [{ transaction, output: lie }] }
    const { transactionsHash, outputsHash, payloadHash } = payloadHashes(parts)
    const work = { ...header, payloadHash }
    const forged = { ...work, hash: blockHash(encodeWork(work)) }
    expect(taker.chains.insert(forged, { ...parts, transactionsHash, outputsHash, payloadHash })).toEqual({
      status: 'invalid',
      rules: ['execution'],
      why: 'the output of its transaction 0 is another one',
    })
  })

  it('a block of another node that repeats a transaction of its own branch is refused', () => {
    const { maker, taker } = pairOfNodes()
    const command = maker.command(0, '(+ 1 2)')
    const [one, two] = [maker.grow(0, [command]), maker.grow(0, [command])]
    expect(taker.chains.add(one.header, { ...one.payload }).status).toBe('added')
    expect(taker.chains.insert(two.header, { ...two.payload })).toMatchObject({
      status: 'invalid',
      rules: ['execution'],
      why: expect.stringContaining(`the transaction ${command.key} is in block`),
    })
  })
})

describe('generated histories', () => {
  const move = fc.record({
    kind: fc.constantFrom('transfer', 'transfer', 'burn', 'mint', 'fail', 'fork', 'grow', 'grow'),
    pick: fc.nat({ max: 1000 }),
    from: fc.nat({ max: 3 }),
    to: fc.nat({ max: 3 }),
    amount: fc.integer({ min: 1, max: 5_000_000 }),
  })

  it('generated histories keep every coin: a branch has its initial coins, its rewards, and arrivals minus departures', () => {
    fc.assert(
      fc.property(fc.array(move, { minLength: 10, maxLength: 40 }), (moves) => {
        const history = new History()
        for (const each of moves) history.step(each)
        for (const header of history.ground.chains.cut.values()) {
          const expected = history.expectedTotal(header)
          expect(history.ground.total({ chain: header.chainId, hash: header.hash }).compare(expected)).toBe(0)
        }
        history.expectSameStates()
      }),
      { numRuns: roundsOf(12, 3) },
    )
  })
})

interface Move {
  readonly kind: string
  readonly pick: number
  readonly from: number
  readonly to: number
  readonly amount: number
}

/** A network of three adjacent chains with random transfers and forks. */
class History {
  readonly ground = new LedgerGround('triangle')
  /** The state of each block at the time when it was added. */
  readonly #states = new Map<string, { block: Block; state: string }>()
  readonly #burned: { chain: number; key: string; target: number }[] = []

  step({ kind, pick, from, to, amount }: Move): void {
    const open = this.ground.open()
    const chain = open[pick % open.length]
    if (kind === 'fork') this.#fork(pick)
    else if (kind === 'mint') this.#mint(pick)
    else this.#add(this.ground.grow(chain, this.#commands(kind, chain, { from, to, amount })))
  }

  #commands(kind: string, chain: number, { from, to, amount }: Pick<Move, 'from' | 'to' | 'amount'>) {
    const [sender, receiver] = [`sender0${from}`, `sender0${to}`]
    const coins = amount / 1000
    if (kind === 'transfer' || kind === 'fail') {
      const asked = kind === 'fail' ? coins * 1e9 : coins
      const code = `(coin.transfer "${sender}" "${receiver}" ${asked.toFixed(4)})`
      return [this.ground.command(chain, code, { sender, clist: transferCaps(sender, receiver, asked) })]
    }
    if (kind !== 'burn') return []
    const target = (chain + 1) % 3
    const guard = `(read-keyset "k")`
    const code = `(coin.transfer-crosschain "${sender}" "${receiver}" ${guard} "${target}" ${coins.toFixed(4)})`
    const clist = [
      { name: 'coin.GAS', args: [] },
      { name: 'coin.TRANSFER_XCHAIN', args: [sender, receiver, coins, String(target)] },
    ]
    const data = { k: [this.#keyOf(receiver)] }
    const command = this.ground.command(chain, code, { sender, clist, data })
    this.#burned.push({ chain, key: command.key, target })
    return [command]
  }

  #keyOf(account: string): string {
    const details = this.ground.local(0, `(coin.details "${account}")`) as { guard: { keys: string[] } }
    return details.guard.keys[0]
  }

  /** Completes a cross-chain transfer if possible; may try the same one again. */
  #mint(pick: number): void {
    const burned = this.#burned[pick % Math.max(1, this.#burned.length)]
    if (burned === undefined) return
    const { chain, key, target } = burned
    const proof = this.ground.proof(chain, key, target)
    if (proof === null || !this.ground.open().includes(target)) return
    const cont = { pactId: key, step: 1, proof }
    this.#add(this.ground.grow(target, [this.ground.command(target, '', { sender: 'sender03', cont })]))
  }

  /** Replaces the last blocks of the network by a heavier branch. */
  #fork(pick: number): void {
    const { chains } = this.ground
    const depth = 1 + (pick % 3)
    const lowest = Math.min(...[...chains.cut.values()].map(({ height }) => Number(height)))
    const height = Math.max(0, lowest - depth)
    const branch = new Map([...chains.cut].map(([chain, { hash }]) => [chain, chains.ancestor(hash, height)]))
    const miner = { account: `fork ${pick}`, predicate: 'keys-all', publicKeys: [] }
    while (!chains.adopt(branch)) {
      const [chain] = this.ground
        .open(branch)
        .sort((a, b) => Number(headOf(branch, a).height - headOf(branch, b).height))
      const block = this.ground.block(
        branch,
        chain,
        this.#commands('transfer', chain, { from: 0, to: 2, amount: pick + 1 }),
        miner,
      )
      this.#add(block)
      branch.set(chain, block.header)
    }
  }

  #add(block: Block): void {
    this.#states.set(block.id, { block, state: this.ground.snapshot(block) })
  }

  /** The sum of all balances on a branch, computed from its outputs. */
  expectedTotal({ hash, chainId }: { readonly hash: Uint8Array; readonly chainId: number }): Decimal {
    const { store } = this.ground.chains
    let sum = Decimal.of(1_674_700_150n)
    for (let block = store.get(hash, chainId); block !== undefined && block.height > 0; block = store.parentOf(block)) {
      for (const output of [block.payload.coinbase, ...block.payload.transactions.map((each) => each.output)]) {
        sum = sum.add(changeOf(output))
      }
    }
    return sum
  }

  /** Later blocks have not changed the state of any block. */
  expectSameStates(): void {
    for (const { block, state } of this.#states.values()) expect(this.ground.snapshot(block)).toBe(state)
  }
}

/** Coins that an output adds to its chain: transfers from nobody minus transfers to nobody. */
function changeOf(output: Uint8Array): Decimal {
  const { events = [] } = parseExactJson(Buffer.from(output).toString()) as {
    events?: readonly { name: string; params: Parameters<typeof valueFromJson>[0][] }[]
  }
  let change = Decimal.of(0n)
  for (const { name, params } of events) {
    if (name !== 'TRANSFER') continue
    const amount = valueFromJson(params[2]) as Decimal
    if (params[0] === '') change = change.add(amount)
    if (params[1] === '') change = change.sub(amount)
  }
  return change
}

it('a block earns the reward of the network, divided among its chains', () => {
  const [one, ten] = [new LedgerGround('singleton'), new LedgerGround('petersen')]
  expect(changeOf(one.grow(0).payload.coinbase).compare(REWARD)).toBe(0)
  expect(changeOf(ten.grow(0).payload.coinbase).compare(REWARD.div(Decimal.of(10n)))).toBe(0)
})
