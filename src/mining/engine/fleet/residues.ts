/**
 * Header residues of a fleet's relays (HEADER_MODULUS). They are stored in NATS before a relay may use them, so that
 * the next leader knows them. A residue stays reserved for RESIDUE_MS after the last report of its relay. A restarted
 * relay gets another one. A relay that is cut off from its leader keeps its own.
 */
import type { KV } from '@nats-io/kv'
import { describeError, FormatError } from '#ground/base/errors.ts'
import { withCreationTime } from '#ground/chain/header.ts'
import { firstOfClass } from '#ground/chain/nonce.ts'
import { workFromBytes } from '#ground/chain/work.ts'
import { type Static, Type } from '#ground/schema/typebox.ts'
import { decodeMessage, encodeMessage, HEADER_MODULUS, OWN_STEP, RESIDUE_MS } from '../../fleet/messages.ts'
import { isWrongRevision } from '../../fleet/stores.ts'

const KEY = 'relays'
/** Attempts to write the list while others change it. */
const ATTEMPTS = 5
/** Time for relays to claim their residues if nothing was stored, as after the loss of the store. */
export const CLAIM_MS = 3_000

const Relays = Type.Array(Type.Object({ session: Type.String(), residue: Type.Integer() }), {
  maxItems: HEADER_MODULUS,
})

/** Residues for relays; the devices of rigs use the others. */
export const RELAY_RESIDUES: readonly number[] = Array.from({ length: HEADER_MODULUS }, (_, i) => i).filter(
  (residue) => residue % OWN_STEP !== 0,
)

/** Moves work to the next creation time that no relay uses, some microseconds later at most. */
export function ownHeader(bytes: Uint8Array): Uint8Array {
  const { creationTime } = workFromBytes(bytes).fields
  return withCreationTime(bytes, firstOfClass(creationTime, { residue: 0, modulus: OWN_STEP }))
}

interface ResidueHolder {
  readonly session: string
  heardMs: number
  /** Whether it is in the store; only then the relay gets it. */
  isStored: boolean
}

interface ResiduesOptions {
  readonly store: () => KV
  readonly random: () => number
  readonly nowMs: () => number
  /** Prepares other needs of relays, before the first residue of a term. */
  readonly prepare: () => Promise<void>
  readonly onWarning: (message: string) => void
}

export class Residues {
  readonly #options: ResiduesOptions
  readonly #holders = new Map<number, ResidueHolder>()
  /** Session -> residue. */
  readonly #bySession = new Map<string, number>()
  #revision = 0
  /** Until this time only relays that claim a residue get one. */
  #claimsUntilMs = 0
  #isWriting = false
  #isPrepared = false

  constructor(options: ResiduesOptions) {
    this.#options = options
  }

  /**
   * Begins a term with the residues that earlier leaders assigned.
   * @throws errors of NATS
   */
  async begin(): Promise<void> {
    this.#holders.clear()
    this.#bySession.clear()
    this.#isPrepared = false
    await this.#read()
    this.#claimsUntilMs = this.#holders.size === 0 ? this.#options.nowMs() + CLAIM_MS : 0
  }

  /**
   * Handles the report of a relay.
   * @param claim the residue that it claims, or null
   * @returns the residue that it may use. Null if there is none yet; it should report again soon.
   */
  report(session: string, claim: number | null): number | null {
    const nowMs = this.#options.nowMs()
    const residue = this.#bySession.get(session) ?? this.#choose(session, claim, nowMs)
    const holder = residue === null ? undefined : this.#holders.get(residue)
    if (residue === null || holder === undefined) return null
    holder.heardMs = nowMs
    if (!holder.isStored || !this.#isPrepared) void this.#write()
    return holder.isStored ? residue : null
  }

  /** Frees residues of relays that have been silent for too long. */
  expire(): void {
    const nowMs = this.#options.nowMs()
    for (const [residue, { heardMs, session, isStored: isKept }] of this.#holders) {
      if (!isKept || nowMs - heardMs < RESIDUE_MS) continue
      this.#holders.delete(residue)
      if (this.#bySession.get(session) === residue) this.#bySession.delete(session)
    }
  }

  /** Chooses the claim if it is free, else a random free residue. */
  #choose(session: string, claim: number | null, nowMs: number): number | null {
    const first = Math.floor(this.#options.random() * RELAY_RESIDUES.length)
    const isFree = (residue: number) => !this.#holders.has(residue)
    const isClaimed = claim !== null && RELAY_RESIDUES.includes(claim) && isFree(claim)
    if (!isClaimed && nowMs < this.#claimsUntilMs) return null
    const others = [...RELAY_RESIDUES.slice(first), ...RELAY_RESIDUES.slice(0, first)]
    const residue = isClaimed ? claim : others.find(isFree)
    if (residue === undefined) {
      this.#options.onWarning(`${RELAY_RESIDUES.length} relays have all headers: no room for another one`)
      return null
    }
    this.#hold(residue, session, false)
    return residue
  }

  #hold(residue: number, session: string, isKept: boolean): void {
    this.#holders.set(residue, { session, isStored: isKept, heardMs: this.#options.nowMs() })
    this.#bySession.set(session, residue)
  }

  /**
   * Writes the list; relays in it may then use their residues. Entries that another leader wrote meanwhile take
   * precedence.
   */
  async #write(): Promise<void> {
    if (this.#isWriting) return
    this.#isWriting = true
    try {
      await this.#prepare()
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) if (await this.#tryWrite()) return
    } catch (error) {
      this.#options.onWarning(`relays get no headers while the store of the fleet fails: ${describeError(error)}`)
    } finally {
      this.#isWriting = false
    }
  }

  /** A failure does not keep relays from headers: without a share stream they refuse the shares of their rigs. */
  async #prepare(): Promise<void> {
    if (this.#isPrepared) return
    try {
      await this.#options.prepare()
      this.#isPrepared = true
    } catch (error) {
      this.#options.onWarning(`the shares of relays cannot be kept: ${describeError(error)}`)
    }
  }

  async #tryWrite(): Promise<boolean> {
    const written = [...this.#holders]
    if (written.every(([, { isStored: isKept }]) => isKept)) return true
    const list = written.map(([residue, { session }]) => ({ session, residue }))
    try {
      this.#revision = await this.#options.store().put(KEY, encodeMessage(list), { previousSeq: this.#revision })
    } catch (error) {
      if (!isWrongRevision(error)) throw error
      await this.#read()
      return false
    }
    for (const [residue, holder] of written) if (this.#holders.get(residue) === holder) holder.isStored = true
    return true
  }

  /** Merges the stored list. It takes precedence, except for residues that this leader has already assigned. */
  async #read(): Promise<void> {
    const entry = await this.#options.store().get(KEY)
    this.#revision = entry?.revision ?? 0
    if (entry?.operation !== 'PUT') return
    for (const { residue, session } of this.#listOf(entry.value)) {
      const holder = this.#holders.get(residue)
      if (holder?.session === session || holder?.isStored) continue
      // Its relay gets another residue with its next report.
      if (holder !== undefined) this.#bySession.delete(holder.session)
      this.#hold(residue, session, true)
    }
  }

  #listOf(value: Uint8Array): Static<typeof Relays> {
    try {
      return decodeMessage(Relays, value, KEY)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      this.#options.onWarning(`the list of relays counts as empty, it cannot be read: ${describeError(error)}`)
      return []
    }
  }
}
