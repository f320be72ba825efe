/** Questions to contracts: code that a node runs for us, with nothing written and nothing paid. */
import { Decimal } from '../contracts/values/decimal.ts'
import { Guard, type GuardKind, type Value } from '../contracts/values/value.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import { NewcutError } from '../core/errors.ts'
import type { CallOptions } from '../node/requests.ts'
import type { CommandResult } from '../schema/command-bodies.ts'
import { type Draft, type SignedCommand, signedCommand } from './command.ts'
import { CommandFailed, dataOf } from './failure.ts'
import { quoted } from './transfer.ts'
import type { WalletNode } from './wallet-node.ts'

/** Code, and what it runs with. */
export interface Question {
  readonly code: string
  /** JSON text; default `{}`. */
  readonly data?: string
  /** Default 150,000. */
  readonly gasLimit?: number
  /** Who pays for gas, as the code is told; default nobody. */
  readonly sender?: string
  /** How many blocks below the head of the chain; default 0. */
  readonly rewindDepth?: number
}

/** How a question is asked. */
export interface AskOptions extends CallOptions {
  /** What the code takes for the time of the command, milliseconds since 1970; default: now. */
  readonly nowMs?: number
}

const GAS_LIMIT = 150_000
const TTL_SECONDS = 600

/** A command without signatures, for a node that only runs it. */
export function questionCommand(networkId: string, chain: number, question: Question, nowMs: number): SignedCommand {
  const { code, data = '{}', gasLimit = GAS_LIMIT, sender = '' } = question
  const creationTime = Math.floor(nowMs / 1000)
  const terms: Omit<Draft, 'payload'> = {
    ...{ networkId, chain, sender, gasLimit, creationTime },
    ...{ signers: [], gasPrice: '0.00000001', ttl: TTL_SECONDS, nonce: `newcut ${nowMs}` },
  }
  return signedCommand({ ...terms, payload: { code, data } })
}

/** What code results in on a chain. Throws what NodeClient throws; a failure is a result too. */
export async function answer(
  node: WalletNode,
  chain: number,
  question: Question,
  call: AskOptions = {},
): Promise<CommandResult> {
  const { nowMs = Date.now(), ...options } = call
  const command = questionCommand(node.info.nodeVersion, chain, question, nowMs)
  const { rewindDepth = 0 } = question
  return await node.local(chain, command, { ...options, ...(rewindDepth > 0 && { rewindDepth }) })
}

/** The value of code on a chain. Throws CommandFailed for code that fails, and what NodeClient throws. */
export async function ask(node: WalletNode, chain: number, question: Question, call: AskOptions = {}): Promise<Value> {
  return valueFromJson(dataOf(await answer(node, chain, question, call), 'the code failed'))
}

/** An account of the coin contract. */
export interface Account {
  readonly balance: Decimal
  readonly guard: GuardKind
}

/** An account as it stands on a chain; null: there is none. Throws as ask does. */
export async function accountOn(
  node: WalletNode,
  chain: number,
  account: string,
  call: AskOptions = {},
): Promise<Account | null> {
  let details: Value
  try {
    details = await ask(node, chain, { code: `(coin.details ${quoted(account)})` }, call)
  } catch (error) {
    if (error instanceof CommandFailed && /^No value found in table/.test(error.error.message)) return null
    throw error
  }
  const [balance, guard] = details instanceof Map ? [details.get('balance'), details.get('guard')] : []
  if (balance instanceof Decimal && guard instanceof Guard) return { balance, guard: guard.is }
  throw new NewcutError('NODE_MISBEHAVED', `coin.details on chain ${chain} gave no balance and guard`)
}
