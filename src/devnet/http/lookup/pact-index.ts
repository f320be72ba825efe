/** The commands in blocks that ran a step of a pact, or failed to. Reads each block of the store once. */
import { readStored } from '../../command/read.ts'
import type { Block, BlockStore } from '../../store/block-store.ts'

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
export interface PactRunStep extends PactAttempt {
  readonly stepCount: number
  /** Whether the step can be rolled back. */
  readonly hasRollback: boolean
  /** Id of the chain to which it yields; null if it yields to none. */
  readonly target: string | null
}

export interface PactFailedStep extends PactAttempt {
  readonly fault: string
}

export interface IndexedPact {
  readonly pactId: string
  readonly steps: PactRunStep[]
  readonly failures: PactFailedStep[]
}

/** Blocks that one call reads at most, by default. */
const MAX_READ = 5_000
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
  readonly #store: BlockStore
  readonly #atOnce: number
  readonly #pacts = new Map<string, IndexedPact>()
  /** Number of the first block that was not read. */
  #next = 0

  /** @param atOnce blocks that one call reads at most */
  constructor(store: BlockStore, atOnce = MAX_READ) {
    this.#store = store
    this.#atOnce = atOnce
  }

  /** Blocks that were not read yet. */
  get unread(): number {
    return this.#store.size - this.#next
  }

  /** Pacts with a step that has run, orphaned ones included, in the order in which they began. */
  get pacts(): readonly IndexedPact[] {
    return [...this.#pacts.values()].filter(({ steps }) => steps.length > 0)
  }

  /** Reads some of the new blocks. Skips the first block of each chain: no user sent its commands. */
  read(): void {
    const end = Math.min(this.#store.size, this.#next + this.#atOnce)
    for (; this.#next < end; this.#next++) {
      if (this.#store.parentRecord(this.#next) >= 0) this.#add(this.#store.blockAt(this.#next), this.#next)
    }
  }

  #add({ payload }: Block, record: number): void {
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
        const at = { requestKey, record, index, step, isRollback }
        this.#pact(pactId).steps.push({ ...at, stepCount, hasRollback, target })
      } else if (asked.kind === 'cont') {
        const { failures } = this.#pact(asked.pactId)
        const at = { requestKey, record, index, step: asked.step, isRollback }
        failures.push({ ...at, fault: result.error?.message ?? '' })
        if (failures.length > MAX_FAILURES) failures.shift()
      }
    }
  }

  #pact(pactId: string): IndexedPact {
    const known = this.#pacts.get(pactId)
    if (known !== undefined) return known
    const added = { pactId, steps: [], failures: [] }
    this.#pacts.set(pactId, added)
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
