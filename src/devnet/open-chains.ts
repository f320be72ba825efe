/** Chains and ledger of a node at its start: new ones, those of a data directory, or those of a fork. */
import { NewcutError } from '../base/errors.ts'
import { graphAt } from '../core/network.ts'
import type { NodeRelease } from '../schema/node-releases.ts'
import type { DataDirectory } from './data/directory.ts'
import type { NodeFork } from './fork/node-fork.ts'
import { genesisOf } from './ledger/genesis.ts'
import { Ledger } from './ledger/ledger.ts'
import { MemoryVersions } from './ledger/versions.ts'
import { commandCheck } from './mempool/checks.ts'
import type { DevnetOptions } from './options.ts'
import { Chains, forkedState, genesisState } from './rules/chains.ts'
import type { NodeClock } from './rules/node-clock.ts'
import { releaseRules } from './rules/releases.ts'
import { type NetworkSettings, networkOf } from './rules/settings.ts'
import type { LetIn } from './store/let-in.ts'
import type { Prints } from './store/prints.ts'
import { MemoryTransactionIndex, type TransactionIndex } from './store/transaction-index.ts'

/** Throws NewcutError BAD_OPTION for a fork that the release does not know. */
export function forkTargetOf({ forkTarget }: DevnetOptions, release: NodeRelease): number {
  const highest = releaseRules[release].forkTarget
  if (forkTarget === undefined || forkTarget <= highest) return forkTarget ?? highest
  throw new NewcutError('BAD_OPTION', `forkTarget: ${forkTarget}; release ${release} votes for forks up to ${highest}`)
}

interface ChainsSetup {
  readonly settings: NetworkSettings
  readonly forkTarget: number
  readonly fork: NodeFork | null
  readonly letIn: Map<string, LetIn>
  readonly prints: Prints
}

/** Creates the chains, and the ledger that executes them. */
export function openChains(
  { settings, forkTarget, fork, letIn, prints }: ChainsSetup,
  clock: NodeClock,
  data: DataDirectory | null,
) {
  const network = networkOf(settings)
  const first = () => {
    if (fork !== null) return forkedState(network, fork.headers, fork.payloads)
    return genesisState(network, genesisOf(graphAt(network, 0).adjacents.length).payload)
  }
  const state = data?.loaded ?? first()
  const index: TransactionIndex = data?.state ?? new MemoryTransactionIndex()
  const { store, heads } = state
  const release = releaseRules[settings.release]
  const ledger =
    data?.ledger ??
    new Ledger({
      store,
      heads: heads.values(),
      index,
      versions: new MemoryVersions(),
      network,
      release,
      check: commandCheck(network.name, release, letIn),
      letIn,
      prints: prints.noteIn(letIn),
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
