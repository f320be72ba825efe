/** Context in which the code of a block runs. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { Header } from '#ground/chain/header.ts'
import type { BlockData, PrintSink, SpvSupport } from '#language/contracts/machine/environment.ts'
import { Time } from '#language/contracts/values/value.ts'
import type { BlockRules } from '../rules/network-rules.ts'

/** The block on top of a parent. Code sees the time of the parent: a block gets its own time after its execution. */
export interface BlockContext {
  readonly chain: number
  /** Height of the block, not of its parent. */
  readonly height: bigint
  /** Creation time of the parent, microseconds. */
  readonly parentTime: bigint
  /** base64url */
  readonly parentHash: string
  readonly rules: BlockRules
  /** Whether code may call `print`. Default: it may not. */
  readonly isPrintAllowed?: boolean
  /** Takes what the code of the current command prints. */
  readonly print?: PrintSink
  /** Verifies proofs of other chains. Private commands have none. */
  readonly spv?: SpvSupport
}

export function contextOn(
  chain: number,
  parent: Pick<Header, 'height' | 'creationTime' | 'hash'>,
  rules: BlockRules,
): BlockContext {
  return {
    chain,
    height: parent.height + 1n,
    parentTime: parent.creationTime,
    parentHash: encodeBase64Url(parent.hash),
    rules,
  }
}

/** The part of the context that code can read. */
export function blockDataOf({ chain, height, parentTime, parentHash }: BlockContext): BlockData {
  return {
    chainId: String(chain),
    blockHeight: height,
    blockTime: new Time(parentTime),
    prevBlockHash: parentHash,
  }
}
