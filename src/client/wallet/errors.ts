/** Texts of the wallet. */
import { errorRows } from '#ground/base/errors.ts'

/** Advice for an account that cannot pay on the target chain of a transfer. */
const SECOND_STEP =
  'the step there needs up to {gas} coins for gas: move some there, or name an account of the key with `gasPayer`'

export const walletErrors = errorRows({
  badDetails: {
    code: 'NODE_MISBEHAVED',
    text: 'coin.details on chain {chain} gave no balance and guard',
    hint: 'does this network have another coin contract? Try another node',
  },
  badCapability: {
    code: 'BAD_OPTION',
    text: 'capability {text}: {what}',
    hint: 'expected one capability with its arguments, such as (coin.TRANSFER "alice" "bob" 1.5)',
  },
  badAmount: {
    code: 'BAD_OPTION',
    text: 'amount {text} is not a number of coins above 0 with at most {places} decimal places',
    hint: 'write it as 1.5',
  },
  badGasPrice: {
    code: 'BAD_OPTION',
    text: '`gasPrice` {text} is not a number',
    hint: 'write it as 0.00000001',
  },
  badArgument: {
    code: 'BAD_INPUT',
    text: '{argument} is {type}',
    hint: 'numbers are {forms}, and code is a function that returns it',
  },
  badNumber: {
    code: 'BAD_INPUT',
    text: '{argument}: {text} is not a number in plain notation',
    hint: 'write it as 12 or -1.5, without an exponent',
  },
  badDate: {
    code: 'BAD_INPUT',
    text: '{argument} is an invalid date',
    hint: 'new Date() takes a time such as 2026-01-31T12:00:00Z',
  },
  notFirstStep: {
    code: 'BAD_OPTION',
    text: '{requestKey} on chain {chain} is not the first step of a transfer between chains',
    hint: 'give the request key of the step that took the coins from the sender',
  },
  noAccount: {
    code: 'COMMAND_FAILED',
    text: 'there is no account {account} on chain {chain}{guess}',
    hint: 'newcut balance {account} shows where it is',
  },
  noGasPayer: {
    code: 'COMMAND_FAILED',
    text: 'there is no account {account} on chain {chain} to pay for gas',
    hint: SECOND_STEP,
  },
  otherGuard: {
    code: 'COMMAND_FAILED',
    text: '{account} on chain {chain} is guarded by {guard}, and `key` names others',
    hint: 'sign with the keys that guard it',
  },
  otherGuardOfPayer: {
    code: 'COMMAND_FAILED',
    text: '{account}, which would pay for gas on chain {chain}, is guarded by {guard}, and `key` names others',
    hint: SECOND_STEP,
  },
  tooFewCoins: {
    code: 'COMMAND_FAILED',
    text: '{account} has {balance} coins on chain {chain}, and {amount} with up to {gas} for gas are needed',
    hint: 'transfer less, or fund the account first: newcut balance {account} shows its coins on all chains',
  },
  tooFewCoinsForGas: {
    code: 'COMMAND_FAILED',
    text: '{account} has {balance} coins on chain {chain}, too few for the gas of a step there',
    hint: SECOND_STEP,
  },
  noReceiver: {
    code: 'COMMAND_FAILED',
    text: 'there is no account {account} on chain {chain}, and its name does not imply a guard{guess}',
    hint: '`receiverKeyset: {keyset}` creates it, or send to k:KEY',
  },
  receiverGuardedByCode: {
    code: 'COMMAND_FAILED',
    text: '{account} on chain {chain} is guarded by code, which a transfer between chains from here cannot name',
    hint: 'move the coins to a k: account on that chain first, and from there to this account',
  },
})
