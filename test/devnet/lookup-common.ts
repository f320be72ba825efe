/** Shared parts of tests of lookups: a contract, and reads of pages. */
import { expect } from 'vitest'
import type { Static, TSchema } from '../../src/ground/schema/typebox.ts'
import { validatorOf } from '../../src/ground/schema/validator.ts'
import { funded, signed } from './command.ts'
import { makeBlocks, send, startLedger } from './commands-common.ts'
import { brief, type CheckedPeer, jsonOf, type Started, TEXT } from './common.ts'
import { order } from './control-common.ts'
import { Peer } from './request.ts'

export const SHELF = `(namespace "free")
(module shelf GOVERNANCE
  @doc "Keeps books."
  (defcap GOVERNANCE () (enforce false "nobody"))
  (defcap PLACED:bool (title:string price:decimal) @doc "A book came." @event true)
  (defcap LEND:integer (title:string days:integer) @managed days rest true)
  (defun rest:integer (managed:integer requested:integer) (- managed requested))
  (defschema book "What a book is." price:decimal owner:guard tags:[string])
  (deftable books:{book} "All books.")
  (deftable never:{book})
  (defconst MOST:integer 3 "Most books.")
  (defun place:string (title:string price:decimal owner:guard)
    "Puts a book on the shelf."
    (emit-event (PLACED title price))
    (write books title { "price": price, "owner": owner, "tags": [] }))
  (defpact lend (title:string) (step title) (step "back"))
)
(create-table books)`
export const KEYSET = { keys: [funded.publicKey], pred: 'keys-all' }

export const withData = (code: string) =>
  signed({ gasLimit: 100_000 }, { payload: { exec: { code, data: { k: KEYSET } } }, nonce: code })
export const place = (title: string, price = '1.5') =>
  withData(`(free.shelf.place "${title}" ${price} (read-keyset "k"))`)

export async function get<T>(peer: Peer, path: string): Promise<T> {
  const answer = await peer.get(path)
  expect(answer.status, answer.body.toString()).toBe(200)
  return jsonOf(answer) as T
}
export const refused = async (peer: Peer, path: string) => {
  const [status, type, text] = brief(await peer.get(path))
  expect(type).toBe(TEXT)
  return [status, text]
}

export async function mined(peer: CheckedPeer, commands: readonly { readonly hash: string }[], chain = 0) {
  expect(jsonOf(await send(peer, commands, chain))).toEqual({ requestKeys: commands.map(({ hash }) => hash) })
  await makeBlocks(peer, { [chain]: 1 })
}

export async function startShelf(): Promise<Started> {
  const started = await startLedger()
  await mined(started.peer, [withData(SHELF)])
  return started
}

/** All items of all pages. */
export async function allPages<T>(
  peer: Peer,
  path: string,
  read: (page: { readonly next: string | null }) => readonly T[],
) {
  const items: T[] = []
  let pages = 0
  for (let next: string | null | undefined; next !== null; pages++) {
    const page: { readonly next: string | null } = await get(
      peer,
      path + (next === undefined ? '' : `&next=${encodeURIComponent(next)}`),
    )
    items.push(...read(page))
    next = page.next
  }
  return { items, pages }
}

export function expectAll<S extends TSchema>(schema: S, values: readonly Static<S>[]): void {
  const validator = validatorOf(schema)
  expect(values.filter((value) => !validator.accepts(value))).toEqual([])
}

/** Sends a control request, whose answer is not for other pages. */
export async function control(url: string, path: string, body: unknown): Promise<void> {
  const peer = new Peer(url)
  await order(peer, path, body)
  peer.close()
}
