/** Changes a miner while it mines, as far as that can be done. */
import type { Miner } from '../mine/miner.ts'
import { checkPausing, type Pausing, type PausingSetup } from './pausing.ts'
import type { Engines } from './search/engines.ts'
import type { MinerSetup } from './setup.ts'
import { checkChains, type ReachedSource } from './source/reached.ts'

/** What of a setup can be changed: who searches, when, which chains, and the token. All else stays as it was at the start. */
export interface Changeable {
  readonly search: MinerSetup['search']
  readonly chains?: readonly number[] | undefined
  readonly token?: string | undefined
  readonly pausing?: PausingSetup | undefined
}

export function changeableOf({ search, source, http, pausing }: MinerSetup): Changeable {
  return { search, chains: chainsOf(source), token: http?.token, pausing }
}

const chainsOf = (source: MinerSetup['source']) => ('chains' in source ? source.chains : undefined)

interface Changed {
  readonly miner: Pick<Miner, 'exchange'>
  readonly engines: Engines
  readonly reached: Pick<ReachedSource, 'choice' | 'node'>
  /** The setup at the start. */
  readonly setup: MinerSetup
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
  reached: { choice, node },
  setup,
  pauses,
  setToken,
}: Changed): (next: Changeable) => Promise<void> {
  let wanted = chainsOf(setup.source)
  let last: Promise<unknown> = Promise.resolve()
  const change = async ({ search, chains, token, pausing = {} }: Changeable) => {
    if (node !== null) checkChains(chains, node.client)
    await checkPausing(pausing)
    // What may fail comes first.
    const { leaving, coming, done } = await engines.replacementFor(search)
    if (leaving.length + coming.length > 0) await miner.exchange(leaving, coming)
    done()
    if (String(chains) !== String(wanted)) choice?.setChains(chains)
    wanted = chains
    setToken(token)
    pauses.set(pausing)
  }
  return (next) => {
    const changed = last.then(() => change(next))
    last = changed.catch(() => undefined)
    return changed
  }
}
