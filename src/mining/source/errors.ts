/** The errors of sources of work. */
import { errorRows } from '#ground/base/errors.ts'

export const sourceErrors = errorRows({
  noAnswer: {
    code: 'NODE_UNREACHABLE',
    text: 'no answer to {what} within {seconds} s',
    hint: 'newcut keeps trying; if this lasts, check the node and the connection to it',
  },
  minerNotListed: {
    code: 'NODE_REFUSED',
    text: '{reason}',
    hint: 'the node mines for configured accounts only, and compares account ({account}), predicate and keys as a whole',
  },
  miningDisabled: {
    code: 'NODE_REFUSED',
    text: '{reason}',
    hint: 'mining is not enabled on that node: its operator has to enable mining coordination',
  },
  blockNotOnHelper: {
    code: 'NODE_REFUSED',
    text: '{url} does not have this block on its chain',
    noHint: 'never shown: the answer of another node counts',
  },
  blockNotOrphanedOnHelper: {
    code: 'NODE_REFUSED',
    text: '{url} does not call this block orphaned',
    noHint: 'never shown: the answer of another node counts',
  },
  chainsDiffer: {
    code: 'NODE_MISBEHAVED',
    text: '{url} {problem}',
    hint: 'newcut uses another node meanwhile; check what answers at this address',
  },
  chainLeftOut: {
    code: 'BAD_OPTION',
    text: 'chain {chain} has to grow, and `chains` leaves it out',
    hint: 'chains that hold up others grow too: add it to `chains`',
  },
  unknownChain: {
    code: 'BAD_INPUT',
    text: 'there is no chain {chains}',
    hint: 'chains are {first} to {last}',
  },
  searchTooLong: {
    code: 'BAD_OPTION',
    text: '`pace`: {network} checks proof of work, and a block takes {hashes} hashes',
    hint: 'give a node that runs without proof of work, or one whose blocks take at most {most} hashes',
  },
  minerStops: {
    code: 'NODE_UNREACHABLE',
    text: 'the miner stops',
    hint: 'request the blocks again once it runs',
  },
  poolAddressUnreadable: {
    code: 'BAD_OPTION',
    text: 'the address of a pool cannot be read',
    hint: 'expected {example}',
  },
  poolPort: {
    code: 'BAD_OPTION',
    text: '{url}: {port} is not a port',
    hint: 'a port is a number from 1 to 65535',
  },
  poolAccount: {
    code: 'BAD_OPTION',
    text: '{url}: the user looks like an account, but its key or hash is not valid',
    hint: 'a k: account has 64 hex digits after k:; write a colon in another user name as %3A',
  },
  poolUserMissing: {
    code: 'BAD_OPTION',
    text: '{url}: the user is missing, so nobody would be paid',
    hint: 'name the user: {example}',
  },
  poolUserHasAt: {
    code: 'BAD_OPTION',
    text: '{url}: the user contains an @',
    hint: 'write an @ in the user name as %40; every address begins with stratum+tcp:// or stratum+ssl://',
  },
  poolFailed: {
    code: 'NODE_UNREACHABLE',
    text: 'pool {url}: {why}',
    hint: 'newcut keeps trying, and mines for another pool meanwhile; check the address and the user',
  },
  poolRedirects: {
    code: 'NODE_UNREACHABLE',
    text: 'pool {url}: it redirects miners to {where}',
    hint: 'newcut follows the redirection',
  },
})
