/** The paused rigs of a fleet, stored in NATS for the next leader. */
import type { KV } from '@nats-io/kv'
import { describeError, FormatError } from '#ground/base/errors.ts'
import { type Static, Type } from '#ground/schema/typebox.ts'
import { decodeMessage, encodeMessage, type MemberCommand } from '../../fleet/messages.ts'
import { isWrongRevision } from '../../fleet/stores.ts'

const KEY = 'paused'
/** Maximum number of rigs paused by name: the list is one entry of NATS, of 1 MiB at most. */
const MAX_NAMES = 10_000
/** Attempts to apply a command while others change the list. */
const ATTEMPTS = 5

const Paused = Type.Object({
  all: Type.Boolean(),
  rigs: Type.Array(Type.String({ maxLength: 253 }), { maxItems: MAX_NAMES }),
})
type Paused = Readonly<Static<typeof Paused>>

export const NO_PAUSES: Paused = { all: false, rigs: [] }

/** The list, and the revision of its entry (0 if there is none). */
interface PauseList {
  readonly paused: Paused
  readonly revision: number
}

/**
 * The list in NATS. Commands are applied one at a time, and each replaces the revision that it started from. So no
 * command undoes another, whoever sent it.
 */
export class MemberPauses {
  readonly #onWarning: (message: string) => void
  /** Null until it is read. */
  #list: PauseList | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(onWarning: (message: string) => void) {
    this.#onWarning = onWarning
  }

  /** The list as last read or written. */
  get paused(): Paused {
    return this.#list?.paused ?? NO_PAUSES
  }

  /**
   * Reads the list.
   * @throws errors of NATS; the list is then unchanged
   */
  async read(store: KV): Promise<void> {
    await this.#enqueue(() => this.#read(store))
  }

  /**
   * Applies a command. Resolves once the list is written.
   * @returns why the command is refused, or null
   * @throws errors of NATS
   */
  apply(store: KV, command: MemberCommand): Promise<string | null> {
    return this.#enqueue(() => this.#applyCommand(store, command))
  }

  #enqueue<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act)
    // The caller gets its failure; the next command starts anyway.
    this.#last = done.catch(() => undefined)
    return done
  }

  async #read(store: KV): Promise<PauseList> {
    this.#list = await this.#readEntry(store)
    return this.#list
  }

  async #applyCommand(store: KV, command: MemberCommand): Promise<string | null> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Never overwrite an unknown list.
      const { paused, revision } = this.#list ?? (await this.#read(store))
      const next = pausesAfter(paused, command)
      if (typeof next === 'string') return next
      try {
        this.#list = { paused: next, revision: await store.put(KEY, encodeMessage(next), { previousSeq: revision }) }
        return null
      } catch (error) {
        if (!isWrongRevision(error)) throw error
        await this.#read(store)
      }
    }
    throw new Error(`the list of paused rigs was changed by others ${ATTEMPTS} times meanwhile`)
  }

  async #readEntry(store: KV): Promise<PauseList> {
    const entry = await store.get(KEY)
    const revision = entry?.revision ?? 0
    if (entry?.operation !== 'PUT') return { paused: NO_PAUSES, revision }
    try {
      return { paused: decodeMessage(Paused, entry.value, KEY), revision }
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      this.#onWarning(`the list of paused rigs counts as empty, it cannot be read: ${describeError(error)}`)
      return { paused: NO_PAUSES, revision }
    }
  }
}

/** @returns the list after a command, or why the command is refused */
export function pausesAfter({ all, rigs }: Paused, { pause, rig }: MemberCommand): Paused | string {
  if (rig === null) return { all: pause, rigs: [] }
  const others = rigs.filter((each) => each !== rig)
  if (!pause) return all ? 'all rigs are paused: resume all' : { all, rigs: others }
  return others.length < MAX_NAMES ? { all, rigs: [...others, rig] } : `${MAX_NAMES} rigs are paused by name: pause all`
}

export const isPaused = ({ all, rigs }: Paused, rig: string) => all || rigs.includes(rig)
