/** Blocks that a chain loses and gains when its head moves. */
import { equalBytes } from '#ground/base/bytes.ts'
import type { Header } from '#ground/chain/header.ts'
import type { Block, BlockStore } from './block-store.ts'

/** Blocks of two branches down to their common ancestor, newest first. */
interface BranchDifference {
  /** On the branch of the old head only. */
  readonly left: readonly Block[]
  /** On the branch of the new head only. */
  readonly joined: readonly Block[]
}

export function differenceOf(store: BlockStore, before: Header, head: Header): BranchDifference {
  const [left, joined]: [Block[], Block[]] = [[], []]
  let [old, now] = [store.get(before.hash), store.get(head.hash)]
  while (old !== undefined && now !== undefined && !equalBytes(old.hash, now.hash)) {
    if (old.height >= now.height) {
      left.push(old)
      old = store.parentOf(old)
    } else {
      joined.push(now)
      now = store.parentOf(now)
    }
  }
  return { left, joined }
}
