/** Advice on commands that fail. */
import { describe, expect, it } from 'vitest'
import { adviceOnRefusal, adviceOnResult, isOutOfTime } from '../../src/client/wallet/advice.ts'
import { PRINT_ADVICE } from '../../src/ground/base/errors.ts'

const KEY = 'auPXuzEu6FhtNtXzY6YdGBcCnNKBdpvAewR1ZElKBtg'
const commandWith = (...capabilities: string[][]) => ({
  cmd: JSON.stringify({ signers: capabilities.map((names) => ({ clist: names.map((name) => ({ name, args: [] })) })) }),
})
const COINS = 'the sender has too few coins on this chain for gas limit times gas price'
const MORE_GAS = 'give more gas with `gasLimit`'
const GUARD = 'the sender is guarded by other keys: `key` names who signs, `sender` who pays for gas'
const ADD_GAS = "no signature allows the purchase of gas: add `cap: '(coin.GAS)'`"
const ABSENT = 'there is no account nobody on this chain: newcut balance nobody shows where it is'
const KEYSET = 'Keyset failure ( keys-all ): 368820f80c...'

/** Causes of a failed purchase of gas, with the capabilities of each signer. */
const PURCHASES: readonly (readonly [string, ReturnType<typeof commandWith> | undefined, string])[] = [
  ['Insufficient funds', commandWith([]), COINS],
  ['No value found in table coin_coin-table for key: nobody', commandWith([]), ABSENT],
  [KEYSET, commandWith(['coin.TRANSFER']), ADD_GAS],
  [KEYSET, commandWith(['coin.TRANSFER'], ['free.m.C']), ADD_GAS],
  [KEYSET, commandWith(['coin.TRANSFER', 'coin.GAS']), GUARD],
  [KEYSET, commandWith(['coin.TRANSFER'], []), GUARD],
  [KEYSET, commandWith([]), GUARD],
  [KEYSET, undefined, GUARD],
]

describe('advice on a failed purchase of gas', () => {
  it('advice on a failed purchase of gas names the whole account, which nodes shorten', () => {
    const account = `k:${'be158aa4'.repeat(8)}`
    const text = `Attempt to buy gas failed with: Failed to buy gas: No value found in table coin_coin-table for key: k:be158aa4...`
    const cmd = JSON.stringify({ signers: [], meta: { sender: account } })
    expect(adviceOnRefusal(text, { cmd })).toContain(`newcut balance ${account} shows`)
  })

  it.each(PURCHASES)('a failed purchase of gas gets advice: %s', (cause, command, advice) => {
    const bought = `"${KEY}" Failed to buy gas: ${cause}`
    expect(adviceOnResult({ type: 'EvalError', message: bought }, KEY, command)).toBe(advice)
    const refusals = [
      `Validation failed: Attempt to buy gas failed with: ${bought}`,
      `One or more transactions were invalid: Transaction "${KEY}" at index 0 failed with: Attempt to buy gas failed with: ${bought}`,
      `Attempt to buy gas failed with: Failed to buy gas: ${cause}`,
    ]
    for (const text of refusals) expect(adviceOnRefusal(text, command)).toBe(advice)
  })
})

it.each([
  [
    'Metadata validation failed: ["Transaction Gas limit exceeds block gas limit"]',
    'give less with `gasLimit`: no block has so much',
  ],
  [
    'Metadata validation failed: ["other","Tx time outside of valid range"]',
    '`ttl` is at most 48h; is the clock here right?',
  ],
  ['Transaction time-to-live is expired', '`ttl` is at most 48h; is the clock here right?'],
  ['Transaction gas limit (1) is below the gas for the size of the command (27)', MORE_GAS],
  ['Transaction creation time too far in the future', '`ttl` is at most 48h; is the clock here right?'],
  [
    'Transaction gas price (0.00000001) is below minimum gas price (0.000001)',
    'give more with `gasPrice`: at least 0.000001',
  ],
  ["insert error: This transaction's gas price: 1 is not correctly rounded.", '0.00000001 is the usual `gasPrice`'],
  ['Gas price decimal precision too high', '0.00000001 is the usual `gasPrice`'],
  ['Transaction gas price (1e-12) is below minimum gas price', '0.00000001 is the usual `gasPrice`'],
])('the refusal of a command gets advice: %s', (cause, advice) => {
  const sent = `One or more transactions were invalid: Transaction "${KEY}" at index 0 failed with: ${cause}`
  for (const text of [cause, sent]) {
    expect(adviceOnRefusal(text)).toBe(advice)
    expect(isOutOfTime(text)).toBe(advice.includes('`ttl`'))
  }
})

it.each([
  ['EvalError', 'Gas limit "2500" exceeded: 2501', MORE_GAS],
  ['EvalError', `"${KEY}" Gas limit "1" exceeded by the size of the command: 27`, MORE_GAS],
  [
    'EvalError',
    'Managed capability coin.TRANSFER was not installed. Check',
    'list it with `cap`, with the arguments that the code uses',
  ],
  ['EvalError', 'Cannot find module: print', PRINT_ADVICE],
  ['EvalError', 'Cannot find module:  print', PRINT_ADVICE],
  ['EvalError', 'Cannot find module: free.print', PRINT_ADVICE],
  ['EvalError', 'Cannot find module: free.printer', undefined],
  ['TxFailure', KEYSET, 'the key that guards this has not signed: `key` names who signs'],
] as const)('code that fails with %s gets advice: %s', (type, message, advice) => {
  expect(adviceOnResult({ type, message }, KEY)).toBe(advice)
})

describe('no advice for texts that code quotes', () => {
  const quoted = [
    'Failed to buy gas: Insufficient funds',
    `${'x'.repeat(43)} Failed to buy gas: Insufficient funds`,
    `"${'x'.repeat(43)}" Failed to buy gas: Insufficient funds`,
    'Gas limit "1" exceeded: 2',
    'no: Keyset failure (keys-all)',
    'Keyset failures are rare',
    'Keyset failure (of mine): bob',
    'Managed capability C was not installed.',
    'Cannot find module: print',
  ]
  it.each(quoted)('a text that an enforce quotes gets no advice: %s', (message) => {
    expect(adviceOnResult({ type: 'TxFailure', message }, KEY)).toBeUndefined()
    expect(adviceOnResult({ type: 'EvalError', message: `reported: ${message}` }, KEY)).toBeUndefined()
  })
  it.each(quoted)('a text that a refusal of another kind quotes gets no advice: %s', (message) => {
    const text = `Validation failed: Pact parse error: ${message}, minimum gas price, Tx time outside of valid range`
    expect(adviceOnRefusal(text)).toBeUndefined()
  })
})
