/**
 * The true chains of a simulated network. Blocks have real headers, transfers run when a block includes them, and chains
 * are reorganised at any depth.
 */
import { createHash } from 'node:crypto'
import type { SignedCommand } from '../../../src/client/wallet/command.ts'
import { encodeBase64Url } from '../../../src/ground/base/bytes.ts'
import { coinsText, unitsOf } from '../../../src/ground/base/coins.ts'
import { blockHash } from '../../../src/ground/chain/block-hash.ts'
import { encodeWork, type Header } from '../../../src/ground/chain/header.ts'

/** Gas of a transaction, and of each of its transfers. */
const GAS = 250
const GAS_OF_TRANSFER = 280
/** Nodes take a transaction that was created up to this long after the parent of its block. */
const EARLY_S = 95

/** Balances by account, in 10^-12 coins. */
export type Balances = ReadonlyMap<string, bigint>

export type Verdict = { readonly status: 'success' } | { readonly status: 'failure'; readonly message: string }

export interface Included {
  readonly command: SignedCommand
  readonly verdict: Verdict
}

export interface Block {
  readonly header: Header
  readonly id: string
  readonly height: number
  readonly parent: Block | null
  readonly included: readonly Included[]
  /** Base64url. */
  readonly payloadHash: string
  readonly coinbase: { readonly account: string; readonly amount: bigint } | null
  /** After the block. The operator may move coins by other ways. */
  balances: Balances
}

interface Meta {
  readonly creationTime: number
  readonly ttl: number
  readonly gasLimit: number
  readonly gasPrice: number
  readonly sender: string
}

interface Parsed {
  readonly meta: Meta
  readonly transfers: readonly { readonly from: string; readonly to: string; readonly amount: bigint; isNew: boolean }[]
}

const TRANSFER = /\(coin\.transfer(-create)? "([^"]+)" "([^"]+)" (?:\(read-keyset "[^"]+"\) )?([\d.]+)\)/g
const parsed = new Map<string, Parsed>()

/** The terms and transfers of a transaction. */
export function parse(cmd: string): Parsed {
  const known = parsed.get(cmd)
  if (known !== undefined) return known
  const { meta, payload } = JSON.parse(cmd) as { meta: Meta; payload: { exec: { code: string } } }
  const transfers = [...payload.exec.code.matchAll(TRANSFER)].map(([, isNew, from, to, amount]) => {
    return { from, to, amount: unitsOf(amount) ?? 0n, isNew: isNew !== undefined }
  })
  if (parsed.size > 1000) parsed.clear()
  parsed.set(cmd, { meta, transfers })
  return { meta, transfers }
}

/** Runs a transaction. Gas is paid in any case. */
export function execute(before: Balances, cmd: string): { readonly verdict: Verdict; readonly balances: Balances } {
  const { meta, transfers } = parse(cmd)
  const gas = Math.min(meta.gasLimit, GAS + transfers.length * GAS_OF_TRANSFER)
  const price = unitsOf(meta.gasPrice.toFixed(12)) ?? 0n
  const paid = new Map(before)
  paid.set(meta.sender, (paid.get(meta.sender) ?? 0n) - BigInt(gas) * price)
  const after = new Map(paid)
  const failed = (message: string) => ({ verdict: { status: 'failure', message } as const, balances: paid })
  if (meta.gasLimit < GAS + transfers.length * GAS_OF_TRANSFER) {
    return failed(`Gas limit "${meta.gasLimit}" exceeded: ${gas}`)
  }
  for (const { from, to, amount, isNew } of transfers) {
    const has = after.get(from) ?? 0n
    if (has < amount) return failed('Insufficient funds')
    if (!isNew && !after.has(to)) return failed(`No value found in table coin_coin-table for key: ${to}`)
    after.set(from, has - amount)
    after.set(to, (after.get(to) ?? 0n) + amount)
  }
  return { verdict: { status: 'success' }, balances: after }
}

export const gasOf = (cmd: string): number => GAS + parse(cmd).transfers.length * GAS_OF_TRANSFER

const sha256 = (text: string) => createHash('sha256').update(text).digest()
const sha512t256 = (bytes: Uint8Array): Uint8Array => createHash('sha512-256').update(bytes).digest()
const seconds = ({ header }: Block) => Number(header.creationTime / 1_000_000n)

export class Chain {
  readonly id: number
  head: Block
  readonly blocks = new Map<string, Block>()
  /** Blocks by payload hash. */
  readonly byPayload = new Map<string, Block>()
  /** Transactions that wait, by request key. */
  readonly mempool = new Map<string, SignedCommand>()
  #made = 0

  constructor(id: number, startMs: number, balances: Balances) {
    this.id = id
    this.head = this.#add(null, { timeMs: startMs, coinbase: null, included: [], balances })
  }

  /** Blocks from the head down. */
  *branch(head = this.head): Generator<Block> {
    for (let block: Block | null = head; block !== null; block = block.parent) yield block
  }

  at(height: number, head = this.head): Block | undefined {
    for (const block of this.branch(head)) if (block.height === height) return block
    return undefined
  }

  /** The block that has a transaction. */
  including(key: string, head = this.head): { readonly block: Block; readonly tx: Included } | null {
    for (const block of this.branch(head)) {
      const tx = block.included.find(({ command }) => command.hash === key)
      if (tx !== undefined) return { block, tx }
    }
    return null
  }

  /** Whether a block on this parent may include a transaction. */
  takes(parent: Block, { cmd }: SignedCommand): boolean {
    const { creationTime, ttl } = parse(cmd).meta
    return creationTime <= seconds(parent) + EARLY_S && seconds(parent) < creationTime + ttl
  }

  /** Makes a block with the waiting transactions that `isTaken` accepts. */
  mine(
    parent: Block,
    timeMs: number,
    coinbase: Block['coinbase'],
    isTaken: (command: SignedCommand) => boolean = () => true,
  ): Block {
    let balances: Balances = new Map(parent.balances)
    if (coinbase !== null) {
      balances = new Map([...balances, [coinbase.account, (balances.get(coinbase.account) ?? 0n) + coinbase.amount]])
    }
    const included: Included[] = []
    for (const command of this.mempool.values()) {
      if (!isTaken(command) || !this.takes(parent, command) || this.including(command.hash, parent) !== null) continue
      const result = execute(balances, command.cmd)
      balances = result.balances
      included.push({ command, verdict: result.verdict })
    }
    return this.#add(parent, { timeMs, coinbase, included, balances })
  }

  /** Sets balances after a block, as transactions that are not of this pool would. */
  adjust(block: Block, balances: Balances): void {
    block.balances = balances
  }

  /** Moves to another head: transactions of abandoned blocks wait again. */
  follow(head: Block): void {
    const ids = new Set([...this.branch(head)].map(({ id }) => id))
    for (const block of this.branch()) {
      if (ids.has(block.id)) break
      for (const { command } of block.included) this.mempool.set(command.hash, command)
    }
    this.head = head
    for (const { included } of this.branch(head)) for (const { command } of included) this.mempool.delete(command.hash)
  }

  #add(
    parent: Block | null,
    {
      timeMs,
      coinbase,
      included,
      balances,
    }: Pick<Block, 'coinbase' | 'included' | 'balances'> & { readonly timeMs: number },
  ): Block {
    const payloadHash = sha256(`${this.id} ${this.#made++}`)
    const height = parent === null ? 0 : parent.height + 1
    const creationTime = BigInt(Math.floor(timeMs)) * 1000n
    const leastTime = parent === null ? creationTime : parent.header.creationTime + 1n
    const work = {
      featureFlags: 0n,
      adjacents: new Map(),
      chainId: this.id,
      target: 1n,
      weight: BigInt(height),
      version: 1,
      epochStart: 0n,
      nonce: 0n,
      height: BigInt(height),
      payloadHash: new Uint8Array(payloadHash),
      creationTime: creationTime > leastTime ? creationTime : leastTime,
      parent: parent?.header.hash ?? new Uint8Array(32),
    }
    const header = { ...work, hash: blockHash(encodeWork(work), sha512t256) }
    const id = encodeBase64Url(header.hash)
    const hash64 = encodeBase64Url(payloadHash)
    const block = { header, id, height, parent, included, payloadHash: hash64, coinbase, balances }
    this.blocks.set(id, block)
    this.byPayload.set(hash64, block)
    return block
  }
}

const encoder = new TextEncoder()
const text64 = (text: string) => encodeBase64Url(encoder.encode(text))

/** A transaction in a payload. */
export const transaction64 = ({ command }: Included) => text64(JSON.stringify(command))

export function output64({ command, verdict }: Included): string {
  const result =
    verdict.status === 'success'
      ? { status: 'success', data: 'Write succeeded' }
      : { status: 'failure', error: { callStack: [], type: 'TxFailure', message: verdict.message, info: '' } }
  return text64(JSON.stringify({ reqKey: command.hash, result }))
}

export function coinbase64({ coinbase }: Block): string {
  if (coinbase === null) return text64('{"events":[]}')
  const params = `["","${coinbase.account}",${coinsText(coinbase.amount)}]`
  return text64(`{"events":[{"name":"TRANSFER","params":${params}}]}`)
}
