/** Encodes a batch for page.js, on any host, and decodes its answer. */
import { readFileSync } from 'node:fs'
import {
  type BatchResult,
  decodeResult,
  encodeParams,
  prepareWork,
  RESULT_BYTES,
} from '../../src/mining/engine/gpu/layout.ts'
import type { BatchRequest } from './batch-server.ts'

const code = readFileSync(new URL('../../shaders/search.wgsl', import.meta.url), 'utf8')
const GROUPS_PER_DIMENSION = 65_535
let tag = 0

/** Runs a batch. @param ask passes the JSON text of a request to `runBatch`, and returns the words of its result */
export async function runInPage(
  { bytes, target, batch, workgroup = 64, split = false }: BatchRequest,
  ask: (request: string) => Promise<readonly number[]>,
): Promise<BatchResult> {
  tag++
  const params = [...encodeParams(prepareWork(bytes, target), batch, tag)]
  const count = Math.ceil(batch.lanes / workgroup)
  const rows = Math.ceil(count / GROUPS_PER_DIMENSION)
  const groups = [Math.ceil(count / rows), rows]
  const words = await ask(JSON.stringify({ code, params, resultBytes: RESULT_BYTES, workgroup, split, groups }))
  const result = decodeResult(Uint32Array.from(words), tag)
  if (result === null) throw new Error(`tag ${words[0]} instead of ${tag}`)
  return { found: result.found, nonces: [...result.nonces].sort((a, b) => (a < b ? -1 : 1)) }
}
