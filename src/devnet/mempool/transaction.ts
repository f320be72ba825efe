/** A command in a mempool. */
import type { Command } from '../command/command.ts'

/**
 * A command that passed every check. Its life:
 *
 * 1. A client sends a command, or a peer does: command/read.ts parses it, checks.ts and a trial of the ledger judge it.
 * 2. It is pending in the mempool of its chain.
 * 3. A draft of the next block executes it (work/drafts.ts). A command that no block can hold is badlisted.
 * 4. A block has it: the pool drops it, and its result can be polled.
 * 5. If that block leaves the chain, the transaction is pending again, unless it is no longer valid.
 *
 * A pending one also ends when its time to live is over, or by order of the owner.
 */
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
