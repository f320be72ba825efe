/** Valid inputs from the published vectors. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { decodeHex } from '../../src/ground/base/bytes.ts'

/** The text of a file of test/. It also works from the compiled file in `dist/`. */
function testFile(path: string): string {
  const beside = new URL(`../${path}`, import.meta.url)
  const file = existsSync(beside) ? beside : new URL(`../../../test/${path}`, import.meta.url)
  return readFileSync(fileURLToPath(file), 'utf8')
}
const vectors = (name: string) => JSON.parse(testFile(`vectors/${name}`))

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

interface StratumMessage {
  readonly dir: 'client->server' | 'server->client'
  readonly raw: string
}

const sessions: readonly { readonly messages: readonly StratumMessage[] }[] = vectors('stratum.json').sessions
const linesOf = (wanted: StratumMessage['dir']) =>
  sessions.map(({ messages }) => messages.filter(({ dir }) => dir === wanted).map(({ raw }) => raw))
/** The lines that miners sent in recorded sessions with pools, by session. */
export const minerLines: readonly (readonly string[])[] = linesOf('client->server')
/** The lines that the pools sent, by session. */
export const poolLines: readonly (readonly string[])[] = linesOf('server->client')

/** Certificates in PEM form. */
export const certificates: readonly string[] = ['authority', 'cert', 'signed-cert'].map((name) =>
  testFile(`fixtures/tls-test-${name}.pem`),
)
