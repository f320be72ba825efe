/** The node of a payer, between its HTTP client and the true chains: it may be away, lag, forget, and give wrong results. */

import { NodeRefusal, NotFound } from '../../../src/client/node/errors.ts'
import { UnreachableError } from '../../../src/client/node/unreachable.ts'
import type { SignedCommand } from '../../../src/client/wallet/command.ts'
import { encodeBase64Url } from '../../../src/ground/base/bytes.ts'
import { coinsText } from '../../../src/ground/base/coins.ts'
import { development } from '../../../src/ground/chain/network-data.ts'
import { findPosition } from '../../../src/mining/source/node/mining-node.ts'
import type { PayoutSetup } from '../../../src/pool/payouts/payout-run.ts'
import type { VirtualTime } from '../../sim/virtual-time.ts'
import { type Block, type Chain, coinbase64, execute, gasOf, output64, transaction64, type Verdict } from './network.ts'

/** Probabilities from 0 to 1, unless stated otherwise. */
export interface NodeFaults {
  /** A request has no answer; half of them have their effect all the same. */
  readonly lost: number
  /** A proxy answers instead. */
  readonly proxy: number
  /** A result is missing. */
  readonly forgets: number
  /** A result is the opposite of the true one, or is made up. */
  readonly lies: number
  /** The node takes a transaction, and loses it. */
  readonly drops: number
  /** Number of blocks by which its chains may lag. */
  readonly lag: number
  /** Answers take up to this time. */
  readonly slowMs: number
}

export const NO_FAULTS: NodeFaults = { lost: 0, proxy: 0, forgets: 0, lies: 0, drops: 0, lag: 0, slowMs: 0 }

/** A wrong result: the opposite of the true one, or one of a transaction that no block has. */
export type Lie = 'failure' | 'success'

interface Options {
  readonly chains: readonly Chain[]
  readonly time: VirtualTime
  readonly faults: NodeFaults
  readonly random: () => number
  /** Called before each request. Throws in a process that is killed. */
  readonly step: () => void
  /** Called when a transaction has arrived. */
  readonly onSent: (command: SignedCommand) => void
  readonly poolKey: string
  /** Clock of the node; default: the true time. */
  readonly nowMs?: () => number
  /** How it changes results, beside its faults. */
  readonly lie?: () => Lie | 'forgets' | null
  /** Whether the node is unreachable, whatever its faults. Default: it is not. */
  readonly isAway?: () => boolean
}

type Call = { readonly signal?: AbortSignal }
const URL = 'http://node.example:1848'

export function nodeOf(options: Options): Pick<PayoutSetup, 'client' | 'network' | 'placeOf'> {
  const client = clientOf(options) as unknown as PayoutSetup['client']
  return { client, network: development, placeOf: (block, signal) => findPosition(client as never, block, { signal }) }
}

function clientOf({ chains, time, faults, random, step, onSent, poolKey, ...more }: Options) {
  const { nowMs = () => time.trueWallMs(), lie = () => null, isAway = () => false } = more
  const lags = new Map(chains.map(({ id }) => [id, Math.floor(random() * (faults.lag + 1))]))
  /** The head of a chain as the node knows it. */
  const headOf = (chain: number): Block => {
    let { head } = chains[chain]
    for (let i = lags.get(chain) ?? 0; i > 0 && head.parent !== null; i--) head = head.parent
    return head
  }
  const refusal = (status: number, excerpt: string, isFromNode = true) =>
    new NodeRefusal({ url: URL, status, excerpt, isFromNode })
  /** Answers a request, or not. */
  const answered = async <T>(run: () => T, { signal }: Call = {}): Promise<T> => {
    step()
    if (faults.slowMs > 0) {
      const delayMs = random() * faults.slowMs
      await new Promise<void>((resolve) => void time.clock.after(delayMs, resolve))
      step()
    }
    signal?.throwIfAborted()
    if (isAway()) throw new UnreachableError('refused', 'nobody answers')
    const dice = random()
    if (dice < faults.lost) {
      if (dice < faults.lost / 2) {
        // It arrives late.
        if (dice < faults.lost / 4) time.after(random() * 30_000, () => void tried(run))
        else tried(run)
      }
      throw new UnreachableError('timeout', 'no answer')
    }
    if (random() < faults.proxy) throw refusal(502, 'bad gateway', false)
    const value = run()
    step()
    return value
  }
  const known = (chain: number, hash: string | Uint8Array): Block => {
    const id = textOf(hash)
    const block = chains[chain].blocks.get(id)
    if (block !== undefined && block.height <= headOf(chain).height) return block
    throw new NotFound({ url: URL, status: 404, excerpt: 'key not found', isFromNode: true }, id, 'key not found')
  }
  const resultOf = (chain: number, key: string) => {
    const inclusion = chains[chain].including(key, headOf(chain))
    const lieNow = lie()
    if (lieNow === 'forgets') return null
    if (lieNow !== null) {
      const height = inclusion?.block.height ?? 1
      return resultAt(
        key,
        lieNow === 'success' ? { status: 'success' } : { status: 'failure', message: 'a lie' },
        height,
      )
    }
    if (random() < faults.lies) {
      const height = inclusion?.block.height ?? Math.floor(random() * (headOf(chain).height + 1))
      const isTrue = inclusion?.tx.verdict.status === 'success'
      return resultAt(key, isTrue ? { status: 'failure', message: 'a lie' } : { status: 'success' }, height)
    }
    if (inclusion === null || random() < faults.forgets) return null
    return resultAt(key, inclusion.tx.verdict, inclusion.block.height)
  }
  const payloadOf = (hash: string | Uint8Array, chain: number) => {
    const block = chains[chain].byPayload.get(textOf(hash))
    if (block === undefined) throw refusal(404, 'no such payload')
    return block
  }
  const client = {
    network: { network: development, isKnown: true },
    info: { nodeVersion: 'development', nodeChains: chains.map(({ id }) => String(id)) },
    http: {
      baseUrl: URL,
      request: (call: Call) =>
        answered(() => {
          const stamp = String(Math.floor(nowMs() / 1000))
          const headers = { 'x-server-timestamp': stamp, 'content-type': 'text/plain' }
          return { url: URL, status: 200, headers, body: new Uint8Array() }
        }, call),
    },
    cut: (call?: Call) =>
      answered(() => {
        const heads = chains.map(({ id }) => [id, { height: headOf(id).height, hash: headOf(id).id }])
        return { hashes: Object.fromEntries(heads) }
      }, call),
    hashBranch: (
      chain: number,
      { upper }: { upper: readonly string[] },
      { minheight, maxheight, ...call }: Call & { minheight: number; maxheight: number },
    ) => ({
      page: () =>
        answered(() => {
          const block = chains[chain].at(Math.min(maxheight, minheight), known(chain, upper[0]))
          return { items: block === undefined ? [] : [block.id] }
        }, call),
    }),
    header: (chain: number, id: string | Uint8Array, call?: Call) => answered(() => headerOf(known(chain, id)), call),
    async *headerBranch(chain: number, { upper }: { upper: readonly string[] }, call?: Call) {
      const blocks = await answered(() => [...chains[chain].branch(known(chain, upper[0]))], call)
      for (const block of blocks) yield block.header
    },
    payloads: (chain: number, { hashes }: { hashes: readonly string[] }, call?: Call) =>
      answered(() => {
        const blocks = hashes.map((hash) => payloadOf(hash, chain))
        return blocks.map(({ payloadHash, included }) => ({ payloadHash, transactions: included.map(transaction64) }))
      }, call),
    payloadOutputs: (chain: number, hash: string | Uint8Array, call?: Call) =>
      answered(() => {
        const block = payloadOf(hash, chain)
        const transactions = block.included.map((each) => [transaction64(each), output64(each)])
        return { payloadHash: block.payloadHash, transactions, coinbase: coinbase64(block) }
      }, call),
    poll: (chain: number, keys: readonly string[], call?: Call) =>
      answered(() => {
        const results = keys.flatMap((key) => {
          const result = resultOf(chain, key)
          return result === null ? [] : [[key, result] as const]
        })
        return new Map(results)
      }, call),
    send: (chain: number, [command]: readonly SignedCommand[], call?: Call) =>
      answered(() => {
        const { mempool } = chains[chain]
        const head = headOf(chain)
        if (chains[chain].including(command.hash, head) !== null) {
          throw refusal(400, `Validation failed for hash ${command.hash}: Transaction already exists on chain`)
        }
        if (!chains[chain].takes(head, command)) throw refusal(400, 'Transaction creation time too far, or expired')
        if (random() >= faults.drops) mempool.set(command.hash, command)
        onSent(command)
        return [command.hash]
      }, call),
    local: (chain: number, command: SignedCommand, { preflight, ...call }: Call & { preflight?: boolean } = {}) =>
      answered(() => {
        const { balances } = headOf(chain)
        if (preflight === true) {
          const { verdict } = execute(balances, command.cmd)
          return { ...resultAt(command.hash, verdict, 0), gas: gasOf(command.cmd), metaData: null }
        }
        const account = /coin\.details \\"([^"\\]+)\\"/.exec(command.cmd)?.[1] ?? ''
        const balance = balances.get(account)
        const missing = { status: 'failure', message: `No value found in table coin_coin-table for key: ${account}` }
        if (balance === undefined) return { ...resultAt(command.hash, missing as Verdict, 0), gas: 1, metaData: null }
        const guard = { pred: 'keys-all', keys: [account === `k:${poolKey}` ? poolKey : account.slice(2)] }
        const data = { account, guard, balance: { decimal: coinsText(balance) } }
        return { reqKey: command.hash, result: { status: 'success', data }, gas: 1, metaData: null }
      }, call),
  }
  return client
}

/** Runs a request, and drops its answer. */
function tried(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error
  }
}

const textOf = (hash: string | Uint8Array) => (typeof hash === 'string' ? hash : encodeBase64Url(hash))
const headerOf = ({ header }: Block) => header

function resultAt(key: string, verdict: Verdict, height: number) {
  const result =
    verdict.status === 'success'
      ? { status: 'success', data: 'Write succeeded' }
      : { status: 'failure', error: { callStack: [], type: 'TxFailure', message: verdict.message, info: '' } }
  return { reqKey: key, result, metaData: { blockHeight: height } }
}
