/** Changes a miner while it mines, as far as that can be done. */
import type { Miner } from '../mine/miner.ts'
import { checkPausing, type Pausing } from './pausing.ts'
import type { Engines } from './search/engines.ts'
import type { MinerSetup } from './setup.ts'
import { checkChains, type Origin } from './source/reach.ts'

/** What of a setup can be changed: who searches, when, which chains, and the token. All else stays as it was at the start. */
export type Changeable = Pick<MinerSetup, 'engines' | 'chains' | 'http' | 'pausing'>

interface Changed {
  readonly miner: Pick<Miner, 'exchange'>
  readonly engines: Engines
  readonly origin: Pick<Origin, 'choice' | 'node'>
  /** Chains that it mines at first. */
  readonly chains: readonly number[] | undefined
  readonly pauses: Pick<Pausing, 'set'>
  /** Takes another token; undefined: nobody may change anything. */
  readonly setToken: (token: string | undefined) => void
}

/**
 * What brings a miner to another setup: one change at a time, each as a whole. Resolves when it is in effect. Throws
 * NewcutError when it cannot be: then nothing has changed.
 */
export function changerOf({
  miner,
  engines,
  origin: { choice, node },
  chains: firstChains,
  pauses,
  setToken,
}: Changed): (next: Changeable) => Promise<void> {
  let wanted = firstChains
  let last: Promise<unknown> = Promise.resolve()
  const change = async ({ engines: setup, chains, http, pausing = {} }: Changeable) => {
    if (node !== null) checkChains(chains, node.client)
    await checkPausing(pausing)
    // What may fail comes first.
    const { leaving, coming, done } = await engines.replacementFor(setup)
    if (leaving.length + coming.length > 0) await miner.exchange(leaving, coming)
    done()
    if (String(chains) !== String(wanted)) choice?.setChains(chains)
    wanted = chains
    setToken(http?.token)
    pauses.set(pausing)
  }
  return (next) => {
    const changed = last.then(() => change(next))
    last = changed.catch(() => undefined)
    return changed
  }
}
