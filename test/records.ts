/** The header vectors (test/vectors/README.md). */
import { readFileSync } from 'node:fs'

export interface HeaderRecord {
  source: string
  kind: 'block' | 'genesis' | 'unsolved-work' | 'invalid-test-header'
  network: string
  header_hex: string
  block_hash_b64url: string | null
  block_hash_recomputes: boolean | null
  pow_hash_hex: string
  target_hex_le: string
  height: number
  chain: number
  solved: boolean
  feature_flags: string
  nonce: string
  creation_time_us: number
  epoch_start_us: number
}

export const headerRecords: readonly HeaderRecord[] = JSON.parse(
  readFileSync(new URL('vectors/headers.json', import.meta.url), 'utf8'),
)
