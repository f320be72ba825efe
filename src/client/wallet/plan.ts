/** Plans transfers. It checks the accounts first, so that an impossible transfer is refused before anything is sent. */
import { operatingError } from '#ground/base/errors.ts'
import { findSimilarName } from '#ground/base/similar-names.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import type { GuardKind } from '#language/contracts/values/value.ts'
import { type Account, type AskOptions, accountOn } from './ask.ts'
import { type CommandRequest, DEFAULT_TERMS, type FeeTerms } from './command-sender.ts'
import { walletErrors } from './errors.ts'
import type { SigningKey } from './keys.ts'
import { knownKeyNames } from './known-names.ts'
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
 * @returns the command that makes the transfer, or its first step
 * @throws NewcutError COMMAND_FAILED, which says what is missing, BAD_OPTION for the gas price, the errors of NodeClient
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
    const balance = sender.balance.toSource()
    throw operatingError(walletErrors.tooFewCoins, {
      account: from,
      balance,
      chain,
      amount: `${amount}`,
      gas: `${gas}`,
    })
  }
  const receiver = await accountOn(node, targetChain, to, call)
  const newGuard = async () =>
    receiverKeyset ?? keysetOf(to) ?? (await refuseNewReceiver(node, { account: to, chain: targetChain }, call))
  if (chain === targetChain) {
    return { chain, ...buildTransfer(transfer, receiver === null ? await newGuard() : null), sender: from, keys }
  }
  await checkGasPayer(node, { gasPayer: request.gasPayer ?? from, targetChain, keys, terms }, call)
  const guard = receiver === null ? await newGuard() : receiverGuardOf(to, targetChain, receiver.guard)
  return { chain, ...buildCrossing(transfer, guard, targetChain), sender: from, keys }
}

/** Checks that `gasPayer` can pay for the second step on the target chain. @throws NewcutError COMMAND_FAILED */
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
  const gas = `${maxGasFeeOf(terms)}`
  const payer = await requirePayer(node, { account: gasPayer, chain: targetChain, keys, secondStepGas: gas }, call)
  if (payer.balance.compare(maxGasFeeOf(terms)) >= 0) return
  const balance = payer.balance.toSource()
  throw operatingError(walletErrors.tooFewCoinsForGas, { account: gasPayer, balance, chain: targetChain, gas })
}

interface PayerQuery {
  readonly account: string
  readonly chain: number
  readonly keys: readonly SigningKey[]
  /** Maximum coins for the gas of the second step, for the advice if the account is to pay for that one. */
  readonly secondStepGas?: string
}

/**
 * @returns an existing account that these keys guard
 * @throws NewcutError COMMAND_FAILED without the account or its keys, and the errors of NodeClient
 */
export async function requirePayer(
  node: WalletNode,
  { account, chain, keys, secondStepGas: gas }: PayerQuery,
  call: AskOptions = {},
): Promise<Account> {
  const found = await accountOn(node, chain, account, call)
  if (found === null) {
    if (gas === undefined) {
      const guess = await suggestAccount(node, chain, account, call)
      throw operatingError(walletErrors.noAccount, { account, chain, guess })
    }
    throw operatingError(walletErrors.noGasPayer, { account, chain, gas })
  }
  const guard = missingKeysOf(found.guard, keys)
  if (guard === null) return found
  if (gas === undefined) throw operatingError(walletErrors.otherGuard, { account, chain, guard })
  throw operatingError(walletErrors.otherGuardOfPayer, { account, chain, guard, gas })
}

/** @returns the keys that a keyset requires, or null if none are known to be missing */
function missingKeysOf(guard: GuardKind, keys: readonly SigningKey[]): string | null {
  if (guard.kind !== 'keyset') return null
  const given = guard.keys.filter((each) => keys.some(({ publicKey }) => publicKey === each)).length
  const needed: Readonly<Record<string, number>> = { 'keys-all': guard.keys.length, 'keys-any': 1, 'keys-2': 2 }
  if (given >= (needed[guard.predicate] ?? 0)) return null
  return `${guard.predicate} of ${guard.keys.join(', ')}`
}

/** @throws NewcutError COMMAND_FAILED */
async function refuseNewReceiver(
  node: WalletNode,
  { account, chain }: { readonly account: string; readonly chain: number },
  call: AskOptions,
): Promise<never> {
  const keyset = `'{"keys":["KEY"],"pred":"keys-all"}'`
  const guess = await suggestAccount(node, chain, account, call)
  throw operatingError(walletErrors.noReceiver, { account, chain, guess, keyset })
}

/** A transfer between chains names the guard of the receiver, which must be its current one. */
function receiverGuardOf(to: string, targetChain: number, guard: GuardKind): ReceiverGuard {
  if (guard.kind === 'keyset') return { keys: guard.keys, pred: guard.predicate }
  if (guard.kind === 'keysetRef') return { keysetName: guard.name }
  throw operatingError(walletErrors.receiverGuardedByCode, { account: to, chain: targetChain })
}

/** @returns the maximum gas fee of a command in coins. @throws NewcutError BAD_OPTION if the price is not a number */
export function maxGasFeeOf({ gasLimit, gasPrice }: Pick<FeeTerms, 'gasLimit' | 'gasPrice'>): Decimal {
  const price = Decimal.parse(gasPrice)
  if (price === null) throw operatingError(walletErrors.badGasPrice, { text: gasPrice })
  return Decimal.of(BigInt(gasLimit)).mul(price)
}

/**
 * @param account name of an account that the chain does not have
 * @returns a question for a published name that is similar and has an account there; empty if there is none
 * @throws the errors of NodeClient
 */
export async function suggestAccount(
  node: WalletNode,
  chain: number,
  account: string,
  call: AskOptions = {},
): Promise<string> {
  const similar = findSimilarName(account, knownKeyNames)
  if (similar === null || (await accountOn(node, chain, similar, call)) === null) return ''
  return `; did you mean ${similar}?`
}
