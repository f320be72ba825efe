/** Read-only calls: a node runs code, writes nothing, and charges nothing. */
import { operatingError } from '#ground/base/errors.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import { Guard, type GuardKind, type Value } from '#language/contracts/values/value.ts'
import { valueFromJson } from '#language/contracts/values/wire.ts'
import type { CallOptions } from '../node/requests.ts'
import { quoteForCode } from './capability.ts'
import type { SignedCommand } from './command.ts'
import { walletErrors } from './errors.ts'
import { CommandFailed, dataOf } from './failure.ts'
import { signedCommand } from './keys.ts'
import type { WalletNode } from './wallet-node.ts'

/** Code, and the data and terms that it runs with. */
export interface Question {
  readonly code: string
  /** JSON text; default `{}`. */
  readonly data?: string
  /** Default: the gas limit of a block of the network. */
  readonly gasLimit?: number | undefined
  /** Account that pays for gas, as the code sees it; default none. */
  readonly sender?: string
  /** Number of blocks below the head of the chain; default 0. */
  readonly rewindDepth?: number
}

/** Options of a read-only call. */
export interface AskOptions extends CallOptions {
  /** Time of the command as the code sees it, milliseconds since 1970; default: now. */
  readonly nowMs?: number
}

/** Lifetime of the command. It is never in a block, but the code may read it. */
const TTL_SECONDS = 600

/** Builds a command without signatures, for a node that only runs it. */
export function commandOfQuestion(
  { info, network: { network } }: Pick<WalletNode, 'info' | 'network'>,
  chain: number,
  question: Question,
  nowMs: number,
): SignedCommand {
  const { code, data = '{}', gasLimit = network.blockGas, sender = '' } = question
  return signedCommand({
    networkId: info.nodeVersion,
    chain,
    payload: { code, data },
    signers: [],
    sender,
    gasLimit,
    gasPrice: '0.00000001',
    ttl: TTL_SECONDS,
    creationTime: Math.floor(nowMs / 1000),
    nonce: `newcut ${nowMs}`,
  })
}

/** Runs code on a chain; a failure is a result too. @throws the errors of NodeClient */
export async function evaluateOnNode(
  node: Pick<WalletNode, 'info' | 'network' | 'local'>,
  chain: number,
  question: Question,
  call: AskOptions = {},
): Promise<CommandResult> {
  const { nowMs = Date.now(), ...options } = call
  const command = commandOfQuestion(node, chain, question, nowMs)
  const { rewindDepth = 0 } = question
  return await node.local(chain, command, { ...options, ...(rewindDepth > 0 && { rewindDepth }) })
}

/** @returns the value of code on a chain. @throws CommandFailed if the code fails, and the errors of NodeClient */
export async function ask(node: WalletNode, chain: number, question: Question, call: AskOptions = {}): Promise<Value> {
  return valueFromJson(dataOf(await evaluateOnNode(node, chain, question, call), 'the code failed'))
}

/** An account of the coin contract. */
export interface Account {
  readonly balance: Decimal
  readonly guard: GuardKind
}

/** @returns an account on a chain, or null if it does not exist. @throws like ask */
export async function accountOn(
  node: WalletNode,
  chain: number,
  account: string,
  call: AskOptions = {},
): Promise<Account | null> {
  let details: Value
  try {
    details = await ask(node, chain, { code: `(coin.details ${quoteForCode(account)})` }, call)
  } catch (error) {
    if (error instanceof CommandFailed && /^No value found in table/.test(error.error.message)) return null
    throw error
  }
  const [balance, guard] = details instanceof Map ? [details.get('balance'), details.get('guard')] : []
  if (balance instanceof Decimal && guard instanceof Guard) return { balance, guard: guard.is }
  throw operatingError(walletErrors.badDetails, { chain })
}
