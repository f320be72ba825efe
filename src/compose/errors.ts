/** Errors of the setup of a miner, of its sources, and of what it opens. */
import { errorRows } from '#ground/base/errors.ts'

/** Its type is not a literal, because the braces in it are not names of values. */
const BLOCKS_EXAMPLE: string = 'for example {"0":1} for a block of chain 0'

export const composeErrors = errorRows({
  noRootEntry: {
    code: 'BAD_INPUT',
    text: 'newcut has no main entry: import newcut/devnet, newcut/devnet/matchers, newcut/devnet/matchers/vitest, newcut/devnet/matchers/jest, newcut/node, newcut/wallet, newcut/contracts, newcut/core or newcut/conformance',
    noHint: 'the text names the entries',
  },
  minerPaused: { code: 'BAD_OPTION', text: 'the miner is paused, so it makes no blocks', hint: 'resume it first' },
  paceOfPublic: {
    code: 'BAD_OPTION',
    text: '`pace`: {network} is {what}, and pacing is for development networks',
    hint: '{advice}',
  },
  wrongBlockCounts: { code: 'BAD_INPUT', text: 'the body does not name blocks: {why}', hint: BLOCKS_EXAMPLE },
  /** With `failFast`, at the first problem. */
  startFailed: {
    code: 'NODE_UNREACHABLE',
    text: '{problem}',
    hint: 'check the address; without `fail-fast: true` newcut keeps trying',
  },
  startTimeout: {
    code: 'NODE_UNREACHABLE',
    text: '{what} in {seconds} s',
    hint: 'check the address, or give a longer `duration`',
  },
  nodeTwice: { code: 'BAD_OPTION', text: '`node: {url}` is given twice', hint: 'give each node once' },
  unknownForkRules: {
    code: 'BAD_OPTION',
    text: '`fork-vote`: newcut does not know how {network} adopts forks',
    hint: 'leave it out: the work then votes as the node does',
  },
  epochOfPublic: {
    code: 'BAD_OPTION',
    text: '`fork-epoch`: {network} has {blocks}',
    hint: 'leave it out: it is for development networks',
  },
  noNodeAnswers: {
    code: 'NODE_UNREACHABLE',
    text: 'no node answers',
    hint: 'check `node: URL`, or start a node: newcut devnet',
  },
  differentNetworks: {
    code: 'BAD_OPTION',
    text: '`node`: nodes of different networks: {nodes}',
    hint: 'give nodes of one network only',
  },
  unknownChain: {
    code: 'BAD_OPTION',
    text: '`chains`: {network} at {url} has no chain {chains}',
    hint: 'its chains are {first} to {last}',
  },
  workNotForRigs: {
    code: 'BAD_OPTION',
    text: '`stratum-listen` has no effect: no rig can search work of this network',
    hint: 'its work has {bytes} bytes, and rigs can only search work of {expected} bytes',
  },
  nothingSearches: { code: 'BAD_OPTION', text: '`threads: 0`: nothing would search', hint: '{advice}' },
  shareLogFolder: {
    code: 'BAD_INPUT',
    text: '{folder}: the share log cannot be kept here: {why}',
    hint: '`state: DIR` names another folder',
  },
  textNotKept: { code: 'DATA_UNUSABLE', text: 'cannot keep the text of {path}: {why}', hint: '{advice}' },
  unknownPredicate: {
    code: 'BAD_OPTION',
    text: '`predicate: {predicate}`: no such predicate{guess}',
    hint: 'built in are {known}; others are module.function or namespace.module.function',
  },
  invalidAccount: {
    code: 'BAD_OPTION',
    text: '`account: {account}`: not a valid k: account',
    hint: 'k: is followed by the public key, 64 lower-case hex digits',
  },
  severalKeys: {
    code: 'BAD_OPTION',
    text: 'a k: account has one key, and {count} public keys are given',
    hint: 'name an account that is not a k: account with `account`, or leave the others out',
  },
  predicateOfKeyAccount: {
    code: 'BAD_OPTION',
    text: '`predicate: {predicate}`: a k: account always has keys-all',
    hint: 'leave `predicate` out, or name an account that is not a k: account with `account`',
  },
  accountOfAnotherKey: {
    code: 'BAD_OPTION',
    text: '`account: {account}` does not match `public-key: {key}`',
    hint: 'the account of that key is k:{key}',
  },
  noPublicKey: {
    code: 'BAD_OPTION',
    text: '`public-key` is missing: who is to be paid for blocks of {network}?',
    hint: 'newcut keygen FILE makes a key pair',
  },
  noLoadReading: {
    code: 'BAD_OPTION',
    text: '`idle-only`: cannot read the CPU load of this machine',
    hint: 'newcut reads /proc/stat, which Linux has; leave out the option here',
  },
  noShareLog: {
    code: 'BAD_INPUT',
    text: '{folder}: no share log in this folder',
    hint: 'set `state` to that of a miner with rigs, or read a running miner with `from: HOST:PORT`',
  },
  shareLogInUse: {
    code: 'DATA_UNUSABLE',
    text: '{folder}: its miner is running, and has the share log open',
    hint: 'read it with `from: HOST:PORT`, the HTTP address of the miner, or stop the miner',
  },
})
