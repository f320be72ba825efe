/** A minimal miner: requests work, tries nonces one by one, submits the solution. Uses nothing of src/. */
import { hash } from 'node:crypto'
import type { Answer, Peer } from './request.ts'

export interface Account {
  readonly account: string
  readonly predicate: string
  readonly 'public-keys': readonly string[]
}

/** An account that can be paid. A `k:` name would have to match this key. */
export const alice: Account = { account: 'alice', predicate: 'keys-all', 'public-keys': ['a1'.repeat(32)] }
export const bob: Account = { ...alice, account: 'bob' }

export interface MinerOptions {
  readonly account?: Account
  readonly prefix?: string
}

const PREFIX = '/chainweb/0.0/development'

/** The answer to a work request; `chain` is only a suggestion. */
export function askForWork(peer: Peer, chain?: number | string, options: MinerOptions = {}): Promise<Answer> {
  const { account = alice, prefix = PREFIX } = options
  return peer.get(`${prefix}/mining/work${chain === undefined ? '' : `?chain=${chain}`}`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  })
}

/** Work bytes: the answer without the chain and target in front. */
export async function getWork(peer: Peer, chain?: number, options: MinerOptions = {}): Promise<Buffer> {
  const answer = await askForWork(peer, chain, options)
  if (answer.status !== 200) throw new Error(`no work: ${answer.status} ${answer.body}`)
  return answer.body.subarray(36)
}

/** Byte offsets of fields. Nearly all are relative to the end, so they hold for every degree. */
export const at = {
  creationTime: () => 8,
  parent: () => 16,
  target: (work: Buffer) => work.length - 128,
  payloadHash: (work: Buffer) => work.length - 96,
  chain: (work: Buffer) => work.length - 64,
  height: (work: Buffer) => work.length - 28,
  nonce: (work: Buffer) => work.length - 8,
}

export const chainOf = (work: Buffer) => work.readUInt32LE(at.chain(work))
export const heightOf = (work: Buffer) => Number(work.readBigUInt64LE(at.height(work)))
export const payloadOf = (work: Buffer) => work.subarray(at.payloadHash(work)).subarray(0, 32).toString('base64url')
export const targetOf = (work: Buffer) => littleEndian(work.subarray(at.target(work)).subarray(0, 32))

function littleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
}

export const isSolved = (work: Buffer) => littleEndian(hash('blake2s256', work, 'buffer')) <= targetOf(work)

/** A copy of the work with the first nonce that solves it, or with `wrong` the first nonce that does not. */
export function solve(work: Buffer, wrong = false): Buffer {
  if (wrong && targetOf(work) === 2n ** 256n - 1n) throw new Error('every nonce solves the easiest target')
  const copy = Buffer.from(work)
  for (let nonce = 0n; ; nonce++) {
    copy.writeBigUInt64LE(nonce, at.nonce(copy))
    if (isSolved(copy) !== wrong) return copy
  }
}

export function submit(peer: Peer, work: Buffer, { prefix = PREFIX }: MinerOptions = {}): Promise<Answer> {
  return peer.request('POST', `${prefix}/mining/solved`, { body: work })
}

/** Mines one block, on the suggested chain if it is not blocked. Returns its work bytes. */
export async function mineBlock(peer: Peer, chain?: number, options: MinerOptions = {}): Promise<Buffer> {
  const solved = solve(await getWork(peer, chain, options))
  const answer = await submit(peer, solved, options)
  if (answer.status !== 200) throw new Error(`not taken: ${answer.status} ${answer.body}`)
  return solved
}

/** Equal answers in a row that show that the work is complete. Each request lets the node execute some commands. */
const COMPLETE_AFTER = 12

/** Like mineBlock, but first waits until the node has executed all commands that fit. The node adds them gradually. */
export async function mineWhole(peer: Peer, chain?: number, options: MinerOptions = {}): Promise<Buffer> {
  let work = await getWork(peer, chain, options)
  for (let equal = 0; equal < COMPLETE_AFTER; ) {
    const next = await getWork(peer, chain, options)
    equal = payloadOf(next) === payloadOf(work) && chainOf(next) === chainOf(work) ? equal + 1 : 0
    work = next
  }
  const solved = solve(work)
  const answer = await submit(peer, solved, options)
  if (answer.status !== 200) throw new Error(`not taken: ${answer.status} ${answer.body}`)
  return solved
}
