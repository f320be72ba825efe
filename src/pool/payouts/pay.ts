/**
 * Pays balances with transactions of many transfers. Each is journaled before it is sent, and only the journal says
 * what was paid. So a run that was killed can be repeated.
 */

import { NodeRefusal } from '#client/node/errors.ts'
import { accountOn } from '#client/wallet/ask.ts'
import type { SignedCommand } from '#client/wallet/command.ts'
import { CommandSender, type CommandStep, type FeeTerms } from '#client/wallet/command-sender.ts'
import { CommandFailed } from '#client/wallet/failure.ts'
import type { SigningKey } from '#client/wallet/keys.ts'
import { maxGasFeeOf, requirePayer } from '#client/wallet/plan.ts'
import { readAmount } from '#client/wallet/transfer.ts'
import type { WalletNode } from '#client/wallet/wallet-node.ts'
import type { Clock } from '#ground/base/clock.ts'
import { coinsText, unitsOf } from '#ground/base/coins.ts'
import { NewcutError, operatingError } from '#ground/base/errors.ts'
import { type BatchTransfer, batchOf, gasFor, transfersIn } from './batch.ts'
import { payoutErrors } from './errors.ts'
import { type Balance, type Payout, type PayoutLedger, transferOf } from './ledger.ts'
import type { PayoutJournal } from './payout-journal.ts'
import type { SentLine } from './payout-line.ts'
import { type ClockNode, ClockSkew, signingTime } from './signing-time.ts'

interface PayOptions {
  readonly node: WalletNode & ClockNode
  readonly journal: Pick<PayoutJournal, 'append' | 'now'>
  /** Gets a line for each payout. */
  readonly ledger: PayoutLedger
  /** The account that pays amounts and gas. */
  readonly account: string
  /** Minimum payment to record in payouts, in 10^-12 coins. */
  readonly minimum: bigint
  readonly keys: readonly SigningKey[]
  /** `gasLimit`: maximum gas of one transaction. */
  readonly terms: FeeTerms
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onStep: (step: CommandStep) => void
  /** Called with the reason why a chain or a payout is not paid now. */
  readonly onTrouble: (chain: number, error: NewcutError) => void
}

/** Maximum number of concurrent account lookups: a node serves other clients too. */
const MAX_LOOKUPS = 8
const GAS_EXCEEDED = /^Gas limit "\d+" exceeded/

/**
 * Sends payouts for these balances. If a chain cannot be paid, reports it and continues with the others. If the clocks
 * differ, reports it and pays nothing more.
 * @throws NewcutError DATA_UNUSABLE if the journal cannot be written, errors of NodeClient, and the reason of the
 * signal
 */
export async function payBalances(balances: readonly Balance[], options: PayOptions): Promise<void> {
  for (const chain of new Set(balances.map((balance) => balance.chain))) {
    const due = balances.filter((balance) => balance.chain === chain)
    try {
      await payChain(chain, due, options)
    } catch (error) {
      options.signal.throwIfAborted()
      const isOurs = error instanceof NodeRefusal && error.isNodesOwn
      if (!isOurs && !(error instanceof NewcutError && error.code === 'COMMAND_FAILED')) throw error
      options.onTrouble(chain, error)
      if (error instanceof ClockSkew) return
    }
  }
}

async function payChain(chain: number, due: readonly Balance[], options: PayOptions): Promise<void> {
  const { node, terms } = options
  await checkFunds(chain, due, options)
  const transfers = await transfersOf(node, due, options)
  let size = transfersIn(terms.gasLimit)
  for (let done = 0; done < due.length; ) {
    const batch = due.slice(done, done + size)
    const isSent = await sendBatch(chain, batch, transfers.slice(done, done + size), options)
    if (isSent) done += batch.length
    // The contract of this network takes more gas than expected: halve the batch.
    else size = Math.ceil(batch.length / 2)
  }
}

/** @throws NewcutError COMMAND_FAILED unless the account can pay all balances, all open payouts, and gas */
async function checkFunds(chain: number, due: readonly Balance[], options: PayOptions): Promise<void> {
  const { node, account, keys, terms, clock, signal } = options
  const { balance } = await requirePayer(node, { account, chain, keys }, { signal, nowMs: clock.wallMs() })
  const total = due.reduce((sum, { amount }) => sum + amount, await openAmount(chain, options))
  const commands = Math.ceil(due.length / transfersIn(terms.gasLimit))
  const gas = maxGasFeeOf({ ...terms, gasLimit: gasFor(due.length) + gasFor(0) * commands })
  if (balance.compare(readAmount(coinsText(total)).add(gas)) >= 0) return
  throw operatingError(payoutErrors.lacksCoins, {
    account,
    balance: balance.toSource(),
    chain,
    total: coinsText(total),
    gas: String(gas),
  })
}

/** Amount that open payouts may still take from the account on this chain. */
async function openAmount(chain: number, { node, ledger, account, signal }: PayOptions): Promise<bigint> {
  const open = ledger.openPayouts.filter((payout) => payout.chain === chain && payout.account === account)
  const keys = open.map(({ requestKey }) => requestKey)
  const included = keys.length === 0 ? new Map() : await node.poll(chain, keys, { signal })
  return open.filter(({ requestKey }) => !included.has(requestKey)).reduce((sum, payout) => sum + totalOf(payout), 0n)
}

const totalOf = ({ pays }: Payout) => pays.reduce((sum, { amount }) => sum + (unitsOf(amount) ?? 0n), 0n)

/** Transfers create missing accounts; existing accounts keep their guard. */
async function transfersOf(
  node: WalletNode,
  due: readonly Balance[],
  { clock, signal }: PayOptions,
): Promise<BatchTransfer[]> {
  const transfers: BatchTransfer[] = []
  for (let i = 0; i < due.length; i += MAX_LOOKUPS) {
    const lookups = due.slice(i, i + MAX_LOOKUPS).map(async ({ chain, account, amount }) => {
      const found = await accountOn(node, chain, account, { signal, nowMs: clock.wallMs() })
      return { account, amount: coinsText(amount), isNew: found === null }
    })
    transfers.push(...(await Promise.all(lookups)))
  }
  return transfers
}

/**
 * Tries out, journals and sends one transaction.
 * @returns false if it takes more gas than its limit
 * @throws CommandFailed, ClockSkew, NodeRefusal
 */
async function sendBatch(
  chain: number,
  due: readonly Balance[],
  transfers: readonly BatchTransfer[],
  options: PayOptions,
): Promise<boolean> {
  const { node, journal, ledger, account, keys, clock, signal, onStep } = options
  const gasLimit = Math.min(options.terms.gasLimit, gasFor(transfers.length))
  const terms = { ...options.terms, gasLimit }
  const commandSender = new CommandSender(node, { terms, clock, signal, onStep })
  const request = { chain, ...batchOf(account, transfers), sender: account, keys }
  const command = commandSender.sign(request, await signingTime(node, clock, signal))
  try {
    await commandSender.tryOut(chain, command)
  } catch (error) {
    if (transfers.length > 1 && error instanceof CommandFailed && GAS_EXCEEDED.test(error.error.message)) return false
    throw error
  }
  const sent = { network: node.info.nodeVersion, account, chain, command, minimum: coinsText(options.minimum) }
  const line = payoutLineOf(sent, due, journal.now())
  journal.append(line)
  ledger.add(line)
  await commandSender.send(chain, command)
  return true
}

function payoutLineOf(
  sent: Pick<SentLine, 'network' | 'account' | 'chain' | 'minimum'> & { readonly command: SignedCommand },
  due: readonly Balance[],
  at: string,
): SentLine {
  const { meta } = JSON.parse(sent.command.cmd) as {
    readonly meta: { readonly creationTime: number; readonly ttl: number }
  }
  const { hash: requestKey } = sent.command
  return { at, type: 'order', ...sent, requestKey, expires: meta.creationTime + meta.ttl, pays: due.map(transferOf) }
}
