/** Every rule that a header must keep given its parents (PROTOCOL.md A.5, B, C, D). */
import { blockHash } from './block-hash.ts'
import { equalBytes } from './bytes.ts'
import { type Expected, expectedFor } from './difficulty.ts'
import { brokenForkRules, type ForkRule, forkStateOf } from './fork.ts'
import { encodeWork, type Header } from './header.ts'
import { graphAt, type Network } from './network.ts'
import { meets, powHash } from './pow.ts'

/** The closed set of rules a header can break. */
export type HeaderRule =
  | 'hash'
  | 'proofOfWork'
  | 'version'
  | ForkRule
  | 'chain'
  | 'parent'
  | 'height'
  | 'adjacents'
  | 'creationTime'
  | 'future'
  | 'target'
  | 'epochStart'
  | 'weight'
  /** Of a genesis block only. */
  | 'payloadHash'

/** The headers that a header refers to. */
export interface Ancestry {
  readonly parent: Header
  /** Adjacent chain -> the header it is named with. */
  readonly adjacentParents: ReadonlyMap<number, Header>
}

/**
 * The rules that `header` breaks, in the order of HeaderRule; empty when it is valid. `now` is the validating clock in
 * microseconds, without leeway (null: not checked). `checkPow` false leaves out proof of work. `expected` stands in for
 * the difficulty rule of the network, for networks whose difficulty was set by hand; `blockHash` is the hash of the
 * header's bytes where it was computed before.
 */
export function brokenRules(
  network: Network,
  header: Header,
  ancestry: Ancestry,
  options: { now: bigint | null; checkPow: boolean; expected?: Expected | undefined; blockHash?: Uint8Array },
): HeaderRule[] {
  const { parent, adjacentParents } = ancestry
  const work = encodeWork(header)
  const expected = options.expected ?? expectedFor(network, parent, [...adjacentParents.values()], header.creationTime)
  const forks = brokenForks(network, header, ancestry)
  const broken: [HeaderRule, boolean][] = [
    ['hash', !equalBytes(options.blockHash ?? blockHash(work), header.hash)],
    ['proofOfWork', options.checkPow && !meets(powHash(work), header.target)],
    ['version', header.version !== network.code],
    ['unknownFork', forks.includes('unknownFork')],
    ['forkNumber', forks.includes('forkNumber')],
    ['forkVotes', forks.includes('forkVotes')],
    ['chain', header.chainId !== parent.chainId],
    ['parent', !equalBytes(header.parent, parent.hash)],
    ['height', header.height !== parent.height + 1n],
    ['adjacents', !adjacentsFit(network, header, ancestry)],
    ['creationTime', !isLaterThanParents(network, header, ancestry)],
    ['future', options.now !== null && header.creationTime > options.now],
    ['target', header.target !== expected.target],
    ['epochStart', header.epochStart !== expected.epochStart],
    ['weight', header.weight !== expected.weight],
  ]
  return broken.filter(([, isBroken]) => isBroken).map(([rule]) => rule)
}

function brokenForks({ forks }: Network, header: Header, { parent, adjacentParents }: Ancestry): ForkRule[] {
  const own = forkStateOf(header.featureFlags)
  const adjacents = [...adjacentParents.values()].map(({ featureFlags }) => forkStateOf(featureFlags))
  return brokenForkRules(forks, Number(header.height), own, forkStateOf(parent.featureFlags), adjacents)
}

/** The graph's adjacents at the parent's height, each named by a block of that chain and height. */
function adjacentsFit(network: Network, header: Header, { parent, adjacentParents }: Ancestry): boolean {
  const expected = graphAt(network, Number(parent.height)).adjacents[header.chainId] ?? []
  if (header.adjacents.size !== expected.length) return false
  return expected.every((chain) => {
    const named = header.adjacents.get(chain)
    const adjacent = adjacentParents.get(chain)
    if (named === undefined || adjacent === undefined) return false
    return equalBytes(named, adjacent.hash) && adjacent.chainId === chain && adjacent.height === parent.height
  })
}

/** Strictly later than the parent and, under the mean-target rule, than every adjacent parent (A.5). */
function isLaterThanParents(network: Network, header: Header, { parent, adjacentParents }: Ancestry): boolean {
  if (header.creationTime <= parent.creationTime) return false
  if (Number(header.height) < network.rules.meanTarget) return true
  return [...adjacentParents.values()].every((adjacent) => header.creationTime > adjacent.creationTime)
}
