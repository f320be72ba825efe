/** Chains and ledger of a node at its start: new ones, those of a data directory, or those of a fork. */
import { operatingError } from '#ground/base/errors.ts'
import type { NodeCopy } from './copy/node-copy.ts'
import type { DataDirectory } from './data/directory.ts'
import { genesisFor } from './ledger/genesis.ts'
import { Ledger } from './ledger/ledger.ts'
import { MemoryVersions } from './ledger/versions.ts'
import { commandCheck } from './mempool/checks.ts'
import type { DevnetOptions } from './options/devnet-options.ts'
import { optionErrors } from './options/errors.ts'
import { Chains, forkedState, genesisState } from './rules/chains.ts'
import type { NetworkRules } from './rules/network-rules.ts'
import type { NodeClock } from './rules/node-clock.ts'
import type { NetworkSettings } from './rules/settings.ts'
import type { Exemptions } from './store/exemptions.ts'
import type { PrintReporter } from './store/print-reporter.ts'
import { MemoryTransactionIndex, type TransactionIndex } from './store/transaction-index.ts'

/** @throws NewcutError BAD_OPTION for a fork that the release or the network does not know */
export function forkTargetOf({ forkTarget }: DevnetOptions, { network, release }: NetworkRules): number {
  const highest = Math.min(release.forkTarget, network.forks.highestKnown)
  if (forkTarget === undefined || forkTarget <= highest) return forkTarget ?? highest
  throw operatingError(optionErrors.highForkTarget, { target: forkTarget, highest })
}

interface ChainParts {
  readonly settings: NetworkSettings
  readonly rules: NetworkRules
  readonly forkTarget: number
  readonly fork: NodeCopy | null
  readonly exemptions: Exemptions
  readonly prints: PrintReporter
}

/** Creates the chains, and the ledger that executes them. */
export function openChains(
  { settings, rules, forkTarget, fork, exemptions, prints }: ChainParts,
  clock: NodeClock,
  data: DataDirectory | null,
) {
  const { network } = rules
  const first = () => {
    if (fork !== null) return forkedState(network, fork.headers, fork.payloads)
    return genesisState(network, (chain) => genesisFor(rules, chain).payload)
  }
  const state = data?.loaded ?? first()
  const index: TransactionIndex = data?.state ?? new MemoryTransactionIndex()
  const { store, heads } = state
  const ledger =
    data?.ledger ??
    new Ledger({
      store,
      heads: heads.values(),
      index,
      versions: new MemoryVersions(),
      rules,
      check: commandCheck(rules, exemptions),
      exemptions,
      prints: prints.noteIn(exemptions),
      fork: fork ?? undefined,
    })
  const kept = data === null ? {} : { journal: data.blocks }
  const checkPow = settings.pow
  const chains = new Chains({
    network,
    checkPow,
    forkTarget,
    now: clock.microseconds,
    state,
    executions: ledger,
    ...kept,
  })
  return { chains, ledger, index }
}
