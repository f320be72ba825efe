/** Good inputs, from the published vectors. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { decodeHex } from '../../src/core/bytes.ts'

/** Also where this file was compiled to `dist/`. */
const vectorFile = (name: string): string => {
  const beside = new URL(`../vectors/${name}`, import.meta.url)
  return fileURLToPath(existsSync(beside) ? beside : new URL(`../../../test/vectors/${name}`, import.meta.url))
}
const vectors = (name: string) => JSON.parse(readFileSync(vectorFile(name), 'utf8'))

interface HeaderRecord {
  readonly kind: string
  readonly header_hex: string
}

const records: readonly HeaderRecord[] = vectors('headers.json')
const headersOf = (kind: string, most: number) =>
  records
    .filter((record) => record.kind === kind)
    .slice(0, most)
    .map(({ header_hex }) => decodeHex(header_hex))

/** Blocks and genesis headers, 210 + 36 x degree bytes each. */
export const headers: readonly Uint8Array[] = [...headersOf('block', 6), ...headersOf('genesis', 2)]
/** Work without a solution. */
export const works: readonly Uint8Array[] = headersOf('unsolved-work', 2)
/** Payloads with outputs, as nodes write them. */
export const payloads: readonly Record<string, unknown>[] = vectors('payloads.json').map(
  ({ payload }: { payload: Record<string, unknown> }) => payload,
)
/** Proofs, base64url of JSON text. */
export const proofs: readonly string[] = vectors('spv.json').proofs.map(({ proof }: { proof: string }) => proof)
