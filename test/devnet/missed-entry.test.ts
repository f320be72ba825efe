/** A command of the next block that misses an entry of a forked network. */
import { expect, it } from 'vitest'
import { developmentAccount } from '../../src/devnet/control/block-maker.ts'
import type { RunCommand } from '../../src/devnet/ledger/draft.ts'
import { executeInBlock } from '../../src/devnet/ledger/execute.ts'
import { Mempools } from '../../src/devnet/mempool/mempools.ts'
import { rulesFor } from '../../src/devnet/rules/network-rules.ts'
import { TimeSlicer } from '../../src/devnet/time-slicer.ts'
import { Drafts } from '../../src/devnet/work/drafts.ts'
import { emptyState, MissingEntry, type ReadableState } from '../../src/language/contracts/machine/state.ts'
import { headOf, LedgerGround } from './ledger-ground.ts'
import { noTrial } from './no-trial.ts'

/** The test does not depend on the time slice. */
const NO_SLICE_MS = 60_000

/** A draft of chain 0 with one pending command, whose first run takes longer, and misses a row of `missed`. */
function drafting(missed: ReadableState) {
  const ground = new LedgerGround('petersen')
  const { chains, ledger, index } = ground
  const turns = new TimeSlicer()
  const nowMs = () => Number(chains.network.genesisTime / 1000n)
  const pools = new Mempools({ chains, index, nowMs, trial: noTrial, turns, rules: rulesFor(chains.network, '3.2') })
  const outcomes: RunCommand[] = [
    () => 'running',
    () => {
      throw new MissingEntry(missed, 'table:coin.coin-table', 'sender05')
    },
  ]
  const fetched: MissingEntry[] = []
  const drafts = new Drafts({
    run: (...command) => (outcomes.shift() ?? executeInBlock)(...command),
    ledger,
    pools,
    turns,
    head: (chain) => headOf(chains.cut, chain),
    onUnpaid: () => undefined,
    onGrown: () => undefined,
    fork: {
      stateOf: () => null,
      complete: async (run) => run(),
      fetch: (missing) => {
        fetched.push(missing)
        return new Promise(() => undefined)
      },
    },
  })
  expect(pools.admitPrivileged(0, ground.command(0, '(+ 1 2)').command)).toBe(null)
  const live = drafts.draftOf(0, developmentAccount)
  expect(drafts.extend(live, NO_SLICE_MS)).toBe('waiting')
  return { drafts, live, fetched }
}

it('a transaction runs again at once when the entry was fetched while it ran', () => {
  const { drafts, live, fetched } = drafting(emptyState)
  expect(drafts.extend(live, NO_SLICE_MS)).toBe('done')
  expect(live.draft.size).toBe(1)
  expect(fetched).toEqual([])
})

it('a transaction is left for a later block while the entry is missing', () => {
  const missed: ReadableState = {
    ...emptyState,
    get: (domain, key) => {
      throw new MissingEntry(missed, domain, key)
    },
  }
  const { drafts, live, fetched } = drafting(missed)
  expect(drafts.extend(live, NO_SLICE_MS)).toBe('done')
  expect(live.draft.size).toBe(0)
  expect(fetched).toHaveLength(1)
})
