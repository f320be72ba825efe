/** Executes the commands of a payload again, and compares what comes out with what it says. */
import { equalBytes } from '../../core/bytes.ts'
import { describeError } from '../../core/errors.ts'
import type { Header } from '../../core/header.ts'
import type { MinerAccount } from '../../core/payload.ts'
import type { SignedCommand } from '../command/signed-command.ts'
import type { Payload } from '../store/payload.ts'
import type { ContractCommand } from './command.ts'
import type { Draft, Writes } from './draft.ts'

/** What is wrong with a command on top of a block, before it runs: hash, signatures, chain; null: nothing. */
export type CommandCheck = (command: SignedCommand, parent: Header) => string | null

export interface PayloadRules {
  readonly read: (command: SignedCommand) => ContractCommand
  readonly check: (command: SignedCommand) => string | null
}

const decoder = new TextDecoder('utf-8', { fatal: true })

export function executePayload(
  begin: (miner: MinerAccount) => Draft,
  payload: Payload,
  { read, check }: PayloadRules,
): { readonly writes: Writes } | { readonly fault: string } {
  try {
    const draft = begin(readMiner(payload.minerData))
    for (const [i, { transaction }] of payload.transactions.entries()) {
      const command = readSigned(transaction)
      const fault = check(command)
      if (fault !== null) return { fault: `transaction ${i}: ${fault}` }
      const added = draft.add({ key: command.hash, bytes: transaction }, read(command))
      if (added !== 'added') return { fault: `transaction ${i}: ${added === 'left' ? 'has no place' : added.refused}` }
    }
    const fault = difference(payload, draft.payload)
    return fault === null ? { writes: draft.writes } : { fault }
  } catch (error) {
    return { fault: describeError(error) }
  }
}

function difference(given: Payload, made: Payload): string | null {
  if (!equalBytes(given.coinbase, made.coinbase)) return 'the output of its reward is another one'
  for (const [i, { output }] of given.transactions.entries()) {
    if (!equalBytes(output, made.transactions[i].output)) return `the output of its transaction ${i} is another one`
  }
  return equalBytes(given.payloadHash, made.payloadHash) ? null : 'its payload hash is another one'
}

function readSigned(transaction: Uint8Array): SignedCommand {
  const json = JSON.parse(decoder.decode(transaction)) as Partial<SignedCommand> | null
  if (typeof json?.hash === 'string' && typeof json.cmd === 'string' && Array.isArray(json.sigs)) {
    return json as SignedCommand
  }
  throw new TypeError('a transaction is no signed command')
}

function readMiner(minerData: Uint8Array): MinerAccount {
  const json = JSON.parse(decoder.decode(minerData)) as Record<string, unknown> | null
  const { account, predicate, 'public-keys': publicKeys } = json ?? {}
  const areKeys = Array.isArray(publicKeys) && publicKeys.every((key) => typeof key === 'string')
  if (typeof account !== 'string' || typeof predicate !== 'string' || !areKeys) {
    throw new TypeError('the miner data names no account')
  }
  return { account, predicate, publicKeys: publicKeys as string[] }
}
