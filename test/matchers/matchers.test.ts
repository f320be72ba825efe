/** The assertions of `newcut/devnet/matchers`, in vitest. */
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { matchers } from '../../src/client/matchers/public.ts'
import '../../src/client/matchers/vitest.ts'
import { NumberText, parseExactJson } from '../../src/ground/base/json.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'

const coin = { namespace: null, name: 'coin' }
const transfer = (from: string, to: string, amount: unknown) => ({
  name: 'TRANSFER',
  params: [from, to, amount],
  module: coin,
  moduleHash: 'h',
})
const paid = (amount: unknown, ...events: unknown[]) => ({
  gas: 253,
  result: { status: 'success', data: 'Write succeeded' },
  reqKey: 'k',
  events: [transfer('alice', 'bob', amount), ...events, transfer('alice', 'miner', 0.00000253)],
})
const failed = {
  gas: 600,
  result: { status: 'failure', error: { type: 'EvalError', message: 'Insufficient funds', info: 'coin.debit:0' } },
  events: [transfer('alice', 'miner', 0.000006)],
}

/** The message of an assertion that must fail. */
function messageOf(assert: () => void): string {
  try {
    assert()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('the assertion passed')
}

describe('assertions of commands', () => {
  it('toSucceed takes results in all forms, and a whole simulation succeeds with all its commands', () => {
    const local = { gas: 1, result: { status: 'success', data: 3 } }
    for (const each of [paid(1), local, { preflightResult: local }, { commands: [local, paid(1)] }]) {
      expect(each).toSucceed()
    }
    for (const each of [failed, { preflightResult: failed }, { commands: [local, failed] }]) {
      expect(each).not.toSucceed()
    }
    expect(Object.assign(new Error('failed'), { result: failed, error: failed.result.error })).not.toSucceed()
  })

  it('an assertion refuses a value that is not a result of a command, and names await for a promise', () => {
    expect(() => expect(3).toSucceed()).toThrow(/expected a result of poll.*got 3$/)
    expect(() => expect({ result: 1 }).toFailWith('x')).toThrow(TypeError)
    expect(() => expect(Promise.resolve(paid(1))).toSucceed()).toThrow('use await, or expect(...).resolves')
    return expect(Promise.resolve(paid(1))).resolves.toSucceed()
  })

  it('toFailWith compares the message with a text or a pattern, and the type with a code', () => {
    for (const error of ['Insufficient', 'EvalError', /^Insuff/, { type: 'EvalError', message: /funds/ }, {}]) {
      expect(failed).toFailWith(error)
    }
    for (const error of ['TxFailure', /^funds/, { type: 'TxFailure' }, { type: 'EvalError', message: 'coins' }]) {
      expect(failed).not.toFailWith(error)
    }
    expect(paid(1)).not.toFailWith('')
  })

  it('toEmit compares events by name and values, with numbers in any form', () => {
    const result = paid({ decimal: '1.50' })
    expect(result).toEmit('coin.TRANSFER')
    expect(result).toEmit('TRANSFER', ['alice', 'bob', 1.5])
    expect(result).toEmit('coin.TRANSFER', ['alice', expect.any(String), expect.any(Number)])
    expect(paid(new NumberText('1.5'))).toEmit('TRANSFER', ['alice', 'bob', Decimal.parse('1.5')])
    expect(paid(parseExactJson('{"int":12345678901234567890}'))).toEmit('TRANSFER', [
      'alice',
      'bob',
      12345678901234567890n,
    ])
    expect(result).not.toEmit('ANSFER')
    expect(result).not.toEmit('free.TRANSFER')
    expect(result).not.toEmit('TRANSFER', ['alice', 'bob', 1.4])
    expect(result).not.toEmit('TRANSFER', ['alice', 'bob'])
    expect({ commands: [failed, result] }).toEmit('TRANSFER', ['alice', 'bob', 1.5])
  })

  it('toMoveCoins sums up transfers without the fee, and finds coins that move elsewhere', () => {
    expect(paid(1.5)).toMoveCoins({ alice: -1.5, bob: 1.5 })
    expect(paid(1.5)).toMoveCoins({ alice: '-1.50', bob: '1.5', carol: 0 })
    expect(paid(1.5)).not.toMoveCoins({ bob: 1.5 })
    expect(paid(1.5)).toMoveCoins(expect.objectContaining({ bob: 1.5 }))
    expect(paid(0.1, transfer('bob', 'alice', 0.3))).toMoveCoins({ alice: 0.2, bob: -0.2 })
    expect(paid(1.5, transfer('', 'dan', 1))).toMoveCoins({ alice: -1.5, bob: 1.5, dan: 1 })
    expect(failed).toMoveCoins({})
    expect(() => expect(failed).toMoveCoins({ a: 'many' })).toThrow('the change of a is not a number: many')
  })

  it('toMoveCoins drops the fee that a result names, and no other transfer', () => {
    const moved = { ...paid(1.5), events: [transfer('alice', 'bob', 1.5), transfer('alice', 'eve', 0.00000253)] }
    expect({ ...moved, fee: 0 }).toMoveCoins({ alice: '-1.50000253', bob: 1.5, eve: '0.00000253' })
    expect({ ...moved, fee: 0.00000253 }).toMoveCoins({ alice: -1.5, bob: 1.5 })
    const free = { ...paid(1.5), events: [transfer('alice', 'bob', 1.5)] }
    // As the fee of 253 gas it would be a price of 0.1 coins.
    expect({ ...free, events: [transfer('alice', 'bob', 25.3)] }).toMoveCoins({ alice: -25.3, bob: 25.3 })
    const back = { ...paid(1.5), events: [transfer('alice', 'bob', 1.5), transfer('bob', 'alice', 1.5)] }
    expect(back).toMoveCoins({})
    expect(free).toMoveCoins({ alice: -1.5, bob: 1.5 })
  })

  it('toMoveTokens sums up the transfers of another module', () => {
    const result = {
      ...paid(1),
      events: [
        { name: 'TRANSFER', params: ['a', 'b', 2], module: { namespace: 'free', name: 'token' }, moduleHash: 'h' },
      ],
    }
    expect(result).toMoveTokens('free.token', { a: -2, b: 2 })
    expect(result).not.toMoveTokens('token', { a: -2, b: 2 })
    const [event] = result.events
    const small = { ...result, events: [{ ...event, params: ['a', 'b', 0.253] }] }
    expect(small).toMoveTokens('free.token', { a: -0.253, b: 0.253 })
    expect(result).toMoveCoins({})
  })

  it('the message of a failed assertion shows the error, the place, the gas and the events', () => {
    expect(messageOf(() => expect(failed).toSucceed())).toBe(
      `expected success

error   EvalError: Insufficient funds
at      coin.debit:0
gas     600
events  coin.TRANSFER "alice" "miner" 0.000006
`,
    )
    expect(messageOf(() => expect(paid(1)).not.toSucceed())).toContain(
      'expected no success\n\nresult  "Write succeeded"',
    )
    const several = { commands: [paid(1), { ...failed, name: 'second' }] }
    expect(messageOf(() => expect(several).toSucceed())).toContain('command 1 second\nerror   EvalError')
  })

  it('the message of toEmit shows the nearest event as a difference', () => {
    const message = messageOf(() => expect(paid(1, transfer('x', 'y', 9))).toEmit('TRANSFER', ['alice', 'bob', 2]))
    expect(message).toContain('expected event TRANSFER with')
    const plain = stripVTControlCharacters(message)
    expect(plain).toMatch(/-\s+2,\n\s*\+\s+1,/)
    expect(plain).toContain('events  coin.TRANSFER "alice" "bob" 1')
    const later = messageOf(() => expect(paid(1, transfer('x', 'y', 9))).toEmit('TRANSFER', ['x', 'y', 8]))
    expect(stripVTControlCharacters(later)).toMatch(/-\s+8,\n\s*\+\s+9,/)
    expect(messageOf(() => expect(failed).toEmit('NEVER', [1]))).not.toContain('Received')
  })

  it('the message of toMoveCoins shows the movements as a difference', () => {
    const message = stripVTControlCharacters(messageOf(() => expect(paid(1)).toMoveCoins({ alice: -2, bob: 2 })))
    expect(message).toMatch(/-\s+"alice": -2,/)
    expect(message).toMatch(/\+\s+"alice": -1,/)
  })

  it('the message shows at most twenty events', () => {
    const many = { ...failed, events: Array.from({ length: 25 }, (_, i) => transfer('a', `b${i}`, 1)) }
    const message = messageOf(() => expect(many).toSucceed())
    expect(message).toContain('"b19"')
    expect(message).toContain('and 5 more')
  })

  it('the assertions have these names', () => {
    expect(Object.keys(matchers)).toEqual(['toSucceed', 'toFailWith', 'toEmit', 'toMoveCoins', 'toMoveTokens'])
  })
})
