/** What a block is built on, as its code can ask for it. */
import type { BlockData } from '../../contracts/machine/environment.ts'
import { Time } from '../../contracts/values/value.ts'
import { encodeBase64Url } from '../../core/bytes.ts'
import type { Header } from '../../core/header.ts'
import type { ReleaseRules } from '../rules/releases.ts'

/** The block on top of a parent. Code sees the time of the parent: a block gets its own one after it is executed. */
export interface BlockContext {
  readonly chain: number
  /** Of the block, not of its parent. */
  readonly height: bigint
  /** Creation time of the parent, microseconds. */
  readonly parentTime: bigint
  /** base64url */
  readonly parentHash: string
  /** Of the block: they follow from its parent. */
  readonly release: Pick<ReleaseRules, 'isLanguage541' | 'gasModel'>
}

export function contextOn(
  chain: number,
  parent: Pick<Header, 'height' | 'creationTime' | 'hash'>,
  release: BlockContext['release'],
): BlockContext {
  return {
    chain,
    height: parent.height + 1n,
    parentTime: parent.creationTime,
    parentHash: encodeBase64Url(parent.hash),
    release,
  }
}

/** The part of it that code can ask for. */
export function blockDataOf({ chain, height, parentTime, parentHash }: BlockContext): BlockData {
  return {
    chainId: String(chain),
    blockHeight: height,
    blockTime: new Time(parentTime),
    prevBlockHash: parentHash,
  }
}
