/**
 * Typed client of a node's HTTP interface. What it accepts is what the interface
 * description promises and what live nodes do (PROTOCOL.md E); src/schema has the shapes of all bodies.
 */
import type { ProductWord } from '../core/header-json.ts'
import type { MinerAccount } from '../core/payload.ts'
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
} from '../schema/bodies.ts'
import type { CommandResult } from '../schema/command-bodies.ts'
import { operations } from '../schema/operations.ts'
import type { BlockEncoding, BlockEncodings, Bounds, Context, Hash, RangeOptions } from './chain-calls.ts'
import * as chainCalls from './chain-calls.ts'
import type { LocalOptions, LocalResult } from './command-calls.ts'
import * as commandCalls from './command-calls.ts'
import type { EventStream } from './event-stream.ts'
import type { EncodingOption, HeaderEncoding, HeaderEncodings } from './header-encoding.ts'
import { NodeHttp, type NodeHttpOptions } from './http.ts'
import type { WorkAnswer } from './mining-calls.ts'
import * as miningCalls from './mining-calls.ts'
import * as nodeCalls from './node-calls.ts'
import type { GraphHistory, JudgedInfo } from './node-info.ts'
import { Paging } from './paging.ts'
import { type PayloadKeys, type PayloadOptions, payload, payloads } from './payload-calls.ts'
import { type CallOptions, Requests } from './requests.ts'
import type { BlockNews, HeaderNews, UpdateEncoding, UpdateHandlers, WorkNews } from './stream-calls.ts'
import * as streamCalls from './stream-calls.ts'
import type { Gap, StreamOptions, Updates } from './updates.ts'
import type { VerifyOption } from './verify.ts'
import { networkOf } from './verify-network.ts'
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
 * Every call takes `signal` and `timeoutMs`, and throws: UnreachableError (no complete answer), NodeRefusal (an error
 * status; NotFound, BranchBoundsExceeded and NotAcceptable among them), NodeMisbehaved (a body that is not what the
 * interface promises, or longer than such a body can be), NewcutError BAD_OPTION and FormatError for arguments that
 * cannot be right, and the reason of `signal` as it is. All but the last two say whether trying again may help.
 *
 * Hashes go in as base64url or as bytes. Integers beyond 2^53 come out as bigint. Redirections are not followed.
 */
export class NodeClient {
  /** The connection underneath, for requests that have no method here. */
  readonly http: NodeHttp
  /** What the node said of itself when it was connected to. Its texts are printable, its chains those of its graphs. */
  readonly info: NodeInfo
  /** The graphs of the network by the height they begin at, ascending; at least one. Work has to fit them. */
  readonly graphHistory: GraphHistory
  /** The word that the node uses in paths: `chainweb` or `ledger`. */
  readonly product: ProductWord
  readonly #requests: Requests
  readonly #context: Context & { readonly http: NodeHttp }

  private constructor(http: NodeHttp, { info, graphHistory }: JudgedInfo, product: ProductWord) {
    this.http = http
    this.info = info
    this.graphHistory = graphHistory
    this.product = product
    this.#requests = new Requests(http, `/${product}/0.0/${encodeURIComponent(info.nodeVersion)}`)
    const network = networkOf({ info, graphHistory })
    this.#context = {
      http,
      requests: this.#requests,
      url: http.baseUrl,
      info,
      graphHistory,
      network,
      reportedForks: new Set(),
    }
  }

  /**
   * Asks a node what it is. Throws NotRecognised for something that is not the service API of a node, NodeMisbehaved
   * for a node whose description of itself cannot be right, NodeRefusal where asking again may help, UnreachableError,
   * BAD_OPTION for a malformed address, or the reason of `signal` when that aborts before there is an answer; later
   * it has no effect.
   */
  static async connect(options: NodeHttpOptions, signal?: AbortSignal): Promise<NodeClient> {
    const http = new NodeHttp(options)
    try {
      const { judged, product } = await nodeCalls.recognise(new Requests(http, ''), signal ? { signal } : {})
      return new NodeClient(http, judged, product)
    } catch (error) {
      await http.close()
      throw error
    }
  }

  /**
   * Time between blocks of a chain, in milliseconds: what the node told when it was connected to; else the delay of the
   * network that it named; else 30 s.
   */
  get blockDelayMs(): number {
    return (this.info.nodeBlockDelay ?? Number(this.#context.network.network.blockDelay)) / 1000
  }

  /** Drops all connections; calls and streams under way end with UnreachableError `closed`. */
  close(): Promise<void> {
    return this.http.close()
  }

  /**
   * The node's health message: it runs and answers. Its consensus shows in the cut. NodeRefusal 503: it is stopping.
   */
  healthCheck(options: CallOptions = {}): Promise<string> {
    return this.#requests.text(operations.healthCheck, options)
  }

  /**
   * Network, chains, graphs by height (live nodes: newest first), and what else the node tells: older nodes do not tell
   * their block delay (us). `info` keeps the first answer.
   */
  async nodeInfo(options: CallOptions = {}): Promise<NodeInfo> {
    return (await nodeCalls.nodeInfo(this.#requests, options)).info
  }

  /** The configuration of the node, without secrets; not part of the stable interface. Live nodes: P2P port only. */
  async config(options: CallOptions = {}): Promise<NodeConfig> {
    return (await this.#requests.json(operations.config, options)).body as NodeConfig
  }

  /**
   * Starts a backup of the block database, with `backupPact` also of the contract-state database, and gives its id;
   * that of the running job if there is one. NodeRefusal 404: backups are off. Asked for at the root, then below the
   * network.
   */
  makeBackup({ backupPact = false, ...call }: CallOptions & { readonly backupPact?: boolean } = {}): Promise<string> {
    return nodeCalls.makeBackup(this.#context, backupPact, call)
  }

  /** How a backup job stands. Throws NotFound with the id as key. */
  checkBackup(id: string, options: CallOptions = {}): Promise<BackupStatus> {
    return nodeCalls.checkBackup(this.#context, id, options)
  }

  /** The head of every chain; with `maxheight`, of a cut whose heights add up to no more than that. */
  async cut({ maxheight, ...call }: CallOptions & { readonly maxheight?: number } = {}): Promise<CutHashes> {
    return (await this.#requests.json(operations.cut, { ...call, query: { maxheight } })).body
  }

  /**
   * Tells the node of a cut; it needs an `origin`. NodeRefusal 400: without one; 401: an unknown peer. P2P port only.
   */
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

  /** Makes a peer known. NodeRefusal 400: it cannot be reached from there. P2P port only. */
  async putCutPeer(peer: PeerInfo, options: CallOptions = {}): Promise<void> {
    await this.#requests.send(operations.putCutPeer, { ...options, body: peer })
  }

  /** Block hashes of a chain (base64url) by ascending height, orphans included. */
  hashes(chain: number, options: RangeOptions = {}): Paging<string> {
    return chainCalls.hashes(this.#context, chain, options)
  }

  /**
   * Block hashes of branches, descending from the leaves. NotFound: an upper bound is unknown; BranchBoundsExceeded.
   */
  hashBranch(chain: number, bounds: Bounds, options: RangeOptions = {}): Paging<string> {
    return chainCalls.hashes(this.#context, chain, options, bounds)
  }

  /** Headers of a chain by ascending height, orphans included. Also throws InvalidHeader if they are to be verified. */
  headers<E extends HeaderEncoding = 'decoded'>(
    chain: number,
    options: RangeOptions & EncodingOption<E> & VerifyOption = {},
  ): Paging<HeaderEncodings[E]> {
    return chainCalls.headers(this.#context, chain, options)
  }

  /**
   * The header with this block hash. Throws NotFound, InvalidHeader; NodeMisbehaved for the header of another block.
   */
  header<E extends HeaderEncoding = 'decoded'>(
    chain: number,
    hash: Hash,
    options: CallOptions & EncodingOption<E> & VerifyOption = {},
  ): Promise<HeaderEncodings[E]> {
    return chainCalls.header(this.#context, chain, hash, options)
  }

  /** Headers of branches, descending from the leaves. NotFound: an upper bound is unknown; BranchBoundsExceeded. */
  headerBranch<E extends HeaderEncoding = 'decoded'>(
    chain: number,
    bounds: Bounds,
    options: RangeOptions & EncodingOption<E> & VerifyOption = {},
  ): Paging<HeaderEncodings[E]> {
    return chainCalls.headers(this.#context, chain, options, bounds)
  }

  /** Blocks with payloads and outputs by ascending height, orphans included. Also InvalidHeader, InvalidPayload. */
  blocks<E extends BlockEncoding = 'decoded'>(
    chain: number,
    options: RangeOptions & { readonly encoding?: E } & VerifyOption = {},
  ): Paging<BlockEncodings[E]> {
    return chainCalls.blocks(this.#context, chain, options)
  }

  /** Blocks of branches, descending from the leaves. NotFound: an upper bound is unknown; BranchBoundsExceeded. */
  blockBranch<E extends BlockEncoding = 'decoded'>(
    chain: number,
    bounds: Bounds,
    options: RangeOptions & { readonly encoding?: E } & VerifyOption = {},
  ): Paging<BlockEncodings[E]> {
    return chainCalls.blocks(this.#context, chain, options, bounds)
  }

  /** The payload with this payload hash: transactions and miner data in base64url. Throws NotFound, InvalidPayload. */
  payload(chain: number, hash: Hash, options: PayloadOptions = {}): Promise<PayloadData> {
    return payload(this.#context, 'plain', { chain, hash, options })
  }

  /** As payload, with the outputs of the transactions and of the coinbase. */
  payloadOutputs(chain: number, hash: Hash, options: PayloadOptions = {}): Promise<PayloadWithOutputs> {
    return payload(this.#context, 'outputs', { chain, hash, options })
  }

  /** Several payloads in the order of their keys, without those that the node does not have; 1,000 in a request. */
  payloads(chain: number, keys: PayloadKeys, options: Omit<PayloadOptions, 'height'> = {}): Promise<PayloadData[]> {
    return payloads(this.#context, 'plain', { chain, keys, options })
  }

  /** As payloads, with outputs. */
  payloadsOutputs(
    chain: number,
    keys: PayloadKeys,
    options: Omit<PayloadOptions, 'height'> = {},
  ): Promise<PayloadWithOutputs[]> {
    return payloads(this.#context, 'outputs', { chain, keys, options })
  }

  /**
   * Every header that the node takes into its database, orphans included, from now on. Reconnects by itself; a gap
   * tells that something was missed. The iteration throws NodeRefusal (404: the stream is off) and NodeMisbehaved.
   */
  headerUpdates<E extends UpdateEncoding = 'decoded'>(
    options: StreamOptions & EncodingOption<E> & VerifyOption = {},
  ): Updates<HeaderNews<E> | Gap> {
    return streamCalls.blockNews<E>(this.#context, 'headerUpdates', options)
  }

  /** As headerUpdates, with payloads. */
  blockUpdates<E extends UpdateEncoding = 'decoded'>(
    options: StreamOptions & EncodingOption<E> & VerifyOption = {},
  ): Updates<BlockNews<E> | Gap> {
    return streamCalls.blockNews<E>(this.#context, 'blockUpdates', options) as Updates<BlockNews<E> | Gap>
  }

  /**
   * Hashes of pending transactions: all, or those that came `since` the highwaterMark of an earlier answer. P2P port
   * only, as all of the mempool. A mark is a pair of 64-bit integers: number, or bigint beyond 2^53.
   */
  mempoolPending(
    chain: number,
    options: CallOptions & { readonly since?: nodeCalls.HighwaterMark } = {},
  ): Promise<PendingTransactions> {
    return nodeCalls.mempoolPending(this.#context, chain, options)
  }

  /** For each request key whether its transaction is pending. */
  mempoolMember(chain: number, keys: readonly Hash[], call: CallOptions = {}): Promise<boolean[]> {
    return nodeCalls.mempoolAnswers(this.#context, 'mempoolMember', { chain, keys, call }) as Promise<boolean[]>
  }

  /** For each request key its pending transaction, or that there is none. */
  mempoolLookup(chain: number, keys: readonly Hash[], call: CallOptions = {}): Promise<MempoolLookup[]> {
    return nodeCalls.mempoolAnswers(this.#context, 'mempoolLookup', { chain, keys, call }) as Promise<MempoolLookup[]>
  }

  /** Adds signed commands, as objects or as JSON text. NodeRefusal 400: one of them is malformed. */
  mempoolInsert(chain: number, commands: readonly (string | Command)[], call: CallOptions = {}): Promise<void> {
    return nodeCalls.mempoolInsert(this.#context, { chain, commands, call })
  }

  /**
   * Executes a command on this node alone: nothing is written. A command that fails is a result too. NodeRefusal 400: it
   * cannot be executed at all, and why.
   */
  local(chain: number, command: Command, call: LocalOptions = {}): Promise<LocalResult> {
    return commandCalls.local(this.#context, command, { chain, call })
  }

  /**
   * Hands in commands for the next blocks of a chain, all of them or none, and gives their request keys. NodeRefusal
   * 400 says which of them is wrong, and why.
   */
  send(chain: number, commands: readonly Command[], call: CallOptions = {}): Promise<string[]> {
    return commandCalls.send(this.#context, commands, { chain, call })
  }

  /** Results by request key, of commands that have one; with so many blocks on top of theirs at least. */
  poll(
    chain: number,
    keys: readonly Hash[],
    call: CallOptions & { readonly confirmationDepth?: number } = {},
  ): Promise<ReadonlyMap<string, CommandResult>> {
    return commandCalls.poll(this.#context, keys, { chain, call })
  }

  /** Waits for the result of a command. NodeRefusal 504, retryable: none within the time that the node waits, 180 s. */
  listen(chain: number, key: Hash, call: CallOptions = {}): Promise<CommandResult> {
    return commandCalls.listen(this.#context, key, { chain, call })
  }

  /**
   * Proves the result of a command of this chain to another one; the proof goes into a continuation there. NodeRefusal
   * 400: there is no proof, or not yet.
   */
  spv(chain: number, key: Hash, targetChain: number, call: CallOptions = {}): Promise<string> {
    return commandCalls.spv(this.#context, { key, targetChain }, { chain, call })
  }

  /**
   * Waits for the result of a command by asking again and again, also while the node is away, until so many blocks
   * stand on that of the command. Throws NewcutError NO_RESULT after `limitMs`.
   */
  waitFor(chain: number, requestKey: string, options: WaitOptions = {}): Promise<CommandResult> {
    return waitForResult(this, { chain, requestKey }, options, { clock: this.http.clock, random: Math.random })
  }

  /** Waits for the proof of a result for another chain, which has to hear of its block first. As waitFor. */
  waitForProof(chain: number, requestKey: string, targetChain: number, options: WaitOptions = {}): Promise<string> {
    return waitForProof(this, { chain, requestKey, targetChain }, options, {
      clock: this.http.clock,
      random: Math.random,
    })
  }

  /** Hands in a command for the nodes that it is addressed to; gives its request key. Live nodes have no such endpoint. */
  private(chain: number, command: Command, call: CallOptions = {}): Promise<string> {
    return commandCalls.privateCommand(this.#context, command, { chain, call })
  }

  /**
   * Work, of this chain if the node likes the suggestion. Throws UnauthorizedMiner (this account may not mine there),
   * NodeRefusal 503 (no work yet, try later), and NodeMisbehaved, which is retryable here, for work of a chain or with
   * adjacent chains that are not those of the node's graph at its height.
   */
  work(account: MinerAccount, suggestedChain?: number, call: CallOptions = {}): Promise<WorkAnswer> {
    return miningCalls.work(this.#context, account, suggestedChain, call)
  }

  /**
   * Whether mining is switched off in a node that is otherwise well: its service answers and is of the same network,
   * and it answers a request for work with its own 404. False whenever that cannot be told from an outage. Throws the
   * reason of `signal`.
   */
  isMiningDisabled(account: MinerAccount, call: CallOptions = {}): Promise<boolean> {
    return miningCalls.isMiningDisabled(this.#context, account, call)
  }

  /** Hands in solved work bytes. Success says that the node took them, not that they became a block. */
  solved(work: Uint8Array, call: CallOptions = {}): Promise<void> {
    return miningCalls.solved(this.#context, work, call)
  }

  /** What is new for a miner of a chain: an iterable, or with handlers a stream that stays open until it is closed. */
  updates(chain: number, handlers: UpdateHandlers): EventStream
  updates(chain: number, options?: StreamOptions): Updates<WorkNews | Gap>
  updates(chain: number, options: StreamOptions | UpdateHandlers = {}): Updates<WorkNews | Gap> | EventStream {
    chainCalls.chainText(operations.updates, chain)
    if ('onNewCut' in options) return streamCalls.openWorkStream(this.#context, chain, options)
    return streamCalls.workNews(this.#context, chain, options)
  }
}
