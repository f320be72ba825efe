/**
 * The commands in blocks that ran a step of a pact, or failed to, and the pacts of the current chains in two lists. Reads
 * each block of the store once. A reorganisation costs only the pacts of the blocks that it moves.
 */
import { readStored } from '../../command/read.ts'
import type { Block } from '../../store/block-store.ts'
import type { SearchedNode } from './block-search.ts'
import { PlaceList } from './place-list.ts'

/** A command that named a pact. */
export interface PactAttempt {
  readonly requestKey: string
  /** Number of its block in the store. */
  readonly record: number
  /** Position in the block. */
  readonly index: number
  readonly step: number
  readonly isRollback: boolean
}

/** A step that ran. */
interface PactRunStep extends PactAttempt {
  readonly stepCount: number
  /** Whether the step can be rolled back. */
  readonly hasRollback: boolean
  /** Id of the chain to which it yields; null if it yields to none. */
  readonly target: string | null
}

interface PactFailedStep extends PactAttempt {
  readonly fault: string
}

/** Steps of a pact that have run on the current chains. */
export interface CurrentSteps {
  /** Ascending. */
  readonly steps: readonly PactRunStep[]
  readonly last: PactRunStep
  /** Whether another step follows. */
  readonly isOpen: boolean
}

export interface IndexedPact {
  readonly pactId: string
  /** Place among all pacts, in the order in which they began. */
  readonly place: number
  /** null if no step has run on the current chains. */
  readonly current: CurrentSteps | null
  /** Failed attempts in blocks of the current chains, oldest first. */
  readonly failures: readonly PactFailedStep[]
}

/** A pact with the attempts of all branches. */
interface TrackedPact {
  readonly pactId: string
  readonly place: number
  readonly steps: PactRunStep[]
  readonly failures: PactFailedStep[]
  current: CurrentSteps | null
}

/** Maximum blocks that one call reads, by default: about a second of work. */
const MAX_BLOCKS_PER_READ = 5_000
/** Failed attempts that are kept for each pact: anybody may fail often. */
const MAX_FAILURES = 20

const decoder = new TextDecoder()
/** Every result without a pact has these bytes, and no text in a result has them: quotes are escaped there. */
const NO_PACT = Buffer.from('"continuation":null')
const FAILURE = Buffer.from('"status":"failure"')

interface YieldFields {
  readonly provenance?: { readonly targetChainId?: unknown } | null
}
interface PactFields {
  readonly pactId: string
  readonly step: number
  readonly stepCount: number
  readonly stepHasRollback?: boolean
  readonly yield?: YieldFields | null
  readonly nested?: Readonly<Record<string, PactFields>>
}
interface ResultFields {
  readonly result: { readonly status: string; readonly error?: { readonly message: string } }
  readonly continuation: PactFields | null
}

export class PactIndex {
  readonly #node: SearchedNode
  readonly #atOnce: number
  /** By place. */
  readonly #pacts: TrackedPact[] = []
  readonly #byId = new Map<string, TrackedPact>()
  /** Number of a block -> the pacts of its commands. */
  readonly #inBlock = new Map<number, Set<TrackedPact>>()
  readonly #lists = { open: new PlaceList(), finished: new PlaceList() }
  /** Chain -> number of the head that the lists follow. */
  readonly #heads: Map<number, number>
  /** Number of the first block that was not read. */
  #next = 0

  /** @param atOnce blocks that one call reads at most */
  constructor(node: SearchedNode, atOnce = MAX_BLOCKS_PER_READ) {
    this.#node = node
    this.#atOnce = atOnce
    this.#heads = new Map(this.#currentHeads())
  }

  /** Blocks that were not read yet. */
  get unread(): number {
    return this.#node.chains.store.size - this.#next
  }

  /** Number of unfinished pacts on the current chains. */
  get open(): number {
    return this.#lists.open.size
  }

  /** Number of finished pacts on the current chains. */
  get finished(): number {
    return this.#lists.finished.size
  }

  /** @returns undefined for an id without any step on the current chains */
  find(pactId: string): IndexedPact | undefined {
    const pact = this.#byId.get(pactId)
    return pact === undefined || pact.current === null ? undefined : this.#viewOf(pact)
  }

  /**
   * Pacts of one list, the newest first. Takes O(log size) and the pacts that the caller takes.
   * @param place only pacts before this place; default: all
   */
  *newest(list: 'open' | 'finished', place = this.#pacts.length): Generator<IndexedPact> {
    const places = this.#lists[list]
    for (let i = places.countBelow(place) - 1; i >= 0; i--) yield this.#viewOf(this.#pacts[places.at(i)])
  }

  #viewOf({ pactId, place, current, failures }: TrackedPact): IndexedPact {
    return { pactId, place, current, failures: failures.filter((each) => this.#isCurrent(each)) }
  }

  /** Follows the heads, and reads some of the new blocks. Skips the first block of each chain: no user sent its commands. */
  read(): void {
    const { store } = this.#node.chains
    const changed = this.#followHeads()
    const end = Math.min(store.size, this.#next + this.#atOnce)
    for (; this.#next < end; this.#next++) {
      if (store.parentRecord(this.#next) < 0) continue
      for (const pact of this.#add(store.blockAt(this.#next), this.#next)) changed.add(pact)
    }
    for (const pact of changed) this.#sort(pact)
  }

  /** Chain -> number of its head. */
  *#currentHeads(): Generator<[chain: number, record: number]> {
    const { store, cut } = this.#node.chains
    for (const [chain, { hash }] of cut) yield [chain, store.recordOfHash(hash)]
  }

  /** Pacts of read blocks that have left or joined their chain since the last call. */
  #followHeads(): Set<TrackedPact> {
    const { chains, ledger } = this.#node
    const moved = new Set<TrackedPact>()
    const note = (record: number) => {
      for (const pact of this.#inBlock.get(record) ?? []) moved.add(pact)
      return chains.store.parentRecord(record)
    }
    for (const [chain, head] of this.#currentHeads()) {
      let common = this.#heads.get(chain) ?? head
      while (!ledger.isOnChain(chain, common)) common = note(common)
      for (let joined = head; joined !== common; ) joined = note(joined)
      this.#heads.set(chain, head)
    }
    return moved
  }

  /** Puts a pact into the list where it belongs now. */
  #sort(pact: TrackedPact): void {
    const before = pact.current
    const steps = pact.steps
      .filter((each) => this.#isCurrent(each))
      .sort((a, b) => a.step - b.step || Number(a.isRollback) - Number(b.isRollback))
    const last = steps.at(-1)
    const isOpen = last !== undefined && !last.isRollback && last.step < last.stepCount - 1
    pact.current = last === undefined ? null : { steps, last, isOpen }
    const [from, to] = [this.#listOf(before), this.#listOf(pact.current)]
    if (from === to) return
    from?.delete(pact.place)
    to?.add(pact.place)
  }

  #listOf(current: CurrentSteps | null): PlaceList | null {
    if (current === null) return null
    return current.isOpen ? this.#lists.open : this.#lists.finished
  }

  #isCurrent({ record }: PactAttempt): boolean {
    const { chains, ledger } = this.#node
    return ledger.isOnChain(chains.store.chainAt(record), record)
  }

  /** @returns the pacts of a block */
  #add({ payload }: Block, record: number): ReadonlySet<TrackedPact> {
    const found = new Set<TrackedPact>()
    for (const [index, { transaction, output }] of payload.transactions.entries()) {
      const text = Buffer.from(output.buffer, output.byteOffset, output.byteLength)
      if (text.includes(NO_PACT) && !text.includes(FAILURE)) continue
      const { result, continuation } = JSON.parse(decoder.decode(output)) as ResultFields
      if (continuation === null && result.status === 'success') continue
      const { key: requestKey, payload: asked } = readStored(transaction)
      const isRollback = asked.kind === 'cont' && asked.isRollback
      if (continuation !== null) {
        const { pactId, step, stepCount, stepHasRollback: hasRollback = false } = continuation
        const target = targetOf(continuation)
        const pact = this.#pact(pactId)
        pact.steps.push({ requestKey, record, index, step, isRollback, stepCount, hasRollback, target })
        found.add(pact)
      } else if (asked.kind === 'cont') {
        const { failures } = this.#pact(asked.pactId)
        const at = { requestKey, record, index, step: asked.step, isRollback }
        failures.push({ ...at, fault: result.error?.message ?? '' })
        if (failures.length > MAX_FAILURES) failures.shift()
      }
    }
    if (found.size > 0) this.#inBlock.set(record, found)
    return found
  }

  #pact(pactId: string): TrackedPact {
    const known = this.#byId.get(pactId)
    if (known !== undefined) return known
    const added = { pactId, place: this.#pacts.length, steps: [], failures: [], current: null }
    this.#pacts.push(added)
    this.#byId.set(pactId, added)
    return added
  }
}

/** Chain to which a step yields. A nested pact may yield for the pact around it. */
function targetOf({ yield: yielded, nested = {} }: PactFields): string | null {
  const target = yielded?.provenance?.targetChainId
  if (typeof target === 'string') return target
  for (const each of Object.values(nested)) {
    const found = targetOf(each)
    if (found !== null) return found
  }
  return null
}
