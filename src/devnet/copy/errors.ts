/** Errors of forks of another network, and what to do about each. */
import { errorRows } from '#ground/base/errors.ts'

export const copyErrors = errorRows({
  notFork: {
    code: 'DATA_UNUSABLE',
    text: '{directory}: its network is not a fork',
    hint: 'leave `fork` out to continue this network, or name another directory for a fork',
  },
  otherPin: {
    code: 'DATA_UNUSABLE',
    text: '{directory}: its network was forked from {network} at height {height}, {difference}',
    hint: 'leave that out to continue this network, or name another directory for a new fork',
  },
  damagedRecord: {
    code: 'DATA_UNUSABLE',
    text: '{file}: {what}',
    hint: 'restore it from a backup; another address of the node goes with `fork: URL`, not into this file',
  },
  recordNotWritten: {
    code: 'DATA_UNUSABLE',
    text: '{file}: the record of the fork cannot be written: {why}',
    hint: 'make room, and let this user write there',
  },
  unknownChain: {
    code: 'BAD_OPTION',
    text: '`fork.chains`: the network has no chain {chain}',
    hint: 'its chains are {chains}',
  },
  endlessFetches: {
    code: 'NODE_MISBEHAVED',
    text: 'after {rounds} fetches a block still misses entries of the fork',
    hint: 'fork from another node of the network',
  },
  wrongGraph: {
    code: 'NODE_MISBEHAVED',
    text: 'the graph of the forked network {why}',
    hint: 'fork from another node of the network',
  },
  wrongPayload: {
    code: 'NODE_MISBEHAVED',
    text: 'the forked node {url} gives a payload of chain {chain} at height {height} that is not the one in its header',
    hint: 'fork from another node of the network',
  },
})
