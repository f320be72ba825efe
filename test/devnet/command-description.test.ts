/** Commands and their results as events describe them. */

import { describe, expect, it } from 'vitest'
import { describeCommand } from '../../src/devnet/watch/command-description.ts'
import { outcomeOf } from '../../src/devnet/watch/outcome.ts'
import { commandOf } from './read-command.ts'

const KEY = 'tDFY8bHNx4dLSHZs4oYxPQ7bCqu0pGKZkZrZ5ZfZxZY'
const terms = { chainId: '0', gasLimit: 1, gasPrice: 1, ttl: 1, creationTime: 0 }
const descriptionOf = (payload: unknown, sender = 'sender00') => {
  const cmd = JSON.stringify({ meta: { ...terms, sender }, payload, signers: [], nonce: '' })
  return describeCommand(commandOf({ hash: KEY, sigs: [], cmd }))
}
const actionOf = (code: string) => descriptionOf({ exec: { code, data: {} } }).action
const coins = (change = {}) => {
  const plain = { sender: 'a', receiver: 'b', amount: '1.5', token: 'coin', toChain: null }
  return { kind: 'transfer', ...plain, ...change }
}

describe('a command is described as', () => {
  it.each([
    ['(coin.transfer "a" "b" 1.5)', coins()],
    [' ( coin.transfer\n "a" "b"\t1.50 ) ; for "b"', coins({ amount: '1.50' })],
    [
      '(coin.transfer "k:\\"x\\"" \'b 100000000000000000000.000000000001)',
      coins({ sender: 'k:"x"', amount: '100000000000000000000.000000000001' }),
    ],
    ['(coin.transfer-create "a" "b" (read-keyset "g") 2)', coins({ amount: '2' })],
    ['(coin.transfer-crosschain "a" "b" (read-keyset "g") "7" 1.5)', coins({ toChain: '7' })],
    ['(free.token.transfer "a" "b" 1.5)', coins({ token: 'free.token' })],
  ])('a command is described as a transfer: %j', (code, expected) => {
    expect(actionOf(code)).toEqual(expected)
  })

  it.each([
    ['(coin.transfer "a" "b" 1.5) (coin.transfer "a" "c" 1.5)'],
    ['(coin.transfer "a" "b" (read-decimal "amount"))'],
    ['(coin.transfer sender "b" 1.5)'],
    ['(coin.transfer "a" "b")'],
    ['(coin.transfer "a" "b" 1.5'],
    ['(coin.transfer-crosschain "a" "b" (read-keyset "g") 7 1.5)'],
    ['(coin.transfers "a" "b" 1.5)'],
    ['(let ((x 1)) (coin.transfer "a" "b" 1.5))'],
    ['(+ 1 2)'],
    // The code is too long to be worth parsing.
    [`(coin.transfer "a" "b" 1.5)${' '.repeat(2000)}`],
    [''],
  ])('a command is described as code if it is anything else: %j', (code) => {
    expect(actionOf(code)).toEqual({ kind: 'code', code: code.trim() })
  })

  it('a command is described as one printable line of limited length, whatever it contains', () => {
    const hostile = '(f "\u001b[2J\u202e")\r\n  (g\t1)\u0000'
    expect(actionOf(hostile)).toEqual({ kind: 'code', code: '(f " [2J ") (g 1)' })
    expect(actionOf(`(f "${'x'.repeat(100_000)}")`)).toEqual({ kind: 'code', code: `(f "${'x'.repeat(195)}…` })
    expect(actionOf('(coin.transfer "a\u001b[2J" "b\u202ec" 1.5)')).toEqual(coins({ sender: 'a [2J', receiver: 'b c' }))
    const transfer = actionOf(`(coin.transfer "${'a'.repeat(300)}" "b" ${'1'.repeat(200)}.0)`)
    expect(transfer).toEqual(coins({ sender: `${'a'.repeat(255)}…`, amount: `${'1'.repeat(79)}…` }))
    expect(descriptionOf({ exec: { code: '', data: {} } }, 'a\u009bb').sender).toBe('a b')
  })

  it('a command is described as the step of a pact', () => {
    const cont = { pactId: KEY, step: 1, rollback: false, proof: null, data: {} }
    const expected = {
      requestKey: KEY,
      sender: 'sender00',
      action: { kind: 'continuation', pactId: KEY, step: 1, isRollback: false },
    }
    expect(descriptionOf({ cont })).toEqual(expected)
    const rollback = { ...cont, pactId: '\u001b[2J', step: 0, rollback: true }
    expect(descriptionOf({ cont: rollback }).action).toEqual({
      kind: 'continuation',
      pactId: '[2J',
      step: 0,
      isRollback: true,
    })
  })
})

describe('a result is described as', () => {
  const outcome = (result: unknown, rest = '') =>
    outcomeOf(
      Buffer.from(
        `{"gas":7,"result":${typeof result === 'string' ? result : JSON.stringify(result)},"reqKey":"${KEY}"${rest}}`,
      ),
    )
  const data = (json: string) => outcome(`{"status":"success","data":${json}}`).result

  it.each([
    ['"Write succeeded"', '"Write succeeded"'],
    ['{"int":3}', '3'],
    ['0.1234567890123456789', '0.1234567890123456789'],
    ['[1.5,{"int":100000000000000000000},true]', '[1.5, 100000000000000000000, true]'],
    ['{"b":"x","a":{"time":"2026-01-01T00:00:00Z"}}', '{"a": "2026-01-01T00:00:00Z","b": "x"}'],
    ['"\\u001b[2J\\nx"', '" [2J x"'],
  ])('a result is described as its value in the language: %s', (json, expected) => {
    expect(data(json)).toBe(expected)
  })

  it('a result is described as the beginning of a long value, as JSON if it is very long', () => {
    expect(data(`"${'x'.repeat(1000)}"`)).toBe(`"${'x'.repeat(198)}…`)
    const long = data(`[1.5,"${'x'.repeat(100_000)}"]`)
    expect(long).toBe(`[1.5,"${'x'.repeat(193)}…`)
  })

  it('a result is described as its whole message and its place if it failed', () => {
    const error = { callStack: [], type: 'EvalError', message: `no\nway ${'x'.repeat(249)}`, info: 'free.m.f.{Yf}:12' }
    expect(outcome({ status: 'failure', error })).toEqual({
      status: 'failure',
      gas: 7,
      result: `no way ${'x'.repeat(249)}`,
      place: 'free.m.f.{Yf}:12',
      events: [],
    })
    expect(outcome({ status: 'failure', error: { ...error, info: '<toplevel>:0' } }).place).toBe(null)
    expect(outcome({ status: 'failure', error: { ...error, info: '' } }).place).toBe(null)
  })

  it('a result is described with the names of its first 20 events', () => {
    const event = (i: number) => ({
      params: [],
      name: `E${i}`,
      module: { namespace: i === 0 ? null : 'free', name: 'm' },
      moduleHash: 'x',
    })
    const events = Array.from({ length: 25 }, (_, i) => event(i))
    const { events: names } = outcome({ status: 'success', data: true }, `,"events":${JSON.stringify(events)}`)
    expect(names).toHaveLength(20)
    expect(names.slice(0, 2)).toEqual(['m.E0', 'free.m.E1'])
  })
})
