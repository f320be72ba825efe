/**
 * Looks for transactions in the blocks of a chain themselves. A node may have lost its results, or a balancer may ask
 * one that lags behind, so a missing result proves nothing. Here hashes prove everything: from the hash of a block down
 * to its ancestors, from headers to payloads, and from payloads to transactions and outputs.
 */
import { createHash } from 'node:crypto'
import type { NodeClient } from '#client/node/client.ts'
import type { CallOptions } from '#client/node/requests.ts'
import { decodeBase64Url, encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { encodeWork, type Header } from '#ground/chain/header.ts'
import type { PayloadData } from '#ground/schema/bodies.ts'
import { payoutErrors } from './errors.ts'
import type { Payout } from './ledger.ts'

/** The calls that the search needs. */
export type BlocksNode = Pick<NodeClient, 'headerBranch' | 'payloads' | 'payloadOutputs'>

/** The result of a transaction by the output in its block. */
export interface ResultInBlock {
  readonly height: number
  readonly isSuccess: boolean
  /** Text of the failure, or empty. */
  readonly message: string
}

/** The blocks to search: those on the branch of a block, itself included. */
interface SearchedBranch {
  readonly chain: number
  /** Hash of the newest block. */
  readonly hash: string
}

type SearchedPayout = Pick<Payout, 'requestKey' | 'expires' | 'command'>

/** Block whose payload may have a transaction. */
interface CandidateBlock {
  readonly payloadHash: string
  readonly height: number
}

/**
 * Seconds before the creation time of a transaction from which blocks are read. A node includes none whose creation
 * time is more than 95 s after that of the parent block; the rest is for clocks that differ.
 */
const EARLY_SECONDS = 300
const SECOND = 1_000_000n
const PAYLOADS_AT_ONCE = 100

const sha512t256 = (bytes: Uint8Array): Uint8Array => createHash('sha512-256').update(bytes).digest()

/**
 * Looks for payouts in the blocks that may have included them.
 * @returns their results by request key; a payout that is missing is in no block of this branch
 * @throws errors of NodeClient, and NewcutError NODE_MISBEHAVED if the node does not give all blocks
 */
export async function findInBlocks(
  node: BlocksNode,
  branch: SearchedBranch,
  payouts: readonly SearchedPayout[],
  call: CallOptions,
): Promise<Map<string, ResultInBlock>> {
  const { chain } = branch
  const from = Math.min(...payouts.map(createdOf)) - EARLY_SECONDS
  const until = Math.max(...payouts.map(({ expires }) => expires))
  const candidates = await candidatesOf(node, branch, { from: BigInt(from), until: BigInt(until) }, call)
  const keys = new Set(payouts.map(({ requestKey }) => requestKey))
  const found = new Map<string, ResultInBlock>()
  for (let i = 0; i < candidates.length; i += PAYLOADS_AT_ONCE) {
    const batch = candidates.slice(i, i + PAYLOADS_AT_ONCE)
    const byHash = new Map(batch.map((each) => [each.payloadHash, each]))
    for (const { payloadHash, transactions } of await payloadsOf(node, chain, byHash, call)) {
      const block = byHash.get(payloadHash)
      for (const [index, transaction] of transactions.entries()) {
        const key = requestKeyIn(transaction)
        if (block === undefined || key === null || !keys.has(key)) continue
        found.set(key, await resultIn(node, { chain, block, index }, call))
      }
    }
  }
  return found
}

/** All of these payloads, with hashes that fit. */
async function payloadsOf(
  node: BlocksNode,
  chain: number,
  blocks: ReadonlyMap<string, CandidateBlock>,
  call: CallOptions,
): Promise<PayloadData[]> {
  const [hashes, heights] = [[...blocks.keys()], [...blocks.values()].map(({ height }) => height)]
  const payloads = await node.payloads(chain, { hashes, heights }, { ...call, verify: true })
  const given = new Set(payloads.map(({ payloadHash }) => payloadHash))
  const missing = hashes.find((hash) => !given.has(hash))
  if (missing === undefined) return payloads
  throw branchError(chain, `the node lacks the payload ${missing} of height ${blocks.get(missing)?.height}`)
}

function createdOf({ command }: SearchedPayout): number {
  const { meta } = parsePlainJson(command.cmd) as { readonly meta: { readonly creationTime: number } }
  return meta.creationTime
}

/** The blocks that may have a transaction of this time, the newest first. `from` and `until` are seconds. */
async function candidatesOf(
  node: BlocksNode,
  { chain, hash }: SearchedBranch,
  { from, until }: { readonly from: bigint; readonly until: bigint },
  call: CallOptions,
): Promise<CandidateBlock[]> {
  const candidates: CandidateBlock[] = []
  let child: Header | null = null
  for await (const header of node.headerBranch(chain, { upper: [hash] }, call)) {
    const expected = child === null ? decodeBase64Url(hash) : child.parent
    if (!equalBytes(header.hash, expected) || !equalBytes(blockHash(encodeWork(header), sha512t256), expected)) {
      throw branchError(chain, `the header at height ${header.height} is not that of ${encodeBase64Url(expected)}`)
    }
    // No block includes a transaction that had expired when its parent was made.
    if (child !== null && header.creationTime < until * SECOND) {
      candidates.push({ payloadHash: encodeBase64Url(child.payloadHash), height: Number(child.height) })
    }
    if (header.creationTime < from * SECOND) return candidates
    child = header
  }
  // The chain begins with this block.
  if (child?.height === 0n) return candidates
  throw branchError(chain, `the node gives no headers below ${child === null ? hash : `height ${child.height}`}`)
}

/** @returns the request key in the JSON of a transaction, or null */
function requestKeyIn(transaction: string): string | null {
  const { hash } = (jsonOf(transaction) ?? {}) as { readonly hash?: unknown }
  return typeof hash === 'string' ? hash : null
}

/** @returns the JSON of a part of a payload, or null if it is not JSON */
function jsonOf(part: string): unknown {
  try {
    return parsePlainJson(new TextDecoder().decode(decodeBase64Url(part)))
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

async function resultIn(
  node: BlocksNode,
  { chain, block, index }: { readonly chain: number; readonly block: CandidateBlock; readonly index: number },
  call: CallOptions,
): Promise<ResultInBlock> {
  const { payloadHash, height } = block
  const { transactions } = await node.payloadOutputs(chain, payloadHash, { ...call, height, verify: true })
  const { result } = (jsonOf(transactions[index][1]) ?? {}) as {
    readonly result?: { readonly status?: unknown; readonly error?: { readonly message?: unknown } }
  }
  if (result?.status !== 'success' && result?.status !== 'failure') {
    throw branchError(chain, `an output at height ${height} has no status`)
  }
  return { height, isSuccess: result.status === 'success', message: String(result.error?.message ?? '') }
}

function branchError(chain: number, message: string): NewcutError {
  return operatingError(payoutErrors.brokenBranch, { chain, why: message })
}
