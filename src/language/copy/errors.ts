/** Operating errors of a fork: its node, its pin and its cache. */
import { errorRows } from '#ground/base/errors.ts'

const ANOTHER_NODE = 'try another node of the network'
const ANOTHER_FOLDER = 'name another folder with `fork.cacheFolder`'
/** Typed as a plain string, because its braces are not values of the table. */
const CUT_FORM: string =
  'a cut is {"hashes":{"0":{"height":12,"hash":".."},..}}, as GET /cut of a node answers, or a fork prints'

export const copyErrors = errorRows({
  /** The node breaks the interface, or contradicts the pin. */
  wrongAnswer: {
    code: 'NODE_MISBEHAVED',
    text: 'the forked node {url} returned {what}',
    hint: `is it still syncing? ${ANOTHER_NODE}`,
  },
  refusal: {
    code: 'NODE_REFUSED',
    text: 'the forked node {url} refuses {what} with status {status}: {answer}',
    hint: `${ANOTHER_NODE}: this one may serve only a part of the interface`,
  },
  /** Only after all attempts. */
  noAnswer: {
    code: 'NODE_UNREACHABLE',
    text: 'the forked node {url} gave no answer in {attempts} attempts: {why}',
    hint: 'a cache that has all entries needs no node; see also `fork.perSecond` and `fork.timeoutMs`',
  },
  /** As noAnswer, for a node that answers with an error each time. */
  busy: {
    code: 'NODE_REFUSED',
    text: 'the forked node {url} refused {attempts} attempts, the last with {why}',
    hint: 'a cache that has all entries needs no node; see also `fork.perSecond` and `fork.timeoutMs`',
  },
  unsuitableAnswer: { code: 'NODE_MISBEHAVED', text: 'the forked node {url}: {why}', hint: '{advice}' },
  notNode: {
    code: 'NODE_NOT_RECOGNISED',
    text: '{url} is not a chainweb node: GET /info answers {answer}',
    hint: 'check the address: it is that of the interface, without a path',
  },
  failedCode: {
    code: 'NODE_REFUSED',
    text: 'the forked node {url} fails {code} with: {failure}',
    hint: `${ANOTHER_NODE}: this one may follow another release`,
  },
  compacted: {
    code: 'NODE_REFUSED',
    text: 'the forked node {url} cannot run code at height {height}: status {status}: {answer}',
    hint: 'a node with compacted state no longer has old blocks: take a newer pin, or a node with the full history',
  },
  outOfTime: {
    code: 'NODE_REFUSED',
    text: 'the forked node {url} ran out of its time: {answer}',
    hint: 'another node may have no limit for local calls',
  },
  belowPin: {
    code: 'NODE_REFUSED',
    text: 'the chain {chain} of the forked node {url} is only at height {head}, below the pin at {height}',
    hint: 'wait until the node has caught up, or name another node of the network',
  },
  orphan: {
    code: 'NODE_REFUSED',
    text: 'the pinned block {hash} of chain {chain} is not on the chain of the node {url}: it was orphaned',
    hint: 'begin a new fork without `fork.cut`, or name a cut of this network that is deeper',
  },
  tooManyRounds: {
    code: 'NODE_MISBEHAVED',
    text: 'after {rounds} fetches the code still misses entries of the fork',
    hint: `${ANOTHER_NODE}: this one may answer differently each time`,
  },
  otherGenesis: {
    code: 'DATA_UNUSABLE',
    text: 'the genesis block of chain {chain} at {url} is {hash}, and an earlier fork of that network saw {before}',
    hint: `check the address; if the network started again, remove {file}, or ${ANOTHER_FOLDER}`,
  },
  otherDefinition: {
    code: 'BAD_CONFIG',
    text: 'the file of {network} has {property} {defined}, and the genesis header of chain {chain} at {url} {actual}',
    hint: 'correct the file of the network (`network-file`), or name a node of that network',
  },
  otherCache: {
    code: 'DATA_UNUSABLE',
    text: 'the cache {file} is of another block or another newcut',
    hint: `its first line must be {first}; remove the file, or ${ANOTHER_FOLDER}`,
  },
  unusableCache: {
    code: 'DATA_UNUSABLE',
    text: 'the cache {file} cannot be used: {why}',
    hint: `${ANOTHER_FOLDER}, or go without one`,
  },
  unreadableFile: {
    code: 'DATA_UNUSABLE',
    text: 'cannot read the genesis headers in {file}: {why}',
    hint: ANOTHER_FOLDER,
  },
  unwritableFile: {
    code: 'DATA_UNUSABLE',
    text: 'cannot write the genesis headers to {file}: {why}',
    hint: ANOTHER_FOLDER,
  },
  unreadableCut: {
    code: 'BAD_INPUT',
    text: '`fork.cut: {cut}`: {why}',
    hint: 'it takes a height, or a file with a cut: the one that a fork prints at its start',
  },
  emptyCut: { code: 'BAD_INPUT', text: '{where}: it is empty', hint: CUT_FORM },
  notCut: { code: 'BAD_INPUT', text: '{where} is not a cut: {content}', hint: CUT_FORM },
  notPin: {
    code: 'BAD_INPUT',
    text: '{where} is not a pin: a pin names its network, and blocks of one height',
    hint: 'take the cut that a fork prints at its start',
  },
  brokenCut: {
    code: 'BAD_INPUT',
    text: 'the cut of the fork: {problem}',
    hint: 'take the cut that a fork prints at its start, or GET /cut of a node',
  },
  missingChain: {
    code: 'BAD_OPTION',
    text: 'the cut of the fork has no chain {chain}',
    hint: 'take the cut that a fork prints at its start, or name a chain of the cut',
  },
  tooHigh: {
    code: 'BAD_OPTION',
    text: '`fork.cut: {height}`: the lowest chain has height {lowest}',
    hint: 'name a height of at most {lowest}',
  },
})
