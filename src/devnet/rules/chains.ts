/** The chains of the embedded network: genesis, the current cut, and the rules by which it grows. */
import { equalBytes } from '#ground/base/bytes.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { type Cut, cutWeight, extendsCut, extensionOf } from '#ground/chain/cut.ts'
import { featureFlagsOf, forkStateOf, votedForkState } from '#ground/chain/fork.ts'
import { genesisHeader } from '#ground/chain/genesis.ts'
import { encodeWork, type Header, type WorkFields } from '#ground/chain/header.ts'
import { graphAt, type Network } from '#ground/chain/network.ts'
import { brokenRules, type HeaderRule } from '#ground/chain/validate.ts'
import { type Block, BlockStore } from '../store/block-store.ts'
import { coinbaseParent, emptyPayload, type StoredPayload } from '../store/payload.ts'
import { MemoryPayloads, type PayloadStore } from '../store/payload-store.ts'
import { expectBraid } from './braid.ts'
import { sha512t256 } from './digest.ts'
import { type Executions, noExecutions } from './executions.ts'
import { type ChainJournal, type ChainState, noJournal } from './journal.ts'
import { type RuleChange, RuleHistory } from './rule-history.ts'

/** Outcome of a solved header. Miners hear of neither `stale` nor `invalid` (PROTOCOL.md A.2). */
export type Addition =
  | { readonly status: 'added'; readonly block: Block }
  | { readonly status: 'stale' }
  | { readonly status: 'invalid'; readonly rules: readonly BlockRule[]; readonly why?: string }

/** Rules that a block may break; `execution` stands for its transactions. */
type BlockRule = HeaderRule | 'payload' | 'execution'

/** No work: this adjacent chain is behind and must grow first. */
interface BlockedChain {
  readonly blockedBy: number
}

/** Called with the chains whose work is over, and whether the cut was reverted to an earlier one. */
type CutListener = (changed: readonly number[], isRevert: boolean) => void

interface ChainsOptions {
  readonly network: Network
  readonly checkPow: boolean
  /** Highest fork number that its work votes for; default: none. */
  readonly forkTarget?: number
  /** Unix time in microseconds; strictly increasing. */
  readonly now: () => bigint
  /** Chains to continue; default: genesis, in memory. */
  readonly state?: ChainState
  /** Stores the chains; default: memory only. */
  readonly journal?: ChainJournal
  /** Executes the blocks; default: no execution. */
  readonly executions?: Executions
}

/** Chains of a new network. @param payload payload of the first block of every chain */
export function genesisState(
  network: Network,
  payloadOf: (chain: number) => StoredPayload = () => emptyPayload,
  payloads: PayloadStore = new MemoryPayloads(),
): ChainState {
  const { adjacents, degree } = graphAt(network, 0)
  const store = new BlockStore({ chains: adjacents.length, degree, payloads })
  const heads = new Map<number, Header>()
  for (const chain of adjacents.keys()) {
    const payload = payloadOf(chain)
    const genesis = genesisHeader(network, chain, payload.payloadHash)
    store.insert(genesis, payload)
    heads.set(chain, genesis)
  }
  return { store, heads, ruleChanges: [] }
}

/**
 * Chains of a network that begins with blocks of another one.
 * @param headers pinned header of each chain, all of them of one height
 * @param known chain -> its pinned payload; an empty one stands for a payload that the forked node no longer has
 */
export function forkedState(
  network: Network,
  headers: ReadonlyMap<number, Header>,
  known: ReadonlyMap<number, StoredPayload>,
): ChainState {
  const { adjacents, degree } = graphAt(network, 0)
  const store = new BlockStore({ chains: adjacents.length, degree, payloads: new MemoryPayloads() })
  const heads = new Map<number, Header>()
  for (const chain of adjacents.keys()) {
    const header = headers.get(chain)
    if (header === undefined) throw new RangeError(`the pin has no chain ${chain}`)
    store.insert(header, known.get(chain) ?? { ...emptyPayload, payloadHash: header.payloadHash })
    heads.set(chain, header)
  }
  return { store, heads, ruleChanges: [] }
}

/**
 * The chains and their blocks. The life of a block:
 *
 * 1. A draft collects executed transactions on top of a head (work/drafts.ts).
 * 2. The coordinator issues work for its payload, and a miner solves it. An order of the owner does both by itself.
 * 3. `add` checks every rule, has the payload executed, and puts the block into the store. Blocks of others come by
 *    `insert`, as orphans.
 * 4. The block is the head of its chain, and listeners hear of it.
 * 5. The journal writes it: `durable` resolves.
 * 6. After a reorganisation or a revert it is an orphan. The store keeps it.
 */
export class Chains {
  readonly checkPow: boolean
  readonly store: BlockStore
  readonly #rules: RuleHistory
  readonly #forkTarget: number
  readonly #now: () => bigint
  readonly #journal: ChainJournal
  readonly #executions: Executions
  readonly #cut: Map<number, Header>
  readonly #blockListeners = new Set<(block: Block) => void>()
  readonly #cutListeners = new Set<CutListener>()

  constructor(options: ChainsOptions) {
    const { network, checkPow, now, state = genesisState(network) } = options
    this.#rules = new RuleHistory(network, state.ruleChanges)
    this.checkPow = checkPow
    this.#forkTarget = options.forkTarget ?? 0
    this.#now = now
    this.#journal = options.journal ?? noJournal
    this.#executions = options.executions ?? noExecutions
    this.store = state.store
    this.#cut = new Map(state.heads)
  }

  get network(): Network {
    return this.#rules.network
  }

  get rules(): RuleHistory {
    return this.#rules
  }

  get cut(): Cut {
    return this.#cut
  }

  /** The current state. It is not a copy: parts of it keep changing. */
  get state(): ChainState {
    return { store: this.store, heads: this.#cut, ruleChanges: this.#rules.changes }
  }

  /**
   * Resolves once everything so far survives the end of the process; at once for chains in memory. Await it before you
   * acknowledge a block. Rejects with NewcutError DATA_UNUSABLE if a write fails.
   */
  durable(): Promise<void> {
    return this.#journal.durable()
  }

  get chainIds(): number[] {
    return [...this.#cut.keys()]
  }

  /** Calls `listener` after each new block, on the cut or not. @returns a function that unsubscribes */
  onBlock(listener: (block: Block) => void): () => void {
    this.#blockListeners.add(listener)
    return () => this.#blockListeners.delete(listener)
  }

  /** Calls `listener` after each change of the cut. @returns a function that unsubscribes */
  onCut(listener: CutListener): () => void {
    this.#cutListeners.add(listener)
    return () => this.#cutListeners.delete(listener)
  }

  isBlocked(chain: number): boolean {
    return typeof extensionOf(this.network, this.#cut, chain) === 'number'
  }

  /**
   * New work for a chain on top of `cut`, with nonce 0 and the time of the node as creation time.
   * @returns the work, or the adjacent chain that must grow first
   */
  newWork(chain: number, payloadHash: Uint8Array, cut: Cut = this.#cut): WorkFields | BlockedChain {
    const extension = extensionOf(this.network, cut, chain)
    if (typeof extension === 'number') return { blockedBy: extension }
    const { parent, adjacents } = extension
    const adjacentParents = [...adjacents.values()].map((hash) => this.#block(hash).header)
    const creationTime = this.#now()
    const height = parent.height + 1n
    const stateOf = ({ featureFlags }: Header) => forkStateOf(featureFlags)
    const votes = [Number(height), stateOf(parent), adjacentParents.map(stateOf)] as const
    return {
      featureFlags: featureFlagsOf(votedForkState(this.network.forks, ...votes, this.#forkTarget)),
      creationTime,
      parent: parent.hash,
      adjacents,
      payloadHash,
      chainId: chain,
      height,
      version: this.network.code,
      nonce: 0n,
      ...this.#rules.expectedFor(parent, adjacentParents, creationTime),
    }
  }

  /** Extends the cut with a solved header if it still fits and follows every rule. */
  add(header: WorkFields | Header, payload: StoredPayload): Addition {
    if (!extendsCut(this.#cut, header)) return { status: 'stale' }
    const addition = this.insert(header, payload)
    if (addition.status === 'added') {
      this.#moveCut(new Map([[header.chainId, { ...header, hash: addition.block.hash }]]), [header.chainId])
    }
    return addition
  }

  /** Executes a block of others ahead of `insert`, if it follows every other rule. Adds nothing. */
  async prepare(header: WorkFields | Header, payload: StoredPayload): Promise<void> {
    const parent = this.store.get(header.parent)
    const hash = blockHash(encodeWork(header), sha512t256)
    if (parent === undefined || this.store.get(hash) !== undefined) return
    const place = { hash, parent: parent.header, blocks: this.store.size }
    const rules = this.#brokenRules({ header: { hash, ...header }, payload }, place)
    if (rules.length === 0) await this.#executions.prepare(parent.header, payload)
  }

  /**
   * Adds a block on top of any known one if it follows every rule. The cut stays: the block is an orphan until `adopt`.
   */
  insert(header: WorkFields | Header, payload: StoredPayload): Addition {
    const parent = this.store.get(header.parent)
    if (parent === undefined) return { status: 'stale' }
    // Hash only once: hashing takes most of the time of adding a block.
    const hash = blockHash(encodeWork(header), sha512t256)
    const sealed = { hash, ...header }
    const rules = this.#brokenRules(
      { header: sealed, payload },
      { hash, parent: parent.header, blocks: this.store.size },
    )
    if (rules.length > 0) return { status: 'invalid', rules }
    this.#journal.expectRoom()
    const isNew = this.store.get(hash) === undefined
    const judged = isNew ? this.#executions.judge(parent.header, payload) : null
    if (judged !== null && 'fault' in judged) return { status: 'invalid', rules: ['execution'], why: judged.fault }
    const block = this.store.insert(sealed, payload)
    if (judged !== null) this.#executions.recordWrites(block, judged)
    this.#journal.noteChange(this.state)
    for (const listener of this.#blockListeners) listener(block)
    return { status: 'added', block }
  }

  /**
   * Moves the cut to these heads, all of them in the store, if together they weigh more (PROTOCOL.md D).
   * @returns whether the cut moved
   * @throws RangeError if they do not fit together
   */
  adopt(heads: Cut): boolean {
    expectBraid(this.store, heads)
    if (heads.size !== this.#cut.size || cutWeight(heads) <= cutWeight(this.#cut)) return false
    this.#journal.expectRoom()
    // Work of a chain that kept its head may name an adjacent block that is an orphan now.
    this.#moveCut(heads, this.chainIds)
    return true
  }

  /**
   * Reverts the cut to earlier heads, whatever they weigh. Undoes later changes of the rules; later blocks become
   * orphans.
   * @param ruleChanges number of rule changes when the cut had these heads
   * @throws RangeError if the heads do not fit together
   */
  revert(heads: Cut, ruleChanges: number): void {
    expectBraid(this.store, heads)
    this.#journal.expectRoom()
    this.#rules.revert(ruleChanges, this.store.size)
    this.#moveCut(heads, this.chainIds, true)
  }

  /** Changes the rules for the next block of every chain and all later ones. */
  changeRules(change: Omit<RuleChange, 'from' | 'blocks'>): void {
    this.#journal.expectRoom()
    const from = [...this.#cut.values()].map(({ height }) => Number(height) + 1)
    this.#rules.change({ ...change, from, blocks: this.store.size })
    this.#journal.noteChange(this.state)
    for (const listener of this.#cutListeners) listener(this.chainIds, false)
  }

  /** The cut limited to block heights of at most `maxHeight / chains`, rounded down. */
  limitedCut(maxHeight: number): Cut {
    const limit = Math.floor(maxHeight / this.#cut.size)
    return new Map([...this.#cut].map(([chain, { hash }]) => [chain, this.ancestor(hash, limit)]))
  }

  /** Header of the ancestor at this height of the block with this hash, or of the block itself if it is not higher. */
  ancestor(hash: Uint8Array, height: number): Header {
    return this.store.ancestor(this.#block(hash), height).header
  }

  /** Rules that block `number` of the store, no genesis block, broke when it was added; there should be none. */
  rulesBrokenBy(number: number): BlockRule[] {
    const block = this.store.at(number)
    const parent = this.store.parentOf(block)
    if (parent === undefined) return ['parent']
    const hash = blockHash(encodeWork(block.header), sha512t256)
    return this.#brokenRules(block, { hash, parent: parent.header, blocks: number })
  }

  /** `hash` is the correct hash of the header; `blocks` is the number of blocks when it was added. */
  #brokenRules(
    { header, payload }: { header: Header; payload: StoredPayload },
    { hash, parent, blocks }: { hash: Uint8Array; parent: Header; blocks: number },
  ): BlockRule[] {
    const adjacentParents = new Map<number, Header>()
    for (const [chain, adjacentHash] of header.adjacents) {
      // No block has the parent hash of a genesis block. An adjacent that names it is missing here, and breaks the rule.
      const block = this.store.get(adjacentHash)
      if (block !== undefined) adjacentParents.set(chain, block.header)
    }
    const expected = this.#rules.expectedFor(parent, [...adjacentParents.values()], header.creationTime, blocks)
    const options = { now: this.#now(), checkPow: this.checkPow, expected, blockHash: hash }
    const rules: BlockRule[] = brokenRules(this.network, header, { parent, adjacentParents }, options)
    // A block off the cut must still fit on some cut: its adjacent parents descend from those of its parent.
    const isBraided = [...adjacentParents].every(([chain, adjacent]) => {
      const before = parent.adjacents.get(chain)
      return before === undefined || equalBytes(adjacent.parent, before)
    })
    if (!isBraided && !rules.includes('adjacents')) rules.push('adjacents')
    const named = coinbaseParent(payload)
    if (!equalBytes(payload.payloadHash, header.payloadHash)) rules.push('payload')
    else if (named !== null && !equalBytes(named, header.parent)) rules.push('payload')
    return rules
  }

  #moveCut(heads: Cut, changed: readonly number[], isRevert = false): void {
    for (const [chain, head] of heads) {
      this.#cut.set(chain, head)
      this.#executions.followHead(head)
    }
    this.#journal.noteChange(this.state)
    for (const listener of this.#cutListeners) listener(changed, isRevert)
  }

  #block(hash: Uint8Array): Block {
    const block = this.store.get(hash)
    if (block === undefined) throw new Error(`no block ${Buffer.from(hash).toString('base64url')} in the store`)
    return block
  }
}
