/** Plans transfers. It checks the accounts first, so that an impossible transfer is refused before anything is sent. */
import { NewcutError } from '#ground/base/errors.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import type { GuardKind } from '#language/contracts/values/value.ts'
import { type Account, type AskOptions, accountOn } from './ask.ts'
import { type CommandRequest, DEFAULT_TERMS, type FeeTerms } from './command-sender.ts'
import type { SigningKey } from './keys.ts'
import { buildCrossing, buildTransfer, type Keyset, keysetOf, type ReceiverGuard, type Transfer } from './transfer.ts'
import type { WalletNode } from './wallet-node.ts'

/** A requested transfer. */
export interface TransferRequest {
  readonly transfer: Transfer
  readonly chain: number
  /** Chain of the receiver; default: the same chain. */
  readonly targetChain?: number
  readonly keys: readonly SigningKey[]
  /** Default: those of a CommandSender. */
  readonly terms?: FeeTerms
  /** Guard of a receiver that does not exist yet; default null: the receiver exists, or its name implies the guard. */
  readonly receiverKeyset?: Keyset | null
  /** Account that pays on another target chain; default: the sender. */
  readonly gasPayer?: string
}

/**
 * The command that makes the transfer, or its first step. Throws NewcutError COMMAND_FAILED, which says what is
 * missing, and the errors of NodeClient.
 */
export async function planTransfer(
  node: WalletNode,
  request: TransferRequest,
  call: AskOptions = {},
): Promise<CommandRequest> {
  const { transfer, chain, keys, targetChain = chain, terms = DEFAULT_TERMS, receiverKeyset = null } = request
  const { from, to, amount } = transfer
  const gas = maxGasFeeOf(terms)
  const sender = await requirePayer(node, { account: from, chain, keys }, call)
  if (sender.balance.compare(amount.add(gas)) < 0) {
    const needed = `needed are ${amount} and up to ${gas} for gas`
    refuse(`${from} has ${sender.balance.toSource()} coins on chain ${chain}, and ${needed}`)
  }
  const receiver = await accountOn(node, targetChain, to, call)
  const newGuard = () => receiverKeyset ?? keysetOf(to) ?? refuseNameless(to, targetChain)
  if (chain === targetChain) {
    return { chain, ...buildTransfer(transfer, receiver === null ? newGuard() : null), sender: from, keys }
  }
  await checkGasPayer(node, { gasPayer: request.gasPayer ?? from, targetChain, keys, terms }, call)
  const guard = receiver === null ? newGuard() : receiverGuardOf(to, targetChain, receiver.guard)
  return { chain, ...buildCrossing(transfer, guard, targetChain), sender: from, keys }
}

/** Throws NewcutError COMMAND_FAILED if `gasPayer` cannot pay for the second step on the target chain. */
export async function checkGasPayer(
  node: WalletNode,
  {
    gasPayer,
    targetChain,
    keys,
    terms,
  }: Required<Pick<TransferRequest, 'gasPayer' | 'targetChain' | 'keys' | 'terms'>>,
  call: AskOptions = {},
): Promise<void> {
  const gas = maxGasFeeOf(terms)
  const hint =
    `the second step needs up to ${gas} coins for gas there: move some coins there first, or name another account ` +
    'that the key guards with `gasPayer`'
  const payer = await requirePayer(node, { account: gasPayer, chain: targetChain, keys, hint }, call)
  if (payer.balance.compare(gas) >= 0) return
  refuse(`${gasPayer} has ${payer.balance.toSource()} coins on chain ${targetChain}`, hint)
}

interface PayerQuery {
  readonly account: string
  readonly chain: number
  readonly keys: readonly SigningKey[]
  readonly hint?: string
}

/**
 * An existing account that these keys guard. Throws NewcutError COMMAND_FAILED if it is not, and the errors of
 * NodeClient.
 */
export async function requirePayer(
  node: WalletNode,
  { account, chain, keys, hint }: PayerQuery,
  call: AskOptions = {},
): Promise<Account> {
  const found = await accountOn(node, chain, account, call)
  if (found === null) {
    return refuse(
      `there is no account ${account} on chain ${chain}`,
      hint ?? `newcut balance ${account} shows where it is`,
    )
  }
  const missing = missingKeysOf(found.guard, keys)
  if (missing === null) return found
  return refuse(`${account} on chain ${chain} is guarded by ${missing}, and \`key\` names others`, hint)
}

/** @returns the keys that a keyset requires, or null if none are known to be missing */
function missingKeysOf(guard: GuardKind, keys: readonly SigningKey[]): string | null {
  if (guard.kind !== 'keyset') return null
  const given = guard.keys.filter((each) => keys.some(({ publicKey }) => publicKey === each)).length
  const needed: Readonly<Record<string, number>> = { 'keys-all': guard.keys.length, 'keys-any': 1, 'keys-2': 2 }
  if (given >= (needed[guard.predicate] ?? 0)) return null
  return `${guard.predicate} of ${guard.keys.join(', ')}`
}

function refuseNameless(to: string, targetChain: number): never {
  return refuse(
    `there is no account ${to} on chain ${targetChain}, and its name does not say who shall guard it`,
    `\`receiverKeyset: '{"keys":["KEY"],"pred":"keys-all"}'\` makes it, or send to k:KEY`,
  )
}

/** A transfer between chains names the guard of the receiver, which must be its present one. */
function receiverGuardOf(to: string, targetChain: number, guard: GuardKind): ReceiverGuard {
  if (guard.kind === 'keyset') return { keys: guard.keys, pred: guard.predicate }
  if (guard.kind === 'keysetRef') return { keysetName: guard.name }
  return refuse(
    `${to} on chain ${targetChain} is guarded by code, which a transfer between chains from here cannot name`,
    'move the coins to a k: account on that chain first, and from there to this account',
  )
}

/** Most coins that a command may take for gas. Throws NewcutError BAD_OPTION if the price is no number. */
export function maxGasFeeOf({ gasLimit, gasPrice }: Pick<FeeTerms, 'gasLimit' | 'gasPrice'>): Decimal {
  const price = Decimal.parse(gasPrice)
  if (price === null) throw new NewcutError('BAD_OPTION', `gas price ${gasPrice}: expected a number such as 0.00000001`)
  return Decimal.of(BigInt(gasLimit)).mul(price)
}

function refuse(message: string, hint?: string): never {
  throw new NewcutError('COMMAND_FAILED', message, { hint })
}
