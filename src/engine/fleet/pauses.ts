/** Which rigs of a fleet are to pause: kept in NATS, so that the next leader knows it too. */
import type { KV } from '@nats-io/kv'
import { type Static, Type } from 'typebox'
import { decodeMessage, encodeMessage, type Order } from '../../fleet/messages.ts'

const KEY = 'paused'
/** Most rigs that are paused by name. */
const MAX_NAMES = 10_000

const Paused = Type.Object({
  all: Type.Boolean(),
  rigs: Type.Array(Type.String({ maxLength: 64 }), { maxItems: MAX_NAMES }),
})
export type Paused = Readonly<Static<typeof Paused>>

export const NOBODY: Paused = { all: false, rigs: [] }

/** Throws what NATS throws. */
export async function readPaused(store: KV): Promise<Paused> {
  const entry = await store.get(KEY)
  return entry?.operation === 'PUT' ? decodeMessage(Paused, entry.value, KEY) : NOBODY
}

/** Throws what NATS throws. */
export async function writePaused(store: KV, paused: Paused): Promise<void> {
  await store.put(KEY, encodeMessage(paused))
}

/** What is paused after an order; a text says why it is refused. */
export function afterOrder({ all, rigs }: Paused, { pause, rig }: Order): Paused | string {
  if (rig === null) return { all: pause, rigs: [] }
  const others = rigs.filter((each) => each !== rig)
  if (!pause) return all ? 'all rigs are paused: resume all' : { all, rigs: others }
  return others.length < MAX_NAMES ? { all, rigs: [...others, rig] } : `${MAX_NAMES} rigs are paused by name: pause all`
}

export const isPaused = ({ all, rigs }: Paused, rig: string) => all || rigs.includes(rig)
