/** A command in a mempool. */
import type { Command } from '../command/command.ts'

/** A command that passed every check. */
export interface Transaction {
  /** Request key. */
  readonly key: string
  readonly command: Command
  /** The form in a payload: JSON text of the command in the spelling of live nodes. */
  readonly bytes: Uint8Array
  readonly gasPrice: number
  readonly expiresAtMs: number
}

const encoder = new TextEncoder()

/** Converts a command that passed every check. */
export function transactionOf(command: Command): Transaction {
  const { key, sigs, cmd, meta } = command
  return {
    key,
    command,
    gasPrice: meta.gasPrice.toNumber(),
    bytes: encoder.encode(JSON.stringify({ hash: key, sigs: sigs.map((each) => each && { sig: each.sig }), cmd })),
    expiresAtMs: 1000 * (meta.creationTime + meta.ttl),
  }
}
