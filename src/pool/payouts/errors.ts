/** Errors of payouts. `{name}` stands for what the throwing place passes. */
import { errorRows } from '#ground/base/errors.ts'

export const payoutErrors = errorRows({
  secondPayer: {
    code: 'DATA_UNUSABLE',
    text: '{folder}: another newcut payouts --pay is running there',
    hint: 'wait until it ends; a run continues where an interrupted one stopped',
  },
  unlockable: {
    code: 'DATA_UNUSABLE',
    text: '{location}: cannot be locked: {why}',
    hint: 'set `state` to a folder that this user may read and write',
  },
  unreadableJournal: {
    code: 'DATA_UNUSABLE',
    text: '{path}: cannot be read: {why}',
    hint: 'let this user read it, or set `state` to the folder that has it',
  },
  unwritableJournal: {
    code: 'DATA_UNUSABLE',
    text: '{path}: the journal of payouts cannot be written: {why}',
    hint: 'newcut pays nothing that is not in it; set `state: DIR` to another folder',
  },
  damagedLine: {
    code: 'DATA_UNUSABLE',
    text: '{path}: line {line} is damaged, and it may be a payment',
    hint: '{why}restore it from a copy that has all later lines too: payments missing there would be made twice',
  },
  largeJournal: {
    code: 'DATA_UNUSABLE',
    text: '{path}: it has more than {mebibytes} MiB, too many for the totals of a monitor',
    hint: 'keep the file, and begin a new one: set `state` to another folder once all payments are settled',
  },
  lacksCoins: {
    code: 'COMMAND_FAILED',
    text: '{account} has {balance} coins on chain {chain}, but needs {total} and up to {gas} for gas',
    hint: 'move coins there, and run newcut payouts --pay again; nothing was paid on this chain',
  },
  noProof: {
    code: 'NO_RESULT',
    text: 'no result of {keys}, and no proof that no block has it',
    hint: 'nothing is paid again until it is known: run newcut payouts --pay again later, or with another --node',
  },
  falseResult: {
    code: 'NODE_MISBEHAVED',
    text: 'the node says that {requestKey} is in a block of chain {chain}, but none of its blocks has it',
    hint: 'the payment stays open, and newcut searches again; try another node if this goes on',
  },
  brokenBranch: {
    code: 'NODE_MISBEHAVED',
    text: 'chain {chain}: {why}',
    hint: 'use a node that keeps all payloads and transactions',
  },
  /** Its code and its cause are those of the failed call. */
  unreadableBlocks: {
    code: 'NODE_MISBEHAVED',
    text: 'whether a block of chain {chain} has {requestKey} cannot be read: {why}',
    hint: 'the payment stays open, and newcut searches again; try another node if this goes on',
  },
})
