/** Makes blocks inside the process, on the cut or beside it: forks, orphans, long chains, payloads of any size. */
import { expect } from 'vitest'
import type { StoredPayload } from '../../src/devnet/store/payload.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import type { Cut } from '../../src/ground/chain/cut.ts'
import { encodeHeader, encodeWork, type Header } from '../../src/ground/chain/header.ts'
import { payloadHashes } from '../../src/ground/chain/payload.ts'
import type { Signed } from './command.ts'
import { type Ground, payloadOn } from './ground.ts'

export interface BlockOptions {
  /** The miner's account; different accounts make different blocks. */
  readonly account?: string
  readonly commands?: readonly Signed[]
  /** Any bytes in place of commands, for chains that execute nothing. */
  readonly transactions?: StoredPayload['transactions']
}

/** A block on top of the head of `chain` in `cut`. With proof of work it still needs a nonce. */
export function makeBlock(ground: Ground, cut: Cut, chain: number, options: BlockOptions = {}) {
  const parent = cut.get(chain)
  if (parent === undefined) throw new Error(`the cut has no chain ${chain}`)
  const miner = { account: options.account ?? 'miner', predicate: 'keys-all', publicKeys: [] }
  const made = payloadOn(ground, parent, miner, options.commands)
  const payload = options.transactions === undefined ? made : withTransactions(made, options.transactions)
  const work = ground.chains.newWork(chain, payload.payloadHash, cut)
  if ('blockedBy' in work) throw new Error(`chain ${chain} waits for chain ${work.blockedBy}`)
  const header: Header = { ...work, hash: blockHash(encodeWork(work)) }
  return { header, payload }
}

function withTransactions(payload: StoredPayload, transactions: StoredPayload['transactions']): StoredPayload {
  const parts = { ...payload, transactions }
  return { ...parts, ...payloadHashes(parts) }
}

/** A branch: a separate cut, which starts from the network's current one and grows on its own. */
export class Fork {
  readonly cut: Map<number, Header>
  readonly #ground: Ground
  readonly #account: string

  constructor(ground: Ground, account: string, cut: Cut = ground.chains.cut) {
    this.#ground = ground
    this.#account = account
    this.cut = new Map(cut)
  }

  /** Adds a block to the store and to this cut. */
  grow(chain: number): Header {
    const { header, payload } = makeBlock(this.#ground, this.cut, chain, { account: this.#account })
    expect(this.#ground.chains.insert(header, payload).status).toBe('added')
    this.cut.set(chain, header)
    return header
  }
}

/** Extends the cut of the network itself. */
export function growCut(ground: Ground, chain: number, options: BlockOptions = {}) {
  const block = makeBlock(ground, ground.chains.cut, chain, options)
  expect(ground.chains.add(block.header, block.payload)).toMatchObject({ status: 'added' })
  return block
}

/**
 * Adds headers on top of the head of a chain, all with its payload. They go to the store alone, which checks and executes
 * nothing, so thousands of them take a moment.
 * @returns the last header
 */
export function addHeaders({ chains }: Pick<Ground, 'chains'>, chain: number, count: number): Header {
  const head = chains.cut.get(chain)
  if (head === undefined) throw new Error(`the cut has no chain ${chain}`)
  let header = head
  for (let i = 0; i < count; i++) {
    const { hash: parent, height, ...fields } = header
    const work = { ...fields, parent, height: height + 1n }
    header = { ...work, hash: blockHash(encodeWork(work)) }
    chains.store.insertHeader(encodeHeader(header), header)
  }
  return header
}

export const idOf = ({ hash }: Pick<Header, 'hash'>) => Buffer.from(hash).toString('base64url')
