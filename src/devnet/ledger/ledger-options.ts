/** Options of a ledger, and of the blocks that it begins. */
import type { Header } from '#ground/chain/header.ts'
import type { NetworkRules } from '../rules/network-rules.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { ReadonlyExemptions } from '../store/exemptions.ts'
import type { StoredPayload } from '../store/payload.ts'
import type { PrintReporter } from '../store/print-reporter.ts'
import type { TransactionIndex } from '../store/transaction-index.ts'
import type { OutputLimits } from './command-result.ts'
import type { CopiedBase } from './copied-base.ts'
import type { RunLater } from './draft.ts'
import type { CommandCheck } from './execute-payload.ts'
import type { Versions } from './versions.ts'

/** How to begin a block. */
export interface BeginOptions {
  readonly limits?: OutputLimits
  readonly gasLimit?: number
  readonly isPrintAllowed?: boolean
}

/** How to execute blocks of others, such as in a thread. */
export interface ForeignBlockExecutor {
  /** Executes a command. */
  readonly run: RunLater
  /** Verifies the signatures of SLH-DSA in a payload of a chain, so that the check of its commands knows the verdicts. */
  readonly verify: (chain: number, payload: StoredPayload) => Promise<void>
}

export interface LedgerOptions {
  readonly store: BlockStore
  /** Heads of the chains. */
  readonly heads: Iterable<Header>
  readonly index: TransactionIndex
  readonly versions: Versions
  readonly rules: NetworkRules
  /** Checks commands in blocks of others. */
  readonly check: CommandCheck
  /** Commands and blocks that the owner of the node exempts; privileged commands run as such. Default: none. */
  readonly exemptions?: ReadonlyExemptions
  /** Whether code may call `print`, and who takes what it prints. Default: it may not. */
  readonly prints?: PrintReporter | undefined
  /** State below the first blocks; default: that of a development network. */
  readonly fork?: CopiedBase | undefined
}
