/** Changes the setup of a running miner. */
import type { StatedPower } from '#mining/mine/energy.ts'
import type { Miner } from '#mining/mine/miner.ts'
import type { Money } from '#mining/mine/money.ts'
import type { Prices } from '#mining/mine/profit.ts'
import type { SearchTuning } from '#mining/tune/tune-for.ts'
import { checkPausing, type PauseController, type PausingSetup } from './pausing.ts'
import type { PowerMonitor } from './power.ts'
import type { Engines } from './search/engines.ts'
import type { MinerSetup } from './setup.ts'
import { type ConnectedSource, checkChains } from './source/connected-source.ts'

/** The parts of a setup that can change: search, chains, token, pauses, stated power and prices. */
export interface LiveSetup {
  readonly search: MinerSetup['search']
  readonly chains?: readonly number[] | undefined
  readonly token?: string | undefined
  readonly pausing?: PausingSetup | undefined
  readonly power?: StatedPower | undefined
  readonly prices?: Prices | undefined
}

export function liveSetupOf({ search, source, http, pausing, power, prices }: MinerSetup): LiveSetup {
  return { search, chains: chainsOf(source), token: http?.token, pausing, power, prices }
}

const chainsOf = (source: MinerSetup['source']) => ('chains' in source ? source.chains : undefined)

interface ChangedMiner {
  readonly miner: Pick<Miner, 'exchange'>
  readonly engines: Engines
  readonly reached: Pick<ConnectedSource, 'choice' | 'node'>
  /** The setup at the start. */
  readonly setup: MinerSetup
  readonly pauses: Pick<PauseController, 'set'>
  readonly power: Pick<PowerMonitor, 'set'>
  readonly money: Pick<Money, 'setPrices'>
  /** Applies what was chosen for efficiency at the start. */
  readonly tuned: SearchTuning
  /** Replaces the HTTP token. With undefined, nobody may change anything. */
  readonly setToken: (token: string | undefined) => void
}

/**
 * @returns a function that applies another setup: one change at a time, each entirely or not at all. It resolves when
 * the change is in effect, and throws NewcutError if it is impossible.
 */
export function changerOf({
  miner,
  engines,
  reached: { choice, node },
  setup,
  pauses,
  power: stated,
  money,
  tuned,
  setToken,
}: ChangedMiner): (next: LiveSetup) => Promise<void> {
  let wanted = chainsOf(setup.source)
  let last: Promise<unknown> = Promise.resolve()
  const change = async ({ search, chains, token, pausing = {}, power = {}, prices = {} }: LiveSetup) => {
    if (node !== null) checkChains(chains, node.client)
    await checkPausing(pausing)
    // Steps that can fail come first.
    const { leaving, coming, commit: done } = await engines.replacementFor(tuned(search))
    if (leaving.length + coming.length > 0) await miner.exchange(leaving, coming)
    done()
    if (String(chains) !== String(wanted)) choice?.setChains(chains)
    wanted = chains
    setToken(token)
    pauses.set(pausing)
    stated.set(power)
    money.setPrices(prices)
  }
  return (next) => {
    const changed = last.then(() => change(next))
    last = changed.catch(() => undefined)
    return changed
  }
}
