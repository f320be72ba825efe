/**
 * Loads chains from the block database. Checks the checksum, the length and the parent of every header without decoding
 * it. check.ts checks the rules.
 */

import { decodeHash, encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import type { Cut } from '#ground/chain/cut.ts'
import { genesisHeader } from '#ground/chain/genesis.ts'
import { type Header, type HeaderLayout, headerLayout } from '#ground/chain/header.ts'
import type { Network } from '#ground/chain/network.ts'
import { genesisOf, genesisWith } from '../ledger/genesis.ts'
import { expectBraid } from '../rules/braid.ts'
import type { ChainState } from '../rules/journal.ts'
import { graphIn, type NetworkSettings, networkOf } from '../rules/settings.ts'
import { BlockStore } from '../store/block-store.ts'
import type { PayloadStore } from '../store/payload-store.ts'
import { type Database, unseal } from './database.ts'
import { damagedError, dataErrors } from './errors.ts'
import { BLOCK_KEYS, blockKey, readRules, readTip, type Tip } from './records.ts'

/** Headers in one read. Measured: fewer are slower, more are not faster. */
const BLOCKS_PER_READ = 2000
/** A read ends before BLOCKS_PER_READ once it has more bytes than this. */
const BYTES_PER_READ = 1024 * 1024

export interface LoadedState extends ChainState {
  /** The newest one of all blocks, in microseconds. */
  readonly newestCreationTime: bigint
}

/** How to load chains. */
export interface LoadOptions {
  readonly onProgress?: OnProgress | undefined
  /** Chain -> hash (base64url) of its first block, for a network that was forked. */
  readonly roots?: ReadonlyMap<number, string> | null
}

/** @throws NewcutError DATA_UNUSABLE if records are damaged, missing or inconsistent */
export async function loadChains(
  database: Database,
  settings: NetworkSettings,
  payloads: PayloadStore,
  { onProgress, roots = null }: LoadOptions = {},
): Promise<LoadedState> {
  const tip = readTip(database)
  const ruleChanges = readRules(database)
  if (ruleChanges.length !== tip.ruleChanges) {
    throw damagedError(database.location, `${ruleChanges.length} rule changes instead of ${tip.ruleChanges}`)
  }
  const reader = new BlockReader(database.location, settings, payloads, roots)
  const values = database.values({ ...BLOCK_KEYS, highWaterMarkBytes: BYTES_PER_READ })
  try {
    for (;;) {
      const piece = await values.nextv(BLOCKS_PER_READ)
      if (piece.length === 0) break
      for (const value of piece) reader.read(value)
      onProgress?.({ what: 'loading blocks', done: reader.store.size, total: tip.blocks })
    }
  } catch (error) {
    // Errors of the reader name the record; those of LevelDB only say that it cannot continue.
    throw (error as { code?: string }).code === 'DATA_UNUSABLE'
      ? error
      : damagedError(database.location, 'its blocks cannot be read', error)
  } finally {
    await values.close()
  }
  const { store, newestCreationTime } = reader
  if (store.size !== tip.blocks) throw damagedError(database.location, `${store.size} blocks instead of ${tip.blocks}`)
  return { store, heads: headsOf(database.location, store, tip), ruleChanges, newestCreationTime }
}

type GenesisFields = Pick<Header, 'parent' | 'chainId' | 'hash'>

class BlockReader {
  readonly store: BlockStore
  readonly #location: string
  readonly #at: HeaderLayout
  readonly #network: Network
  /** Payload hashes of genesis blocks, in base64url. */
  readonly #genesis = new Set<string>()
  readonly #roots: ReadonlyMap<number, string> | null
  #newestHigh = 0
  #newestLow = 0

  constructor(
    location: string,
    settings: NetworkSettings,
    payloads: PayloadStore,
    roots: ReadonlyMap<number, string> | null,
  ) {
    this.#roots = roots
    const { adjacents, degree } = graphIn(settings)
    const network = networkOf(settings)
    this.#location = location
    this.#at = headerLayout(degree)
    this.#network = network
    this.store = new BlockStore({ chains: adjacents.length, degree, payloads })
  }

  get newestCreationTime(): bigint {
    return (BigInt(this.#newestHigh) << 32n) | BigInt(this.#newestLow)
  }

  /** Adds the next block from its record in the database. */
  read(value: Uint8Array): void {
    const { store } = this
    const at = this.#at
    const number = store.size
    const bytes = unseal(value)
    if (bytes === undefined) throw this.#damageError(number, 'a wrong checksum')
    if (bytes.length !== at.headerBytes) throw this.#damageError(number, `${bytes.length} bytes, not ${at.headerBytes}`)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const header = {
      hash: bytes.subarray(at.hash),
      parent: bytes.subarray(at.parent, at.parent + 32),
      chainId: view.getUint32(at.chainId, true),
      height: view.getBigUint64(at.height, true),
    }
    if (number >= store.chains) this.#expectParent(number, header)
    else if (this.#roots !== null) this.#expectRoot(number, header, this.#roots)
    else this.#expectGenesis(number, bytes.subarray(at.payloadHash, at.payloadHash + 32), header)
    store.insertHeader(bytes, header)
    if (store.size === number) throw this.#damageError(number, 'there twice')
    const [low, high] = [view.getUint32(at.creationTime, true), view.getUint32(at.creationTime + 4, true)]
    if (high < this.#newestHigh || (high === this.#newestHigh && low < this.#newestLow)) return
    this.#newestHigh = high
    this.#newestLow = low
  }

  #expectRoot(number: number, { hash, chainId }: GenesisFields, roots: ReadonlyMap<number, string>): void {
    if (chainId === number && roots.get(number) === encodeBase64Url(hash)) return
    throw this.#damageError(number, 'not the pinned block of its chain')
  }

  #expectGenesis(number: number, payloadHash: Uint8Array, header: GenesisFields): void {
    const expected = genesisHeader(this.#network, number, payloadHash)
    const id = encodeBase64Url(payloadHash)
    if (!this.#genesis.has(id) && !this.#isGenesis(payloadHash, number)) {
      throw this.#genesisError(number, expected, header)
    }
    this.#genesis.add(id)
    if (!equalBytes(expected.hash, header.hash)) throw this.#damageError(number, 'not the genesis block of its chain')
  }

  /** True for the genesis of this newcut or of an older one. */
  #isGenesis(payloadHash: Uint8Array, chain: number): boolean {
    const { chains, payloads } = this.store
    if (equalBytes(payloadHash, genesisOf(chains).payload.payloadHash)) return true
    const payload = payloads.get(payloadHash)
    return payload !== undefined && genesisWith(payload, chains, chain) !== null
  }

  #expectParent(number: number, { parent, chainId, height }: Pick<Header, 'parent' | 'chainId' | 'height'>): void {
    const found = this.store.get(parent, chainId)
    if (found === undefined) throw this.#damageError(number, `its parent on chain ${chainId} is missing`)
    if (BigInt(found.height) + 1n !== height)
      throw this.#damageError(number, `height ${height} on top of ${found.height}`)
  }

  /** Error of a first block that this newcut does not make. */
  #genesisError(number: number, genesis: Header, { parent, chainId }: GenesisFields) {
    const isGenesis = chainId === genesis.chainId && equalBytes(parent, genesis.parent)
    if (!isGenesis) return this.#damageError(number, 'not the genesis block of its chain')
    return operatingError(dataErrors.otherContracts, { location: this.#location })
  }

  #damageError(number: number, message: string) {
    return damagedError(this.#location, `${blockKey(number)}: ${message}`)
  }
}

/**
 * Builds the cut of the tip.
 * @throws NewcutError DATA_UNUSABLE if a head is missing or the heads do not fit together
 */
function headsOf(location: string, store: BlockStore, tip: Tip): Cut {
  const chains = store.chains
  if (tip.heads.length !== chains) throw damagedError(location, `${tip.heads.length} heads of ${chains} chains`)
  const heads = new Map<number, Header>()
  for (const [chain, id] of tip.heads.entries()) {
    const block = store.get(decodeHash(id), chain)
    if (block === undefined) throw damagedError(location, `the head of chain ${chain}, ${id}, is missing`)
    heads.set(chain, block.header)
  }
  try {
    expectBraid(store, heads)
  } catch (error) {
    throw damagedError(location, describeError(error), error)
  }
  return heads
}
