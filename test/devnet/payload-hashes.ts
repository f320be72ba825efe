/** An independent implementation of payload hashes; shares nothing with src/. */
import { hash } from 'node:crypto'

export interface PayloadParts {
  readonly minerData: Uint8Array
  readonly coinbase: Uint8Array
  readonly transactions: readonly { readonly transaction: Uint8Array; readonly output: Uint8Array }[]
}

const sha = (...parts: Uint8Array[]) => hash('sha512-256', Buffer.concat(parts), 'buffer')
const leaf = (tag: number, bytes: Uint8Array) => sha(Buffer.of(0, 0, tag), bytes)

/** Builds the tree level by level and carries an odd node up. */
function root(entries: readonly Buffer[]): Buffer {
  if (entries.length === 1) return entries[0]
  const next: Buffer[] = []
  for (let i = 0; i < entries.length; i += 2) {
    next.push(i + 1 < entries.length ? sha(Buffer.of(1), entries[i], entries[i + 1]) : entries[i])
  }
  return root(next)
}

export function hashesOf({ minerData, coinbase, transactions }: PayloadParts) {
  const transactionsHash = root([
    leaf(0x17, minerData),
    ...transactions.map(({ transaction }) => leaf(0x13, transaction)),
  ])
  const outputsHash = root([leaf(0x18, coinbase), ...transactions.map(({ output }) => leaf(0x14, output))])
  return { transactionsHash, outputsHash, payloadHash: root([transactionsHash, outputsHash]) }
}
