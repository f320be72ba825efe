/** A share store in memory. */
import type { RefusedShares, ShareEntry, ShareReader, TimeRange } from '../../src/mining/accounts/share-store.ts'

export class MemoryShares implements ShareReader {
  readonly entries: ShareEntry[] = []

  constructor(entries: readonly ShareEntry[] = []) {
    this.add(...entries)
  }

  add(...entries: readonly ShareEntry[]): void {
    this.entries.push(...entries)
    this.entries.sort((a, b) => a.timeMs - b.timeMs || (a.id < b.id ? -1 : 1))
  }

  async *shares({ fromMs = 0, untilMs = Number.POSITIVE_INFINITY, newestFirst = false }: Range = {}) {
    const inside = this.entries.filter(({ timeMs }) => timeMs >= fromMs && timeMs < untilMs)
    yield* newestFirst ? inside.toReversed() : inside
  }

  async *refusals(): AsyncGenerator<RefusedShares> {
    yield* []
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

type Range = TimeRange & { readonly newestFirst?: boolean }

let made = 0

/** A share with these fields; the values of the others do not matter. */
export function share(given: Partial<ShareEntry>): ShareEntry {
  const id = `share-${String(++made).padStart(8, '0')}`
  return {
    id,
    timeMs: made,
    user: 'alice',
    worker: 'w',
    agent: 'test',
    address: '127.0.0.1',
    chain: 0,
    height: 1,
    difficulty: 1,
    blockDifficulty: 100,
    block: null,
    ...given,
  }
}

/** The public key and account of a user, named by a letter. */
export const keyOf = (letter: string) => letter.repeat(64)
export const accountOf = (letter: string) => `k:${keyOf(letter)}`

/** A block hash made from a letter: 43 characters of base64url. */
export const blockOf = (letter: string) => `${letter.repeat(42)}A`
