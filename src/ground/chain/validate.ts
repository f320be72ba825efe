/** Header rules, given the parents (PROTOCOL.md A.5, B, C, D). */
import { equalBytes } from '../base/bytes.ts'
import { blockHash } from './block-hash.ts'
import { appliesAfter, type ExpectedFields, expectedFieldsOf } from './difficulty.ts'
import { brokenForkRules, type ForkRule, forkStateOf } from './fork.ts'
import { encodeWork, type Header } from './header.ts'
import { graphAt, type Network } from './network.ts'
import { meets, powHash } from './pow.ts'

/** The closed set of rules that a header can violate. */
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
  /** For genesis blocks only. */
  | 'payloadHash'

/** Headers that a header refers to. */
export interface Ancestry {
  readonly parent: Header
  /** Adjacent chain -> the header of the named hash. */
  readonly adjacentParents: ReadonlyMap<number, Header>
}

/**
 * Rules that `header` violates, in the order of HeaderRule; empty if it is valid.
 * @param options.now clock of the validator in microseconds, without leeway; null skips the check
 * @param options.checkPow false skips proof of work
 * @param options.expected replaces the network's difficulty rule, for networks with a manual difficulty
 * @param options.blockHash hash of the header's bytes, if computed before
 */
export function brokenRules(
  network: Network,
  header: Header,
  ancestry: Ancestry,
  options: { now: bigint | null; checkPow: boolean; expected?: ExpectedFields | undefined; blockHash?: Uint8Array },
): HeaderRule[] {
  const { parent, adjacentParents } = ancestry
  const work = encodeWork(header)
  const expected =
    options.expected ?? expectedFieldsOf(network, parent, [...adjacentParents.values()], header.creationTime)
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

/**
 * True if the header names exactly the adjacents of the graph at the parent's height, each by a block of that chain and
 * height.
 */
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
  if (!appliesAfter(network, 'meanTarget', parent)) return true
  return [...adjacentParents.values()].every((adjacent) => header.creationTime > adjacent.creationTime)
}
