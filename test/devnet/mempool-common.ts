/** The endpoints of the mempool, for tests. */
import { expect } from 'vitest'
import type { Signed } from './command.ts'
import { brief, JSON_TYPE, PREFIX, type Started } from './common.ts'
import type { Answer, Peer } from './request.ts'

const poolPath = (chain: number) => `${PREFIX}/chain/${chain}/mempool`

function send(peer: Peer, method: string, path: string, body: unknown): Promise<Answer> {
  return peer.request(method, path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

export const insertTexts = (peer: Peer, texts: readonly unknown[], chain = 0) =>
  send(peer, 'PUT', `${poolPath(chain)}/insert`, texts)

/** Inserts commands, all of which must be accepted. */
export async function insert(peer: Peer, commands: readonly Signed[], chain = 0): Promise<void> {
  const texts = commands.map((command) => JSON.stringify(command))
  expect(brief(await insertTexts(peer, texts, chain))).toEqual([200, JSON_TYPE, ''])
}

async function asked(answer: Promise<Answer>): Promise<string> {
  const [status, type, text] = brief(await answer)
  expect(status, text).toBe(200)
  expect(type, text).toBe(JSON_TYPE)
  return text
}

export const member = async (peer: Peer, keys: readonly string[], chain = 0) =>
  JSON.parse(await asked(send(peer, 'POST', `${poolPath(chain)}/member`, keys)))

export const lookup = async (peer: Peer, keys: readonly string[], chain = 0) =>
  JSON.parse(await asked(send(peer, 'POST', `${poolPath(chain)}/lookup`, keys)))

export interface Pending {
  readonly hashes: readonly string[]
  /** The text on the wire, with all digits. */
  readonly nonce: string
  readonly newest: number
}

export async function pending(peer: Peer, query = '', chain = 0): Promise<Pending> {
  const text = await asked(peer.request('POST', `${poolPath(chain)}/getPending${query}`))
  const [, nonce, newest] = /"highwaterMark":\[(-?\d+),(\d+)\]\}$/.exec(text) ?? []
  return { hashes: JSON.parse(text).hashes, nonce, newest: Number(newest) }
}

export const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()

/** The payload of the head of a chain. */
export function headPayload({ devnet }: Pick<Started, 'devnet'>, chain = 0) {
  const head = devnet.chains.cut.get(chain)
  const block = head && devnet.chains.store.get(head.hash)
  if (block === undefined) throw new Error('no head')
  return block.payload
}

/** Request keys of the transactions in a payload. */
export const keysIn = ({ transactions }: ReturnType<typeof headPayload>): string[] =>
  transactions.map(({ transaction }) => JSON.parse(textOf(transaction)).hash)
