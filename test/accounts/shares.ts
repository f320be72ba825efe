/** Shares for tests, and temporary folders for their stores. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ShareEntry } from '../../src/mining/accounts/share-store.ts'

export const START_MS = 1_764_000_000_000

/** An id of 43 characters; ids sort like their numbers. */
export const idOf = (number: number) => String(number).padStart(43, '0')

export function shareOf(number: number, changes: Partial<ShareEntry> = {}): ShareEntry {
  return {
    ...{ id: idOf(number), timeMs: START_MS + number, user: 'k:abc', worker: 'shelf-1', agent: 'test/1' },
    ...{ address: '10.0.0.1', chain: number % 20, height: 1_000 + number, difficulty: 2 ** 40 },
    ...{ blockDifficulty: 2 ** 60, block: null, ...changes },
  }
}

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-shares-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
