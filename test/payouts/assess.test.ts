/** The blocks and shares of a prepared log: credits of each user, and the effect of an orphan. */
import { describe, expect, it } from 'vitest'
import { type Fraction, fractionOf } from '../../src/ground/base/coins.ts'
import type { ShareEntry } from '../../src/mining/accounts/share-store.ts'
import { type Assessment, assess, type PoolRules } from '../../src/pool/payouts/assess.ts'
import { PayoutLedger } from '../../src/pool/payouts/ledger.ts'
import type { CreditLine, SentLine } from '../../src/pool/payouts/payout-line.ts'
import { reportOf } from '../../src/pool/payouts/report.ts'
import type { SchemeName } from '../../src/pool/payouts/schemes.ts'
import { ChainOfWords } from './chain-of-words.ts'
import { accountOf, blockOf, keyOf, MemoryShares, share } from './memory-shares.ts'

const POOL = accountOf('f')
const [ANN, BEN] = [accountOf('a'), accountOf('b')]
const [A, B, C, D] = ['A', 'B', 'C', 'D'].map(blockOf)
const REWARD = { account: POOL, amount: '2.0' }
const deep = { kind: 'on-chain', depth: 6 } as const

function rules(scheme: SchemeName, fee = '0', window = '2.0'): PoolRules {
  const value = fractionOf(window) as Fraction
  const percent = fractionOf(fee) as Fraction
  return {
    account: POOL,
    network: 'development',
    scheme,
    confirmations: 6,
    window: { text: window, value },
    fee: { text: fee, value: { numerator: percent.numerator, denominator: percent.denominator * 100n } },
  }
}

const at = '2026-01-01T00:00:00.000Z'
const signal = new AbortController().signal

/** Share n of the log, of a block with difficulty 100. */
const entry = (n: number, user: string, difficulty: number, block: string | null = null, chain = 0): ShareEntry =>
  share({ id: `s${String(n).padStart(4, '0')}`, timeMs: n * 10, user, difficulty, block, chain, height: n })

/** Shares of Ann and Ben. Blocks A, B and C are found at the third, sixth and ninth share. */
const LOG = [
  entry(1, ANN, 30),
  entry(2, BEN, 10),
  entry(3, keyOf('a'), 20, A),
  entry(4, BEN, 40),
  entry(5, BEN, 10),
  entry(6, ANN, 50, B, 1),
  entry(7, ANN, 20),
  entry(8, 'nobody', 20),
  entry(9, BEN, 60, C),
]

function pool(log: readonly ShareEntry[] = LOG) {
  const node = new ChainOfWords()
  for (const block of [A, B, C, D]) node.set(block, deep, REWARD)
  return { node, reader: new MemoryShares(log) }
}

const look = (of: ReturnType<typeof pool>, by: PoolRules, ledger = new PayoutLedger()): Promise<Assessment> =>
  assess({ ...of, ledger, rules: by, signal, at })

/** Block -> payee -> amount. */
const amountsOf = ({ ledger }: Assessment) =>
  Object.fromEntries(
    [...ledger.credits].map(([block, { parts }]) => [
      block,
      Object.fromEntries(parts.map(({ payee, amount }) => [payee, amount])),
    ]),
  )

const statesOf = ({ blocks }: Assessment) => blocks.map(({ share: { block }, state }) => [block, state])
const owedOf = ({ ledger, held }: Assessment) =>
  ledger.balances(POOL, (block) => held.has(block)).map(({ chain, account, amount }) => [chain, account, amount])

describe('PROP', () => {
  it('PROP divides by the shares of each round, which ends at a block that counts', async () => {
    const seen = await look(pool(), rules('prop'))
    expect(amountsOf(seen)).toEqual({
      // Ann has 50 of 60, Ben 10; the rest from rounding belongs to the operator.
      [A]: { [ANN]: '1.666666666666', [BEN]: '0.333333333333' },
      [B]: { [ANN]: '1.0', [BEN]: '1.0' },
      [C]: { [ANN]: '0.4', [BEN]: '1.2', nobody: '0.4' },
    })
    expect(seen.ledger.credits.get(A)?.rest).toBe('0.000000000001')
  })

  it('PROP adds the round of an orphan to the next', async () => {
    const setup = pool()
    setup.node.set(B, { kind: 'orphaned', depth: 6 })
    const seen = await look(setup, rules('prop'))
    expect(statesOf(seen)).toEqual([
      [A, 'credited'],
      [B, 'orphaned'],
      [C, 'credited'],
    ])
    // Ann 50 + 20, Ben 50 + 60, nobody 20; together 200.
    expect(amountsOf(seen)[C]).toEqual({ [ANN]: '0.7', [BEN]: '1.1', nobody: '0.2' })
  })

  it('PROP holds a block back while an earlier one is not settled', async () => {
    const setup = pool()
    setup.node.set(B, { kind: 'on-chain', depth: 5 })
    const first = await look(setup, rules('prop'))
    expect(statesOf(first)).toEqual([
      [A, 'credited'],
      [B, 'waiting'],
      [C, 'queued'],
    ])
    setup.node.set(B, { kind: 'orphaned', depth: 7 })
    const second = await look(setup, rules('prop'), first.ledger)
    expect(amountsOf(second)[C]).toEqual({ [ANN]: '0.7', [BEN]: '1.1', nobody: '0.2' })
    expect(second.lines).toHaveLength(1)
  })

  it('PROP adds the round of a revoked block to the next one', async () => {
    const setup = pool()
    setup.node.set(C, { kind: 'on-chain', depth: 1 })
    const first = await look(setup, rules('prop'))
    setup.node.set(B, { kind: 'orphaned', depth: 6 })
    setup.node.set(C, deep)
    const second = await look(setup, rules('prop'), first.ledger)
    expect(second.lines.map(({ type }) => type)).toEqual(['orphaned', 'credit'])
    expect(amountsOf(second)[C]).toEqual({ [ANN]: '0.7', [BEN]: '1.1', nobody: '0.2' })
  })

  it('PROP starts after the last block of another scheme', async () => {
    const setup = pool()
    setup.node.set(C, { kind: 'awaited' })
    const first = await look(setup, rules('solo'))
    setup.node.set(C, deep)
    const second = await look(setup, rules('prop'), first.ledger)
    expect(amountsOf(second)[C]).toEqual({ [ANN]: '0.4', [BEN]: '1.2', nobody: '0.4' })
  })
})

describe('PPLNS', () => {
  it('PPLNS pays the newest shares of each block, over earlier blocks and orphans', async () => {
    const setup = pool()
    setup.node.set(B, { kind: 'passed', depth: 6 })
    const seen = await look(setup, rules('pplns', '0', '1.5'))
    expect(amountsOf(seen)).toEqual({
      // The window is not full: Ann has 0.5 and Ben 0.1 of 1.5 blocks.
      [A]: { [ANN]: '0.666666666666', [BEN]: '0.133333333333' },
      // Newest first: Ben 60, nobody 20, Ann 20, Ann 50. Ben's 10 and 40 no longer fit.
      [C]: { [ANN]: '0.933333333333', [BEN]: '0.8', nobody: '0.266666666666' },
    })
    expect(seen.ledger.credits.get(A)?.rest).toBe('1.200000000001')
    expect(seen.ledger.credits.get(C)?.rest).toBe('0.000000000001')
  })

  it('PPLNS does not count shares after that of the block', async () => {
    const late = share({ id: 's0003x', timeMs: 30, user: BEN, difficulty: 1000 })
    const seen = await look(pool([...LOG.slice(0, 3), late]), rules('pplns', '0', '0.2'))
    expect(amountsOf(seen)[A]).toEqual({ [ANN]: '2.0' })
  })
})

describe('SOLO', () => {
  it('SOLO gives the finder all but the fee', async () => {
    const seen = await look(pool(), rules('solo', '1.5'))
    expect(amountsOf(seen)).toEqual({ [A]: { [ANN]: '1.97' }, [B]: { [ANN]: '1.97' }, [C]: { [BEN]: '1.97' } })
    expect(seen.ledger.credits.get(A)).toMatchObject({ fee: '0.03', rest: '0.0', reward: '2.0', finder: keyOf('a') })
  })

  it('SOLO owes on the chain of each block', async () => {
    expect(owedOf(await look(pool(), rules('solo')))).toEqual([
      [0, ANN, 2_000_000_000_000n],
      [0, BEN, 2_000_000_000_000n],
      [1, ANN, 2_000_000_000_000n],
    ])
  })
})

describe('a block', () => {
  it.each([
    [{ kind: 'on-chain', depth: 5 }, 'waiting'],
    [{ kind: 'orphaned', depth: 5 }, 'waiting'],
    [{ kind: 'passed', depth: 5 }, 'waiting'],
    [{ kind: 'awaited' }, 'waiting'],
    [{ kind: 'on-chain', depth: 6 }, 'credited'],
    [{ kind: 'orphaned', depth: 6 }, 'orphaned'],
    [{ kind: 'passed', depth: 6 }, 'orphaned'],
  ] as const)('a block at %o is %s with 6 confirmations', async (place, state) => {
    const setup = pool(LOG.slice(0, 3))
    setup.node.set(A, place)
    expect(statesOf(await look(setup, rules('solo')))).toEqual([[A, state]])
  })

  it('a block is left out, and ends no round, if it paid another account', async () => {
    const setup = pool()
    setup.node.set(B, deep, { account: ANN, amount: '2.0' })
    const seen = await look(setup, rules('prop'))
    expect(statesOf(seen)[1]).toEqual([B, 'foreign'])
    expect(seen.blocks[1].reward).toEqual({ account: ANN, amount: 2_000_000_000_000n })
    expect(amountsOf(seen)[C]).toEqual({ [ANN]: '0.7', [BEN]: '1.1', nobody: '0.2' })
  })

  it('a block is left out if its coinbase names no amount', async () => {
    const setup = pool()
    setup.node.set(B, deep, null)
    expect(statesOf(await look(setup, rules('solo')))[1]).toEqual([B, 'unpaid'])
  })

  it('a block pays what the text of its coinbase says, or its event if the text has no payment', async () => {
    const setup = pool()
    const rewardOf = async () => (await look(setup, rules('solo'))).ledger.credits.get(A)?.reward
    const byEvent = await rewardOf()
    setup.node.payment = { model: 'result', pattern: '{account} got {amount} coins' }
    expect(await rewardOf()).toBe(`1${byEvent}`)
    setup.node.payment = { model: 'result', pattern: '{account} got {amount} stones' }
    expect(await rewardOf()).toBe(byEvent)
  })

  it('a block counts once, whatever the rules are later', async () => {
    const setup = pool()
    const first = await look(setup, rules('prop'))
    const second = await look(setup, rules('solo', '50'), first.ledger)
    expect(second.lines).toEqual([])
    expect(amountsOf(second)).toEqual(amountsOf(first))
  })

  it('a block counts once when two shares name it', async () => {
    const seen = await look(pool([...LOG, entry(10, ANN, 60, C)]), rules('solo'))
    expect(amountsOf(seen)[C]).toEqual({ [BEN]: '2.0' })
    expect(seen.blocks).toHaveLength(3)
  })

  it('a block is revoked if it was credited and not paid, and returns with its chain', async () => {
    const setup = pool()
    const first = await look(setup, rules('solo'))
    setup.node.set(A, { kind: 'orphaned', depth: 3 })
    const unsettled = await look(setup, rules('solo'), first.ledger)
    expect(unsettled.lines).toEqual([])
    expect([...unsettled.held]).toEqual([A])
    expect(owedOf(unsettled)).toEqual(owedOf(first).filter(([chain, account]) => chain !== 0 || account !== ANN))

    setup.node.set(A, { kind: 'orphaned', depth: 6 })
    const gone = await look(setup, rules('solo'), first.ledger)
    expect(gone.lines).toEqual([{ at, type: 'orphaned', block: A }])
    expect(owedOf(gone)).toEqual(owedOf(unsettled))
    expect(statesOf(gone)[0]).toEqual([A, 'orphaned'])
    expect((await look(setup, rules('solo'), gone.ledger)).lines).toEqual([])

    setup.node.set(A, deep)
    const back = await look(setup, rules('solo'), gone.ledger)
    expect(back.lines).toEqual([{ at, type: 'restored', block: A }])
    expect(owedOf(back)).toEqual(owedOf(first))
  })

  it('a block is orphaned after all of it was paid, as a loss of the operator, and returns with its chain', async () => {
    const setup = pool(LOG.slice(0, 3))
    const by = rules('solo', '1')
    const first = await look(setup, by)
    const key = blockOf('k')
    const order: SentLine = {
      at,
      type: 'order',
      network: 'development',
      account: POOL,
      chain: 0,
      requestKey: key,
      expires: 1,
      command: { hash: key, sigs: [], cmd: '{}' },
      pays: [{ account: ANN, amount: '1.98', for: [{ block: A, amount: '1.98' }] }],
    }
    const paid = first.ledger.copyWith([
      order,
      { at, type: 'result', requestKey: key, outcome: 'paid', height: 9, message: '' },
    ])
    const operatorOf = (seen: Assessment) => reportOf(seen, by, 0n).operator
    const still = await look(setup, by, paid)
    expect(still.lines).toEqual([])
    expect(still.blocks[0].depth).toBe(6)
    expect(operatorOf(still)).toMatchObject([{ fee: '0.02', lost: '0.0' }])

    setup.node.set(A, { kind: 'orphaned', depth: 6 })
    const gone = await look(setup, by, paid)
    expect(gone.lines).toEqual([{ at, type: 'orphaned', block: A }])
    expect(statesOf(gone)).toEqual([[A, 'orphaned']])
    expect(owedOf(gone)).toEqual([])
    expect(operatorOf(gone)).toMatchObject([{ fee: '0.0', lost: '1.98' }])

    setup.node.set(A, deep)
    const back = await look(setup, by, gone.ledger)
    expect(back.lines).toEqual([{ at, type: 'restored', block: A }])
    expect(statesOf(back)).toEqual([[A, 'credited']])
    expect(owedOf(back)).toEqual([])
    expect(operatorOf(back)).toMatchObject([{ fee: '0.02', lost: '0.0' }])
  })

  it('a block of an older journal stays unpaid for a user without an account at that time, because it may be paid by hand', async () => {
    const setup = pool(LOG.slice(0, 3))
    const first = await look(setup, rules('solo'))
    const old = {
      ...(first.lines[0] as CreditLine),
      parts: [{ payee: `K:${keyOf('A')}`, amount: '2.0', shares: 1, worth: '1' }],
    }
    const second = await look(setup, rules('solo'), new PayoutLedger([old]))
    expect(owedOf(second)).toEqual([])
    const { blocks, unpaid } = reportOf(second, rules('solo'), 0n)
    expect(blocks[0].division?.parts.map(({ state }) => state)).toEqual(['unpayable'])
    const reason = 'an earlier version of newcut did not know its account'
    expect(unpaid).toEqual([{ user: `K:${keyOf('A')}`, reason }])
  })

  it('a block is not looked up again once it is paid and the share log has forgotten it', async () => {
    const setup = pool(LOG.slice(0, 3))
    const first = await look(setup, rules('solo'))
    const order: SentLine = {
      at,
      type: 'order',
      network: 'development',
      account: POOL,
      chain: 0,
      requestKey: blockOf('k'),
      expires: 1,
      command: { hash: blockOf('k'), sigs: [], cmd: '{}' },
      pays: [{ account: ANN, amount: '2.0', for: [{ block: A, amount: '2.0' }] }],
    }
    setup.node.set(A, { kind: 'orphaned', depth: 6 })
    setup.node.asked.length = 0
    const second = await look({ ...setup, reader: new MemoryShares() }, rules('solo'), first.ledger.copyWith([order]))
    expect(setup.node.asked).toEqual([])
    expect(second.lines).toEqual([])
    expect(owedOf(second)).toEqual([])
  })

  it('a block keeps its round when it is orphaned after a part was paid', async () => {
    const setup = pool()
    setup.node.set(C, { kind: 'awaited' })
    const first = await look(setup, rules('prop'))
    const order: SentLine = {
      at,
      type: 'order',
      network: 'development',
      account: POOL,
      chain: 1,
      requestKey: blockOf('k'),
      expires: 1,
      command: { hash: blockOf('k'), sigs: [], cmd: '{}' },
      pays: [{ account: ANN, amount: '1.0', for: [{ block: B, amount: '1.0' }] }],
    }
    setup.node.set(B, { kind: 'orphaned', depth: 6 })
    setup.node.set(C, deep)
    const second = await look(setup, rules('prop'), first.ledger.copyWith([order]))
    expect(amountsOf(second)[C]).toEqual({ [ANN]: '0.4', [BEN]: '1.2', nobody: '0.4' })
    expect(owedOf(second).map(([chain]) => chain)).toEqual([0, 0])
  })
})
