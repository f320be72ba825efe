/** Creates the engines of a setup, and replaces them when the setup changes. */
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import type { Engine } from '#mining/engine/engine.ts'
import type { AdapterInfo } from '#mining/engine/gpu/messages.ts'
import type { Leader } from '#mining/engine/leader.ts'
import type { RigHost } from '#mining/engine/rigs.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import type { EnginesFor, GpuSetup, OwnSearch } from '#mining/tune/own-search.ts'
import { composeErrors } from '../errors.ts'
import type { MinerSetup } from '../setup.ts'
import type { RigLinesOf } from '../source/connected-source.ts'
import type { CreatedEngine, EnginePlan } from './plan.ts'
import type { ShareKeeping } from './shares.ts'

type Search = MinerSetup['search']

interface RunningEngine extends CreatedEngine {
  readonly parts: string
}

/** Engines that replace others. */
interface Replacement {
  readonly leaving: readonly Engine[]
  readonly coming: readonly Engine[]
  /** All engines after the replacement whose devices belong to this machine. */
  readonly own: readonly Engine[]
  /** The stratum server after the replacement, if any. */
  readonly rigs: RigHost | undefined
  /** The fleet leader after the replacement, if any. */
  readonly leader: Leader | undefined
  /** To be called after the replacement. */
  readonly commit: () => void
}

/** The engines of a miner, and their replacements when the setup changes. */
export class Engines {
  readonly #workBytes: number
  readonly #stopped: AbortSignal
  readonly #keeping: ShareKeeping | null
  readonly #rigLines: RigLinesOf | undefined
  #running: readonly RunningEngine[] = []
  /** One-entry cache of the GPU adapters by setup: finding them takes seconds. */
  #adapters: { readonly gpu: string; readonly adapters: readonly AdapterInfo[] } | null = null

  /**
   * @param workBytes length of the work
   * @param keeping where to keep shares of rigs, or null
   * @param rigLines pool sessions for rigs; without them, rigs search the miner's own work
   */
  constructor(workBytes: number, stopped: AbortSignal, keeping: ShareKeeping | null = null, rigLines?: RigLinesOf) {
    this.#workBytes = workBytes
    this.#stopped = stopped
    this.#keeping = keeping
    this.#rigLines = rigLines
  }

  /** The engines that search now. */
  get running(): readonly Engine[] {
    return this.#running.map(({ engine }) => engine)
  }

  /** The status of the stratum server and of the fleet. */
  status(): Pick<Snapshot, 'rigs' | 'fleet'> {
    const rigs = this.#running.find((each) => each.rigs !== undefined)?.rigs?.status()
    const fleet = this.#running.find((each) => each.leader !== undefined)?.leader?.status()
    return { ...(rigs && { rigs }), ...(fleet && { fleet }) }
  }

  /**
   * Plans the replacement for a setup. Engines with the same parts stay.
   * @throws NewcutError BAD_OPTION if nothing would search, BAD_INPUT for an unusable certificate, and the signal's
   *  reason when stopped
   */
  async replacementFor(setup: Search): Promise<Replacement> {
    const plans = await this.#plansFor(setup)
    const before = this.#running
    const next: readonly RunningEngine[] = await Promise.all(
      plans.map(async ({ parts, make }) => {
        return before.find((each) => each.parts === parts) ?? { parts, ...(await make()) }
      }),
    )
    return {
      leaving: before.filter((each) => !next.includes(each)).map(({ engine }) => engine),
      coming: next.filter((each) => !before.includes(each)).map(({ engine }) => engine),
      own: next.filter(({ rigs, leader }) => rigs === undefined && leader === undefined).map(({ engine }) => engine),
      rigs: next.find(({ rigs }) => rigs !== undefined)?.rigs,
      leader: next.find(({ leader }) => leader !== undefined)?.leader,
      commit: () => {
        this.#running = next
      },
    }
  }

  async #plansFor(search: Search): Promise<EnginePlan[]> {
    switch (search.kind) {
      case 'leader':
        return [(await import('./leader.ts')).leaderPlan(search)]
      case 'external':
        return [(await import('./external.ts')).externalPlan(search), ...(await this.#stratumPlans(search))]
      case 'own': {
        const { ownPlans } = await import('./own.ts')
        const own = await ownPlans(search, (gpu) => this.#adaptersFor(gpu))
        if (own.length === 0 && search.stratum === undefined) throw nothingSearches(search)
        return [...own, ...(await this.#stratumPlans(search))]
      }
    }
  }

  async #stratumPlans({ stratum }: Exclude<Search, { readonly kind: 'leader' }>): Promise<EnginePlan[]> {
    if (stratum === undefined) return []
    if (this.#rigLines !== undefined) {
      return [(await import('./passthrough.ts')).passthroughPlan(stratum, this.#workBytes, this.#rigLines)]
    }
    return [(await import('./stratum.ts')).stratumPlan(stratum, this.#workBytes, this.#keeping)]
  }

  async #adaptersFor(gpu: GpuSetup): Promise<readonly AdapterInfo[]> {
    const key = JSON.stringify(gpu)
    if (this.#adapters?.gpu !== key) {
      const { chooseOwnAdapters } = await import('#mining/tune/own-search.ts')
      this.#adapters = { gpu: key, adapters: await chooseOwnAdapters(gpu, this.#workBytes, this.#stopped) }
    }
    return this.#adapters.adapters
  }
}

/** Creates engines for trials of a search, before those of the miner. Rigs and shares have no part in them. */
export const enginesFor =
  (stopped: AbortSignal): EnginesFor =>
  async (search, workBytes) =>
    (await new Engines(workBytes, stopped).replacementFor(search)).own

function nothingSearches({ gpu }: OwnSearch): NewcutError {
  const advice = gpu === null ? 'give `threads` at least 1' : 'there is no GPU to mine with; newcut devices says why'
  return operatingError(composeErrors.nothingSearches, { advice })
}

/** A listening stratum server, and its address `HOST:PORT`. */
interface ListeningRigs {
  readonly address: string
  /** Address for newcut proxies, or null. */
  readonly proxies: string | null
  readonly close: () => Promise<void>
}

/**
 * Starts to listen for rigs. @returns null without a stratum server.
 * @throws NewcutError PORT_BUSY
 */
export async function listenForRigs(rigs: RigHost | undefined): Promise<ListeningRigs | null> {
  if (rigs === undefined) return null
  const { proxies = null, ...own } = await rigs.listen()
  return { address: addressText(own), proxies: proxies && addressText(proxies), close: () => rigs.close() }
}

function addressText({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
