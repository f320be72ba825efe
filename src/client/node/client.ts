/**
 * Typed client of the HTTP interface of a node. It accepts everything that the interface description promises, and what
 * live nodes send (PROTOCOL.md E). src/ground/schema has the shapes of all bodies.
 */
import type { ProductWord } from '#ground/chain/header-json.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import type {
  BackupStatus,
  Command,
  CutHashes,
  MempoolLookup,
  NodeConfig,
  NodeInfo,
  PayloadData,
  PayloadWithOutputs,
  PeerInfo,
  PendingTransactions,
} from '#ground/schema/bodies.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { operations } from '#ground/schema/operations.ts'
import type { BlockEncoding, BlockEncodings, Bounds, ClientContext, Hash, RangeOptions } from './chain-calls.ts'
import * as chainCalls from './chain-calls.ts'
import type { LocalOptions, LocalResult } from './command-calls.ts'
import * as commandCalls from './command-calls.ts'
import type { EventStream } from './event-stream.ts'
import { networkCodeOf, verifiableNetworkOf } from './genesis-calls.ts'
import type { EncodingOption, HeaderEncoding, HeaderEncodings } from './header-encoding.ts'
import { NodeHttp } from './http.ts'
import type { WorkAnswer } from './mining-calls.ts'
import * as miningCalls from './mining-calls.ts'
import * as nodeCalls from './node-calls.ts'
import type { CheckedNodeInfo, GraphHistory } from './node-info.ts'
import { Paging } from './paging.ts'
import { fetchPayload, fetchPayloads, type PayloadKeys, type PayloadOptions } from './payload-calls.ts'
import { type CallOptions, Requests } from './requests.ts'
import type { BlockNews, HeaderNews, UpdateEncoding, UpdateHandlers, WorkNews } from './stream-calls.ts'
import * as streamCalls from './stream-calls.ts'
import type { Gap, StreamOptions, Updates } from './updates.ts'
import type { VerifyOption } from './verify.ts'
import { type Networks, type NodeClientOptions, networkOfInfo, type VerifiableNetwork } from './verify-network.ts'
import { type WaitOptions, waitForProof, waitForResult } from './wait-for.ts'

/**
 * A client of one node, each method named after its operation.
 *
 * ```ts
 * import { NodeClient } from 'newcut/node'
 *
 * const client = await NodeClient.connect({ url: 'http://127.0.0.1:1848' })
 * for (const [chain, head] of Object.entries((await client.cut()).hashes)) {
 *   const header = await client.header(Number(chain), head.hash, { verify: true })
 *   console.log(chain, header.height, header.target)
 * }
 * for await (const block of client.blocks(0, { minheight: 1_000 }).items({ most: 50 })) {
 *   console.log(block.header.height, block.payloadWithOutputs.transactions.length)
 * }
 * await client.close()
 * ```
 *
 * Every call takes `signal` and `timeoutMs`. It throws UnreachableError without a complete response, and NodeRefusal
 * for an error status; NotFound, BranchBoundsExceeded and NotAcceptable are refusals. It throws NodeMisbehaved for a
 * body that breaks the interface, or is longer than such a body can be. `isRetryable` says whether a retry may help.
 * Impossible arguments throw NewcutError BAD_OPTION or FormatError. An aborted call throws the reason of `signal` as it
 * is.
 *
 * Hashes go in as base64url or as bytes. Integers beyond 2^53 come out as bigint. Redirections are not followed.
 */
export class NodeClient {
  /** The connection, for requests that have no method here. */
  readonly http: NodeHttp
  /** Description of the node when the client connected. Its texts are printable, its chains those of its graphs. */
  readonly info: NodeInfo
  /** Graphs of the network by their first height, ascending; at least one. Work must fit them. */
  readonly graphHistory: GraphHistory
  /** Word of the node in paths: `chainweb` or `ledger`. */
  readonly product: ProductWord
  /** The network that the node claims to belong to, with the rules that its headers are checked against. */
  readonly network: VerifiableNetwork
  readonly #requests: Requests
  readonly #context: ClientContext & { readonly http: NodeHttp }

  private constructor(http: NodeHttp, { info, graphHistory }: CheckedNodeInfo, product: ProductWord, own?: Networks) {
    this.http = http
    this.info = info
    this.graphHistory = graphHistory
    this.product = product
    const requests = new Requests(http, `/${product}/0.0/${encodeURIComponent(info.nodeVersion)}`)
    this.#requests = requests
    this.network = networkOfInfo({ info, graphHistory }, own)
    const networkCode = networkCodeOf(requests, info.nodeVersion, own)
    const url = http.baseUrl
    const verifiable = verifiableNetworkOf(requests, { info, graphHistory }, own)
    this.#context = { http, requests, url, info, graphHistory, verifiable, networkCode, reportedForks: new Set() }
  }

  /**
   * Connects to a node and reads its description. `signal` has no effect after the response.
   * @throws NotRecognised if it is not the service API of a node, NodeRefusal if a retry may help. NodeMisbehaved if its
   * description cannot be right, UnreachableError, the reason of `signal`. NewcutError BAD_OPTION for an address.
   */
  static async connect({ networks, ...options }: NodeClientOptions, signal?: AbortSignal): Promise<NodeClient> {
    const http = new NodeHttp(options)
    try {
      const { judged, product } = await nodeCalls.recogniseNode(new Requests(http, ''), signal ? { signal } : {})
      return new NodeClient(http, judged, product, networks)
    } catch (error) {
      await http.close()
      throw error
    }
  }

  /**
   * Time between blocks of a chain, in milliseconds: as described when the client connected, else that of the named
   * network, else 30 s.
   */
  get blockDelayMs(): number {
    return (this.info.nodeBlockDelay ?? Number(this.network.network.blockDelay)) / 1000
  }

  /** Drops all connections. Pending calls and streams end with UnreachableError `closed`. */
  close(): Promise<void> {
    return this.http.close()
  }

  /**
   * Health message of the node: it runs and responds. Its consensus shows in the cut. @throws NodeRefusal 503 while it stops
   */
  healthCheck(options: CallOptions = {}): Promise<string> {
    return this.#requests.text(operations.healthCheck, options)
  }

  /**
   * Network, chains, graphs by height (live nodes: newest first), and further properties. Older nodes do not report
   * their block delay (us). `info` keeps the first response.
   */
  async nodeInfo(options: CallOptions = {}): Promise<NodeInfo> {
    return (await nodeCalls.fetchJudgedInfo(this.#requests, options)).info
  }

  /** Configuration of the node, without secrets; not part of the stable interface. Live nodes: P2P port only. */
  async config(options: CallOptions = {}): Promise<NodeConfig> {
    return (await this.#requests.json(operations.config, options)).body as NodeConfig
  }

  /**
   * Starts a backup of the block database, with `backupPact` also of the contract-state database. Tries the root path,
   * then the path of the network.
   * @returns the id of the job, or of the running one. @throws NodeRefusal 404 if backups are off
   */
  makeBackup({ backupPact = false, ...call }: CallOptions & { readonly backupPact?: boolean } = {}): Promise<string> {
    return nodeCalls.startBackup(this.#context, backupPact, call)
  }

  /** Status of a backup job. @throws NotFound with the id as key */
  checkBackup(id: string, options: CallOptions = {}): Promise<BackupStatus> {
    return nodeCalls.checkBackup(this.#context, id, options)
  }

  /** The head of every chain; with `maxheight`, of a cut whose heights add up to at most that. */
  async cut({ maxheight, ...call }: CallOptions & { readonly maxheight?: number } = {}): Promise<CutHashes> {
    return (await this.#requests.json(operations.cut, { ...call, query: { maxheight } })).body
  }

  /** Sends a cut. P2P port only. @throws NodeRefusal 400 without an `origin`, 401 for an unknown peer */
  async putCut(cut: CutHashes, options: CallOptions = {}): Promise<void> {
    await this.#requests.send(operations.putCut, { ...options, body: cut })
  }

  /** Peers of the node. P2P port only. */
  cutPeers({ limit, ...call }: CallOptions & { readonly limit?: number } = {}): Paging<PeerInfo> {
    const fetch = async (next: string | undefined, options: CallOptions) =>
      (await this.#requests.json(operations.cutPeers, { ...options, query: { limit, next } })).body
    const defaults = { ...call, ...(limit !== undefined && { limit }) }
    const operation = operations.cutPeers
    return new Paging(fetch, defaults, { ...chainCalls.originOf(this.#context, operation), operation })
  }

  /** Announces a peer. P2P port only. @throws NodeRefusal 400 if the node cannot reach it */
  async putCutPeer(peer: PeerInfo, options: CallOptions = {}): Promise<void> {
    await this.#requests.send(operations.putCutPeer, { ...options, body: peer })
  }

  /** Block hashes of a chain (base64url) by ascending height, orphans included. */
  hashes(chain: number, options: RangeOptions = {}): Paging<string> {
    return chainCalls.listHashes(this.#context, chain, options)
  }

  /**
   * Block hashes of branches, descending from the leaves. @throws NotFound for an upper bound, BranchBoundsExceeded
   */
  hashBranch(chain: number, bounds: Bounds, options: RangeOptions = {}): Paging<string> {
    return chainCalls.listHashes(this.#context, chain, options, bounds)
  }

  /** Headers of a chain by ascending height, orphans included. @throws InvalidHeader with `verify` */
  headers<E extends HeaderEncoding = 'decoded'>(
    chain: number,
    options: RangeOptions & EncodingOption<E> & VerifyOption = {},
  ): Paging<HeaderEncodings[E]> {
    return chainCalls.listHeaders(this.#context, chain, options)
  }

  /**
   * The header with this block hash.
   * @throws NotFound, InvalidHeader, NodeMisbehaved for the header of another block
   */
  header<E extends HeaderEncoding = 'decoded'>(
    chain: number,
    hash: Hash,
    options: CallOptions & EncodingOption<E> & VerifyOption = {},
  ): Promise<HeaderEncodings[E]> {
    return chainCalls.fetchOneHeader(this.#context, chain, hash, options)
  }

  /** Headers of branches, descending from the leaves. @throws NotFound for an upper bound, BranchBoundsExceeded */
  headerBranch<E extends HeaderEncoding = 'decoded'>(
    chain: number,
    bounds: Bounds,
    options: RangeOptions & EncodingOption<E> & VerifyOption = {},
  ): Paging<HeaderEncodings[E]> {
    return chainCalls.listHeaders(this.#context, chain, options, bounds)
  }

  /** Blocks with payloads and outputs by ascending height, orphans included. @throws InvalidHeader, InvalidPayload */
  blocks<E extends BlockEncoding = 'decoded'>(
    chain: number,
    options: RangeOptions & { readonly encoding?: E } & VerifyOption = {},
  ): Paging<BlockEncodings[E]> {
    return chainCalls.listBlocks(this.#context, chain, options)
  }

  /** Blocks of branches, descending from the leaves. @throws NotFound for an upper bound, BranchBoundsExceeded */
  blockBranch<E extends BlockEncoding = 'decoded'>(
    chain: number,
    bounds: Bounds,
    options: RangeOptions & { readonly encoding?: E } & VerifyOption = {},
  ): Paging<BlockEncodings[E]> {
    return chainCalls.listBlocks(this.#context, chain, options, bounds)
  }

  /** The payload with this payload hash: transactions and miner data in base64url. @throws NotFound, InvalidPayload */
  payload(chain: number, hash: Hash, options: PayloadOptions = {}): Promise<PayloadData> {
    return fetchPayload(this.#context, 'plain', { chain, hash, options })
  }

  /** Like payload, with the outputs of the transactions and of the coinbase. */
  payloadOutputs(chain: number, hash: Hash, options: PayloadOptions = {}): Promise<PayloadWithOutputs> {
    return fetchPayload(this.#context, 'outputs', { chain, hash, options })
  }

  /** Several payloads in the order of their keys, 1,000 in a request. Payloads that the node lacks are left out. */
  payloads(chain: number, keys: PayloadKeys, options: Omit<PayloadOptions, 'height'> = {}): Promise<PayloadData[]> {
    return fetchPayloads(this.#context, 'plain', { chain, keys, options })
  }

  /** Like payloads, with outputs. */
  payloadsOutputs(
    chain: number,
    keys: PayloadKeys,
    options: Omit<PayloadOptions, 'height'> = {},
  ): Promise<PayloadWithOutputs[]> {
    return fetchPayloads(this.#context, 'outputs', { chain, keys, options })
  }

  /**
   * Every header that the node adds to its database, orphans included. Reconnects automatically; a gap reports missed
   * updates. The iteration throws NodeRefusal (404 if the stream is off) and NodeMisbehaved.
   */
  headerUpdates<E extends UpdateEncoding = 'decoded'>(
    options: StreamOptions & EncodingOption<E> & VerifyOption = {},
  ): Updates<HeaderNews<E> | Gap> {
    return streamCalls.streamBlockNews<E>(this.#context, 'headerUpdates', options)
  }

  /** Like headerUpdates, with payloads. */
  blockUpdates<E extends UpdateEncoding = 'decoded'>(
    options: StreamOptions & EncodingOption<E> & VerifyOption = {},
  ): Updates<BlockNews<E> | Gap> {
    return streamCalls.streamBlockNews<E>(this.#context, 'blockUpdates', options) as Updates<BlockNews<E> | Gap>
  }

  /**
   * Hashes of pending transactions: all, or those since the highwaterMark of an earlier response. A mark is a pair of
   * 64-bit integers: number, or bigint beyond 2^53. All mempool calls need the P2P port.
   */
  mempoolPending(
    chain: number,
    options: CallOptions & { readonly since?: nodeCalls.HighwaterMark } = {},
  ): Promise<PendingTransactions> {
    return nodeCalls.fetchPending(this.#context, chain, options)
  }

  /** Whether the transaction of each request key is pending. */
  mempoolMember(chain: number, keys: readonly Hash[], call: CallOptions = {}): Promise<boolean[]> {
    return nodeCalls.fetchMempoolEntries(this.#context, 'mempoolMember', { chain, keys, call }) as Promise<boolean[]>
  }

  /** The pending transaction of each request key, or that there is none. */
  mempoolLookup(chain: number, keys: readonly Hash[], call: CallOptions = {}): Promise<MempoolLookup[]> {
    return nodeCalls.fetchMempoolEntries(this.#context, 'mempoolLookup', { chain, keys, call }) as Promise<
      MempoolLookup[]
    >
  }

  /** Adds signed commands, as objects or as JSON text. @throws NodeRefusal 400 if one of them is malformed */
  mempoolInsert(chain: number, commands: readonly (string | Command)[], call: CallOptions = {}): Promise<void> {
    return nodeCalls.insertIntoMempool(this.#context, { chain, commands, call })
  }

  /**
   * Executes a command on this node alone, without writing anything. A failed command is a result too.
   * @throws NodeRefusal 400, which says why it cannot be executed at all
   */
  local(chain: number, command: Command, call: LocalOptions = {}): Promise<LocalResult> {
    return commandCalls.evaluateLocally(this.#context, command, { chain, call })
  }

  /**
   * Submits commands for the next blocks of a chain, all of them or none.
   * @returns their request keys
   * @throws NodeRefusal 400, which says which command is wrong, and why
   */
  send(chain: number, commands: readonly Command[], call: CallOptions = {}): Promise<string[]> {
    return commandCalls.send(this.#context, commands, { chain, call })
  }

  /** Results by request key, of the commands that have one with at least `confirmationDepth` blocks on top of it. */
  poll(
    chain: number,
    keys: readonly Hash[],
    call: CallOptions & { readonly confirmationDepth?: number } = {},
  ): Promise<ReadonlyMap<string, CommandResult>> {
    return commandCalls.poll(this.#context, keys, { chain, call })
  }

  /** Waits for the result of a command. @throws NodeRefusal 504, retryable, if the node has none within 180 s */
  listen(chain: number, key: Hash, call: CallOptions = {}): Promise<CommandResult> {
    return commandCalls.listenForResult(this.#context, key, { chain, call })
  }

  /**
   * Proves the result of a command of this chain to another one; a continuation there needs the proof.
   * @throws NodeRefusal 400 if there is no proof, or not yet
   */
  spv(chain: number, key: Hash, targetChain: number, call: CallOptions = {}): Promise<string> {
    return commandCalls.fetchProof(this.#context, { key, targetChain }, { chain, call })
  }

  /**
   * Polls for the result of a command, even while the node is away, until `depth` blocks are on top of it.
   * @throws NewcutError NO_RESULT after `limitMs`
   */
  waitFor(chain: number, requestKey: string, options: WaitOptions = {}): Promise<CommandResult> {
    return waitForResult(this, { chain, requestKey }, options, { clock: this.http.clock, random: Math.random })
  }

  /** Waits for the proof of a result for another chain, which must learn of its block first. @throws like waitFor */
  waitForProof(chain: number, requestKey: string, targetChain: number, options: WaitOptions = {}): Promise<string> {
    return waitForProof(this, { chain, requestKey, targetChain }, options, {
      clock: this.http.clock,
      random: Math.random,
    })
  }

  /** Submits a command to the nodes that it names; returns its request key. Live nodes have no such endpoint. */
  private(chain: number, command: Command, call: CallOptions = {}): Promise<string> {
    return commandCalls.submitPrivately(this.#context, command, { chain, call })
  }

  /**
   * Fetches work, of the suggested chain if the node agrees.
   * @throws UnauthorizedMiner if this account may not mine there, NodeRefusal 503 if there is no work yet. A retryable
   * NodeMisbehaved for work whose chain or adjacent chains do not fit the graph of the node at its height.
   */
  work(account: MinerAccount, suggestedChain?: number, call: CallOptions = {}): Promise<WorkAnswer> {
    return miningCalls.requestWork(this.#context, account, suggestedChain, call)
  }

  /**
   * Whether mining is disabled on an otherwise healthy node: its service responds and is of the same network, and a
   * request for work gets its own 404. False if it may be an outage. @throws the reason of `signal`
   */
  isMiningDisabled(account: MinerAccount, call: CallOptions = {}): Promise<boolean> {
    return miningCalls.isMiningDisabled(this.#context, account, call)
  }

  /** Submits solved work bytes. Success means that the node took them, not that they became a block. */
  solved(work: Uint8Array, call: CallOptions = {}): Promise<void> {
    return miningCalls.submitWork(this.#context, work, call)
  }

  /** News for miners of a chain: an iterable, or with handlers a stream that stays open until it is closed. */
  updates(chain: number, handlers: UpdateHandlers): EventStream
  updates(chain: number, options?: StreamOptions): Updates<WorkNews | Gap>
  updates(chain: number, options: StreamOptions | UpdateHandlers = {}): Updates<WorkNews | Gap> | EventStream {
    chainCalls.chainText(operations.updates, chain)
    if ('onNewCut' in options) return streamCalls.openWorkStream(this.#context, chain, options)
    return streamCalls.streamWorkNews(this.#context, chain, options)
  }
}
