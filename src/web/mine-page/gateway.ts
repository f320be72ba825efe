/**
 * What the page asks for, in forms that browsers can send, and the calls of the node's mining API behind it
 * (PROTOCOL.md A.1 to A.3): browsers send no GET with a body. Everything here has a limit.
 */
import { setMaxListeners } from 'node:events'
import { blockHash } from '../../core/block-hash.ts'
import { encodeBase64Url } from '../../core/bytes.ts'
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import type { MinerAccount } from '../../core/payload.ts'
import { withFirstOf } from '../../core/signals.ts'
import { type FollowUp, type Receipt, verdictOf } from '../../core/solution.ts'
import { encodeWorkResponse } from '../../core/work.ts'
import type { NodeClient } from '../../node/client.ts'
import { NodeCalls } from '../../source/node/calls.ts'
import { followUp } from '../../source/node/follow-up.ts'
import { handIn } from '../../source/node/hand-in.ts'
import type { SolvedBlock } from '../../source/node/look.ts'
import { type MiningNode, miningNodeOf } from '../../source/node/mining-node.ts'
import { helpedNode } from '../../source/nodes/helped-node.ts'
import { Issuers } from './issuers.ts'
import { accountIn, chainIn, solvedFields } from './read.ts'
import { nodeFailure, Refused } from './refused.ts'
import type { AboutNetwork, SolutionEnd } from './wire.ts'

const MAX_WORK_MS = 5_000
/** Handing in and following a solution take no longer than this. */
const MAX_SOLVED_MS = 60_000
const MAX_CALLS = 64
const MAX_STREAMS = 64

export interface GatewayOptions {
  /** The node that gives work now, once it can be spoken to. Throws NewcutError while it cannot. */
  readonly client: () => Promise<NodeClient>
  /** All nodes of its network that answer; default: there are no others. */
  readonly others?: () => readonly NodeClient[]
  /** Called when the server closes. */
  readonly onClose?: () => Promise<void>
  /** Who is paid unless the visitor names another account. */
  readonly account: MinerAccount
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

export class Gateway {
  readonly clock: Clock
  readonly #options: GatewayOptions
  readonly #stopped = new AbortController()
  readonly #issuers = new Issuers()
  #calls = 0
  #streams = 0

  constructor(options: GatewayOptions) {
    this.#options = options
    this.clock = options.clock
    // As many calls and streams listen to it as there are.
    setMaxListeners(0, this.#stopped.signal)
  }

  /** Aborts when the server closes. */
  get stopped(): AbortSignal {
    return this.#stopped.signal
  }

  async close(): Promise<void> {
    this.#stopped.abort()
    await this.#options.onClose?.()
  }

  about(): Promise<AboutNetwork> {
    return this.#call(async ({ info }) => {
      const { account, predicate, publicKeys } = this.#options.account
      return {
        network: info.nodeVersion,
        chains: info.nodeChains.length,
        account: { account, predicate, 'public-keys': [...publicKeys] },
      }
    })
  }

  /** Work for the account in the body: what the node answers, 4 + 32 + 286 bytes. `chain` is a suggestion. */
  work(body: Uint8Array, chain: string | undefined): Promise<Uint8Array> {
    const account = accountIn(body)
    return this.#call(async (client) => {
      const wanted = chain === undefined ? undefined : chainIn(client, chain)
      const { work } = await this.#within(MAX_WORK_MS, (signal) => client.work(account, wanted, { signal }))
      this.#issuers.gave({ client, account }, work.fields)
      return encodeWorkResponse(work)
    })
  }

  /**
   * Hands in solved work at the node that gave it and follows it to its end. A solution that solves nothing never reaches
   * a node.
   */
  solved(bytes: Uint8Array): Promise<SolutionEnd> {
    const fields = solvedFields(bytes)
    const { chainId: chain, height } = fields
    const issue = this.#issuers.of(fields)
    const account = issue?.account ?? this.#options.account
    return this.#call(async (client) => {
      const hash = blockHash(bytes)
      const block = { bytes, chain, height: Number(height), hash }
      const told = { chain, height: block.height, hash: encodeBase64Url(hash) }
      const end = await this.#within(MAX_SOLVED_MS, (signal) => {
        return this.#live(this.#miningNode(client, account), block, signal)
      })
      if (end.step === 'lost' && this.stopped.aborted) throw new Refused(503, 'the miner is stopping')
      if (end.step === 'unconfirmed') {
        return { ...told, verdict: 'lost', reason: 'unconfirmed', message: end.message }
      }
      const why = 'reason' in end ? { reason: end.reason, message: end.message } : {}
      return { ...told, verdict: verdictOf(end.step), ...why }
    }, issue?.client)
  }

  /** The receipt that ends its life, or what is known first of the block that the node took. */
  async #live(
    node: MiningNode,
    block: SolvedBlock,
    ended: AbortSignal,
  ): Promise<Exclude<Receipt, { step: 'acknowledged' }> | FollowUp> {
    const options = { node, calls: new NodeCalls(this.clock), random: this.#options.random }
    const receipt = await handIn(block, options, ended)
    if (receipt.step !== 'acknowledged') return receipt
    for await (const news of followUp(block, { ...options, confirmations: 1 }, ended)) return news
    throw new Error('nothing became of a block')
  }

  /** The signal aborts when the server closes, and after that time. */
  #within<T>(limitMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withFirstOf([this.stopped, AbortSignal.timeout(limitMs)], run)
  }

  /** The node as a miner for this account sees it, with the others beside it while it does not answer. */
  #miningNode(client: NodeClient, account: MinerAccount): MiningNode {
    const { clock, others = () => [] } = this.#options
    const nodeOf = (each: NodeClient) => miningNodeOf({ client: each, account, clock, stallMs: 0 })
    return helpedNode(nodeOf(client), {
      clock,
      isUp: () => others().length === 0 || others().includes(client),
      others: () =>
        others()
          .filter((other) => other !== client)
          .map(nodeOf),
      assure: async () => undefined,
      onBlocks: async () => undefined,
      onBroken: () => undefined,
    })
  }

  /** Whether this node gives work now. */
  async isPresent(client: NodeClient): Promise<boolean> {
    try {
      return (await this.#options.client()) === client
    } catch (error) {
      // No node does: this one may again.
      if (error instanceof NewcutError) return true
      throw error
    }
  }

  /** The node and a chain that it has, for a stream of updates; `release` gives its place back. */
  async openStream(chain: string | undefined): Promise<{ client: NodeClient; chain: number; release: () => void }> {
    if (this.#streams >= MAX_STREAMS) {
      throw new Refused(503, `${MAX_STREAMS} update streams are open, and there are no more; try again later`)
    }
    this.#streams++
    const release = () => {
      this.#streams--
    }
    try {
      const client = await this.#options.client()
      return { client, chain: chainIn(client, chain), release }
    } catch (error) {
      release()
      throw nodeFailure(error)
    }
  }

  /** Runs with this node; default: the one that gives work now. */
  async #call<T>(run: (client: NodeClient) => Promise<T>, wanted?: NodeClient): Promise<T> {
    if (this.#calls >= MAX_CALLS) throw new Refused(503, `${MAX_CALLS} requests are under way; try again later`)
    this.#calls++
    try {
      return await run(wanted ?? (await this.#options.client()))
    } catch (error) {
      throw nodeFailure(error)
    } finally {
      this.#calls--
    }
  }
}
