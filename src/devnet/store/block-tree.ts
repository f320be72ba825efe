/** Blocks of a network as pages need them: by hash, by record number, and by chain in (height, hash) order. */
import type { BlockStore } from './block-store.ts'

export type BlockTree = Pick<
  BlockStore,
  'byId' | 'recordOf' | 'ancestorAt' | 'heightAt' | 'hashAt' | 'blockAt' | 'positionOf' | 'positionAtHeight' | 'slice'
>
