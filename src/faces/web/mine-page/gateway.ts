/**
 * Gateway from the mining page to the node's mining API (PROTOCOL.md A.1 to A.3). Browsers cannot send a GET with a
 * body, so it takes other request forms. Every resource has a limit.
 */
import { setMaxListeners } from 'node:events'
import type { NodeClient } from '#client/node/client.ts'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
import { withFirstOf } from '#ground/base/signals.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { type FollowUp, type Receipt, verdictOf } from '#ground/chain/solution.ts'
import { encodeWorkResponse } from '#ground/chain/work.ts'
import type { MinerBody } from '#ground/schema/bodies.ts'
import type { SolvedBlock } from '#mining/source/node/block-lookup.ts'
import { NodeCalls } from '#mining/source/node/calls.ts'
import { followUp } from '#mining/source/node/follow-up.ts'
import { type MiningNode, miningNodeOf } from '#mining/source/node/mining-node.ts'
import { submitBlock } from '#mining/source/node/submit.ts'
import { addHelpers } from '#mining/source/nodes/helped-node.ts'
import { Issuers } from './issuers.ts'
import { accountIn, chainIn, solvedFields } from './read.ts'
import { nodeFailure, Refused } from './refused.ts'
import type { AboutNetwork, SolutionEnd } from './wire.ts'

const MAX_WORK_MS = 5_000
/** Timeout of submitting a solution and following it. */
const MAX_SOLVED_MS = 60_000
const MAX_CALLS = 64
const MAX_STREAMS = 64

export interface GatewayOptions {
  /**
   * Resolves with the node of the current work.
   * @throws NewcutError while no node is reachable
   */
  readonly client: () => Promise<NodeClient>
  /** All reachable nodes of its network. Default: no others. */
  readonly others?: () => readonly NodeClient[]
  /** Called when the server closes. */
  readonly onClose?: () => Promise<void>
  /** Default account that block rewards go to. */
  readonly account: MinerAccount
  /** Accounts of a network that a visitor may choose by name. Default: none. */
  readonly knownAccounts?: (network: string) => readonly MinerAccount[]
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

const bodyOf = ({ account, predicate, publicKeys }: MinerAccount): MinerBody => {
  return { account, predicate, 'public-keys': [...publicKeys] }
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
    // The number of listeners (calls and streams) is unlimited.
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
      const { account, knownAccounts = () => [] } = this.#options
      const network = info.nodeVersion
      const accounts = knownAccounts(network).map(bodyOf)
      return { network, chains: info.nodeChains.length, account: bodyOf(account), accounts }
    })
  }

  /**
   * Requests work for the account in the body.
   * @param chain suggested chain
   * @returns the node's answer: 4 + 32 + 286 bytes
   */
  work(body: Uint8Array, chain: string | undefined): Promise<Uint8Array> {
    const account = accountIn(body)
    return this.#call(async (client) => {
      const wanted = chain === undefined ? undefined : chainIn(client, chain)
      const { work } = await this.#within(MAX_WORK_MS, (signal) => client.work(account, wanted, { signal }))
      this.#issuers.remember({ client, account }, work.fields)
      return encodeWorkResponse(work)
    })
  }

  /**
   * Submits solved work to the node that gave it, and follows the solution to its end. Unsolved work never reaches a
   * node.
   */
  submit(bytes: Uint8Array): Promise<SolutionEnd> {
    const fields = solvedFields(bytes)
    const { chainId: chain, height } = fields
    const issue = this.#issuers.issueOf(fields)
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

  /** Resolves with the final receipt, or with the first one after the node accepted the block. */
  async #live(
    node: MiningNode,
    block: SolvedBlock,
    ended: AbortSignal,
  ): Promise<Exclude<Receipt, { step: 'acknowledged' }> | FollowUp> {
    const options = { node, calls: new NodeCalls(this.clock), random: this.#options.random }
    const receipt = await submitBlock(block, options, ended)
    if (receipt.step !== 'acknowledged') return receipt
    for await (const news of followUp(block, { ...options, confirmations: 1 }, ended)) return news
    throw new Error('nothing became of a block')
  }

  /** Runs a call with a signal that aborts when the server closes or the time is over. */
  #within<T>(limitMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withFirstOf([this.stopped, AbortSignal.timeout(limitMs)], run)
  }

  /** The node from the view of a miner for this account, with the others as helpers while it is down. */
  #miningNode(client: NodeClient, account: MinerAccount): MiningNode {
    const { clock, others = () => [] } = this.#options
    const nodeOf = (each: NodeClient) => miningNodeOf({ client: each, account, clock, stallMs: 0 })
    return addHelpers(nodeOf(client), {
      clock,
      isUp: () => others().length === 0 || others().includes(client),
      others: () =>
        others()
          .filter((other) => other !== client)
          .map(nodeOf),
      verifyWork: async () => undefined,
      onBlocks: async () => undefined,
      onBroken: () => undefined,
    })
  }

  /** Whether this node gives work now. */
  async givesWork(client: NodeClient): Promise<boolean> {
    try {
      return (await this.#options.client()) === client
    } catch (error) {
      // If no node gives work, this one may be the next.
      if (error instanceof NewcutError) return true
      throw error
    }
  }

  /**
   * Reserves a place for an update stream.
   * @returns the node and a valid chain; `release` frees the place
   * @throws Refused if all places are taken, or the node cannot be used
   */
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

  /** Runs a call with the given node. Default: the node of the current work. */
  async #call<T>(run: (client: NodeClient) => Promise<T>, wanted?: NodeClient): Promise<T> {
    if (this.#calls >= MAX_CALLS) throw new Refused(503, `${MAX_CALLS} requests are in progress; try again later`)
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
