/** Checks headers against the rules of their chain, for `verify: true`. VerifyOption lists the checks. */
import { encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { forkStateOf } from '#ground/chain/fork.ts'
import { genesisHeader } from '#ground/chain/genesis.ts'
import { encodeWork, type Header } from '#ground/chain/header.ts'
import { genesisHeight, graphAt, type Network } from '#ground/chain/network.ts'
import { solves } from '#ground/chain/pow.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import { brokenRules, type HeaderRule } from '#ground/chain/validate.ts'
import { InvalidHeader, NotFound } from './errors.ts'
import type { CallOptions } from './requests.ts'
import type { VerifiableNetwork } from './verify-network.ts'

/** Options of `verify`. */
export interface VerifyOptions {
  /** False for a network without proof of work: then neither it nor targets are checked. Default true. */
  readonly checkPow?: boolean
  /**
   * Whether to check target and epoch start by the difficulty adjustment. False for a development network whose
   * difficulty or block delay was set by hand. Default: like checkPow.
   */
  readonly checkTargets?: boolean
  /** Rules to check against, instead of those that follow from the description of the node. */
  readonly network?: Network
  /**
   * Treatment of a header with a fork number unknown to this version. `refuse`: it breaks the rule unknownFork, as on a
   * node. A function gets the number, once per client. Default: a warning of the process, once per client.
   */
  readonly unknownForks?: 'refuse' | ((fork: number) => void)
}

/** Whether responses are checked against the rules of the chain. */
export interface VerifyOption {
  /**
   * Every header: its hash (Merkle root over its fields) and its proof of work. Against its parent and the adjacent
   * blocks that it names: version, fork number and votes, chain, parent, height, adjacents, creation time, target,
   * epoch start, weight. These blocks are fetched if necessary. Every payload: its three hashes, and that its header
   * names it. Broken rules throw InvalidHeader or InvalidPayload, which list them.
   *
   * A genesis header must be that of the network. On `development` its target is taken as it is, because such networks
   * choose their first difficulty. Graphs and block delay of development networks, and of networks unknown to
   * core/network.ts, come from /info of the node. Code, time and targets that the file of a network lacks come from its
   * genesis headers. On unknown networks, targets, epoch starts and votes are not checked, and the version only against
   * the parent.
   *
   * Not checked:
   * - whether the first headers of a list are on the chain that everybody else follows: compare the hashes of another
   *   node
   * - whether a creation time is in the future: the clocks of this machine and of the node may differ
   */
  readonly verify?: boolean | VerifyOptions
}

/** Fetches headers that others refer to. */
interface HeaderSource {
  /** Fetches one header. @throws NotFound */
  readonly fetchHeader: (chain: number, hash: string, call: CallOptions) => Promise<Header>
  /** All headers of a chain between two heights, both included. */
  readonly fetchRange: (chain: number, from: number, to: number, call: CallOptions) => AsyncIterable<Header>
}

/** Maximum headers cached to judge others by, about 8 MB. The oldest are evicted first. */
const MAX_KNOWN_HEADERS = 8192
/** Maximum headers checked together: the cache has room for them and for all that they refer to. */
const MAX_BATCH_HEADERS = 360
/** Minimum number of wanted headers of a chain for which pages replace single requests. */
const ENOUGH_FOR_PAGES = 4
/** Pages are worth it if they have at least one wanted header in this many; a page has 20 on a P2P API. */
const MAX_HEIGHTS_A_HEADER = 8

function warnOfFork(fork: number): void {
  process.emitWarning(`the network has adopted fork number ${fork}, which this version does not know`, 'NewcutWarning')
}

/** Checks headers in any order. Ascending heights are best: each header then serves to check the next. */
export class HeaderVerifier {
  readonly #network: Network
  readonly #isKnown: boolean
  readonly #checkTargets: boolean
  readonly #rules: HeaderChecks
  readonly #unknownForks: 'refuse' | ((fork: number) => void)
  readonly #reportedForks: Set<number>
  readonly #source: HeaderSource
  readonly #origin: { readonly url: string; readonly operation: string }
  /** Block hash in base64url -> header with a verified hash. */
  readonly #known = new Map<string, Header>()

  /** @param reportedForks unknown fork numbers that the client has reported; the verifier adds to them */
  constructor(
    { network, isKnown }: VerifiableNetwork,
    options: VerifyOptions,
    source: HeaderSource,
    origin: { readonly url: string; readonly operation: string },
    reportedForks: Set<number>,
  ) {
    this.#network = network
    this.#isKnown = isKnown
    const checkPow = options.checkPow ?? true
    this.#checkTargets = (options.checkTargets ?? checkPow) && isKnown
    this.#rules = { network, isKnown, checkPow, checkTargets: this.#checkTargets }
    this.#unknownForks = options.unknownForks ?? warnOfFork
    this.#reportedForks = reportedForks
    this.#source = source
    this.#origin = origin
  }

  /**
   * Checks headers in their order.
   * @throws InvalidHeader for the first header that breaks a rule, and the errors of fetching others
   */
  async verify(headers: readonly Header[], call: CallOptions): Promise<void> {
    for (let from = 0; from < headers.length; from += MAX_BATCH_HEADERS) {
      const batch = headers.slice(from, from + MAX_BATCH_HEADERS)
      for (const header of batch) this.#remember(header)
      try {
        await this.#fetchMissing(batch, call)
        for (const header of batch) this.#throwIfBroken(header, this.#judge(header))
      } catch (error) {
        // Only verified headers may serve to judge others later.
        for (const { hash } of batch) this.#known.delete(encodeBase64Url(hash))
        throw error
      }
    }
  }

  #judge(header: Header): HeaderRule[] {
    const height = Number(header.height)
    const alone = brokenOwnRules(header, this.#rules)
    if (header.chainId >= graphAt(this.#network, height).adjacents.length) return [...alone, 'chain']
    if (isGenesis(header, this.#network)) return [...alone, ...brokenGenesisRules(header, this.#rules)]
    const parent = this.#find(header.parent)
    if (parent === undefined) return [...alone, 'parent']
    // The network may not even have the chain of the parent, so nothing else can be judged by it.
    if (parent.chainId !== header.chainId) return [...alone, 'chain']
    const adjacentParents = new Map<number, Header>()
    for (const [chain, hash] of header.adjacents) {
      const adjacent = this.#find(hash)
      if (adjacent !== undefined) adjacentParents.set(chain, adjacent)
    }
    const network = this.#isKnown ? this.#network : { ...this.#network, code: parent.version }
    const ancestry = { parent, adjacentParents }
    // Hashing is most of the work, and is done: `alone` has its result.
    const options = { now: null, checkPow: false, blockHash: header.hash }
    const { target, epochStart } = header
    const weight = BigInt.asUintN(256, parent.weight + (difficultyOf(target) ?? 0n))
    const expected = this.#checkTargets ? undefined : { target, epochStart, weight }
    const broken = brokenRules(network, header, ancestry, { ...options, expected })
    return [...alone, ...this.#withoutUnknownFork(header, broken)]
  }

  /** A client continues where a node stops: this version cannot know the forks of the next one. */
  #withoutUnknownFork(header: Header, broken: readonly HeaderRule[]): readonly HeaderRule[] {
    if (this.#unknownForks === 'refuse' || !broken.includes('unknownFork')) return broken
    const rest = broken.filter((rule) => rule !== 'unknownFork')
    const { number } = forkStateOf(header.featureFlags)
    if (rest.length === 0 && !this.#reportedForks.has(number)) {
      this.#reportedForks.add(number)
      this.#unknownForks(number)
    }
    return rest
  }

  /** Fetches the headers that a batch refers to and that are not cached, all chains at once. */
  async #fetchMissing(batch: readonly Header[], call: CallOptions): Promise<void> {
    const missing = new Map<number, Map<string, number>>()
    for (const header of batch) {
      if (isGenesis(header, this.#network)) continue
      const references = [[header.chainId, header.parent] as const, ...header.adjacents]
      for (const [chain, bytes] of references) {
        const hash = encodeBase64Url(bytes)
        if (this.#known.has(hash)) continue
        const wanted = missing.get(chain) ?? new Map<string, number>()
        missing.set(chain, wanted.set(hash, Number(header.height) - 1))
      }
    }
    await Promise.all([...missing].map(([chain, wanted]) => this.#fetch(chain, wanted, call)))
  }

  /** @param wanted block hash -> height */
  async #fetch(chain: number, wanted: Map<string, number>, call: CallOptions): Promise<void> {
    const heights = [...wanted.values()]
    const [lowest, highest] = [Math.min(...heights), Math.max(...heights)]
    // Branches may be a million blocks apart: single requests then cost less than all pages in between.
    if (wanted.size >= ENOUGH_FOR_PAGES && highest - lowest < MAX_HEIGHTS_A_HEADER * wanted.size) {
      const range = this.#source.fetchRange(chain, lowest, highest, call)
      for await (const header of range) {
        if (wanted.delete(encodeBase64Url(header.hash))) this.#admit(header)
        if (wanted.size === 0) break
      }
    }
    for (const hash of wanted.keys()) {
      try {
        this.#admit(await this.#source.fetchHeader(chain, hash, call))
      } catch (error) {
        // A header that refers to an unknown one is judged without it, and breaks a rule.
        if (!(error instanceof NotFound)) throw error
      }
    }
  }

  /** Caches a header that others refer to. Does not fetch its own parents: that would continue to genesis. */
  #admit(header: Header): void {
    this.#throwIfBroken(header, brokenOwnRules(header, this.#rules))
    this.#remember(header)
  }

  #remember(header: Header): void {
    const hash = encodeBase64Url(header.hash)
    this.#known.delete(hash)
    this.#known.set(hash, header)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KNOWN_HEADERS && oldest !== undefined) this.#known.delete(oldest)
  }

  #find(hash: Uint8Array): Header | undefined {
    return this.#known.get(encodeBase64Url(hash))
  }

  #throwIfBroken(header: Header, broken: readonly HeaderRule[]): void {
    if (broken.length === 0) return
    const { chainId: chain, height, hash, featureFlags } = header
    const rules = [...new Set(broken)]
    // The network accepted a header with the right hash, so it accepts any nonce.
    const takesAnyNonce = rules.includes('proofOfWork') && !rules.includes('hash') && !this.#network.isPublic
    const name = { chain, height, hash: encodeBase64Url(hash), featureFlags }
    throw new InvalidHeader(name, rules, { ...this.#origin, takesAnyNonce })
  }
}

/** Checks that need no other header. */
interface HeaderChecks extends VerifiableNetwork {
  readonly checkPow: boolean
  /** Whether to check the target of a genesis header. */
  readonly checkTargets: boolean
}

/** Rules of its hash, its proof of work and its version code that a header breaks. */
export function brokenOwnRules(header: Header, { network, isKnown, checkPow }: HeaderChecks): HeaderRule[] {
  const work = encodeWork(header)
  const rules: HeaderRule[] = []
  if (!equalBytes(blockHash(work), header.hash)) rules.push('hash')
  if (checkPow && !isGenesis(header, network) && !solves(work)) rules.push('proofOfWork')
  if (isKnown && header.version !== network.code) rules.push('version')
  return rules
}

export function isGenesis({ chainId, height }: Pick<Header, 'chainId' | 'height'>, network: Network): boolean {
  const hasChain = network.graphHistory.some(({ graph }) => chainId < graph.adjacents.length)
  return hasChain && Number(height) <= genesisHeight(network, chainId)
}

/**
 * Rules that a genesis header breaks. It follows from the name of the network, except for payload and, on a development
 * network, target.
 */
export function brokenGenesisRules(header: Header, { network, isKnown, checkTargets }: HeaderChecks): HeaderRule[] {
  const takesTarget = !isKnown || network.takesAnyGenesisTarget || !checkTargets
  const expected = genesisHeader(
    {
      ...network,
      ...(takesTarget && { genesisTarget: () => header.target }),
      ...(!isKnown && { genesisTime: header.creationTime, code: header.version }),
    },
    header.chainId,
    header.payloadHash,
  )
  const adjacents = [...expected.adjacents]
  const payload = network.genesisPayload(header.chainId)
  const broken: [HeaderRule, boolean][] = [
    ['forkNumber', forkStateOf(header.featureFlags).number !== 0],
    ['forkVotes', forkStateOf(header.featureFlags).votes !== 0],
    ['parent', !equalBytes(header.parent, expected.parent)],
    ['height', header.height !== expected.height],
    [
      'adjacents',
      adjacents.length !== header.adjacents.size ||
        !adjacents.every(([chain, hash]) => equalBytes(hash, header.adjacents.get(chain) ?? new Uint8Array())),
    ],
    ['creationTime', header.creationTime !== expected.creationTime],
    ['target', header.target !== expected.target],
    ['epochStart', header.epochStart !== expected.epochStart],
    ['weight', header.weight !== 0n],
    ['payloadHash', payload !== null && payload !== encodeBase64Url(header.payloadHash)],
  ]
  return broken.filter(([, isBroken]) => isBroken).map(([rule]) => rule)
}
