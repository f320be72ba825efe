/** `newcut payouts` without its command line: reports and pays. */

import type { CommandStep, FeeTerms } from '#client/wallet/command-sender.ts'
import type { SigningKey } from '#client/wallet/keys.ts'
import type { WalletNode } from '#client/wallet/wallet-node.ts'
import type { Clock } from '#ground/base/clock.ts'
import type { NewcutError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import type { ShareReader } from '#mining/accounts/share-store.ts'
import { type Assessment, assess, type PoolRules } from './assess.ts'
import type { BlockNode } from './found-blocks.ts'
import { isOnNetwork, PayoutLedger } from './ledger.ts'
import { payBalances } from './pay.ts'
import type { PayoutLines } from './payout-journal.ts'
import type { ResultLine } from './payout-line.ts'
import { type PayoutReport, reportOf } from './report.ts'
import { lookOnce, type SettleNode, type SettleOptions, settlePayouts } from './settle.ts'
import type { ClockNode } from './signing-time.ts'
import type { PayoutStorage } from './storage.ts'

export interface PayoutSetup {
  readonly client: WalletNode & BlockNode['client'] & SettleNode & ClockNode
  readonly network: BlockNode['network']
  readonly placeOf: BlockNode['placeOf']
  /** Opens the shares. They are closed before anything is paid, so that a miner may open them. */
  readonly openReader: () => Promise<ShareReader>
  readonly storage: PayoutStorage
  readonly rules: PoolRules
  /** Lower balances are carried over. In 10^-12 coins. */
  readonly minimum: bigint
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called with a fact about the journal that its owner should know. */
  readonly onNotice: (message: string) => void
  readonly onProgress?: OnProgress
}

interface PaySetup extends PayoutSetup {
  readonly keys: readonly SigningKey[]
  readonly terms: FeeTerms
  readonly onStep: (step: CommandStep) => void
  readonly onTrouble: (chain: number, error: NewcutError) => void
  /** Called with each payout that this run settles, also with those of earlier runs. */
  readonly onSettled: (result: ResultLine) => void
  /** Called before it waits until so many payouts are settled. */
  readonly onWaiting?: (payouts: number) => void
}

/** Reports amounts owed and paid. Writes nothing. */
export async function reportPayouts(setup: PayoutSetup): Promise<PayoutReport> {
  const { rules, minimum } = setup
  return reportOf(await assessBlocks(setup, ledgerOf(setup, setup.storage.read())), rules, minimum)
}

/**
 * Looks up earlier payouts, credits blocks, pays, and follows all payouts until they are settled. If a run is killed at
 * any point, the next one continues.
 * @throws NewcutError DATA_UNUSABLE while another run is active, errors of the share store, the node and settle(), and
 * the reason of the signal
 */
export async function payPayouts(setup: PaySetup): Promise<PayoutReport> {
  const { client, storage, rules, minimum, clock, signal, onStep, onProgress, onWaiting } = setup
  const lock = await storage.lock()
  try {
    const journal = storage.open(() => clock.wallMs())
    try {
      const ledger = ledgerOf(setup, journal.content)
      const settling: SettleOptions = {
        node: client,
        confirmations: rules.confirmations,
        clock,
        signal,
        onStep,
        onResult: (result) => {
          journal.append(result)
          ledger.add(result)
          setup.onSettled(result)
        },
        onProgress,
        claimed: new Set(),
      }
      await lookOnce(ledger.openPayouts, settling)
      const { blocks, held, lines } = await assessBlocks(setup, ledger)
      journal.append(...lines)
      ledger.add(...lines)
      const due = ledger.balances(rules.account, (block) => held.has(block)).filter(({ amount }) => amount >= minimum)
      await payBalances(due, { ...setup, node: client, journal, ledger, account: rules.account })
      if (ledger.openPayouts.length > 0) onWaiting?.(ledger.openPayouts.length)
      await settlePayouts(ledger.openPayouts, settling)
      return reportOf({ blocks, held, ledger }, rules, minimum)
    } finally {
      journal.close()
    }
  } finally {
    await lock.release()
  }
}

/** A journal may have payouts of several networks. */
function ledgerOf(
  { storage, onNotice, rules: { network } }: PayoutSetup,
  { lines, unsealed }: PayoutLines,
): PayoutLedger {
  if (unsealed > 0) {
    const fact = unsealed === 1 ? 'its line has no seal' : `none of its ${unsealed} lines has a seal`
    onNotice(`${storage.path}: ${fact}, so damage may go unseen until newcut adds the next line, which seals them`)
  }
  return new PayoutLedger(lines.filter((line) => isOnNetwork(line, network)))
}

async function assessBlocks(
  { client, network, placeOf, openReader, ...setup }: PayoutSetup,
  ledger: PayoutLedger,
): Promise<Assessment> {
  const reader = await openReader()
  try {
    const at = new Date(setup.clock.wallMs()).toISOString()
    return await assess({ ...setup, reader, ledger, node: { client, network, placeOf }, at })
  } finally {
    await reader.close()
  }
}
