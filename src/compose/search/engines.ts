/** Who searches: from plain options to engines. */
import { NewcutError } from '../../core/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AdapterInfo } from '../../engine/gpu/messages.ts'
import type { Leader } from '../../engine/leader.ts'
import type { RigHost } from '../../engine/rigs.ts'
import type { Snapshot } from '../../mine/snapshot.ts'
import type { GpuSetup, MinerSetup, OwnSearch } from '../setup.ts'
import type { RigLinesOf } from '../source/reached.ts'
import type { Made, Plan } from './plan.ts'
import type { ShareKeeping } from './shares.ts'

type Search = MinerSetup['search']

interface Running extends Made {
  readonly parts: string
}

/** Engines that are to take the place of others. */
export interface Replacement {
  readonly leaving: readonly Engine[]
  readonly coming: readonly Engine[]
  /** The engines among all that search then whose devices are parts of this machine. */
  readonly own: readonly Engine[]
  /** The server for rigs among all that search then; undefined: there is none. */
  readonly rigs: RigHost | undefined
  /** The same for the leader of a fleet. */
  readonly leader: Leader | undefined
  /** Called when they have. */
  readonly done: () => void
}

/** The engines that a miner has, and which others it gets when the setup changes. */
export class Engines {
  readonly #workBytes: number
  readonly #stopped: AbortSignal
  readonly #keeping: ShareKeeping | null
  readonly #rigLines: RigLinesOf | undefined
  #running: readonly Running[] = []
  /** The adapters that were found last, and for which setup: finding them takes seconds. */
  #found: { readonly gpu: string; readonly adapters: readonly AdapterInfo[] } | null = null

  /**
   * For work of this length. `keeping`: whose shares are kept where rigs are let in; null: none are kept. `rigLines`:
   * sessions with a pool for rigs, which else search the work of the miner.
   */
  constructor(workBytes: number, stopped: AbortSignal, keeping: ShareKeeping | null = null, rigLines?: RigLinesOf) {
    this.#workBytes = workBytes
    this.#stopped = stopped
    this.#keeping = keeping
    this.#rigLines = rigLines
  }

  /** Those that search now. */
  get running(): readonly Engine[] {
    return this.#running.map(({ engine }) => engine)
  }

  /** The status of the rigs and fleets that search now. */
  beside(): Pick<Snapshot, 'rigs' | 'fleet'> {
    const rigs = this.#running.find((each) => each.rigs !== undefined)?.rigs?.status()
    const fleet = this.#running.find((each) => each.leader !== undefined)?.leader?.status()
    return { ...(rigs && { rigs }), ...(fleet && { fleet }) }
  }

  /**
   * What is to change for this setup: engines whose parts stay the same stay. Throws NewcutError BAD_OPTION when nothing
   * would search, BAD_INPUT for a certificate that cannot be used, and the signal's reason when it is stopped meanwhile.
   */
  async replacementFor(setup: Search): Promise<Replacement> {
    const plans = await this.#plansFor(setup)
    const before = this.#running
    const next: readonly Running[] = await Promise.all(
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
      done: () => {
        this.#running = next
      },
    }
  }

  async #plansFor(search: Search): Promise<Plan[]> {
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

  async #stratumPlans({ stratum }: Exclude<Search, { readonly kind: 'leader' }>): Promise<Plan[]> {
    if (stratum === undefined) return []
    if (this.#rigLines !== undefined) {
      return [(await import('./passthrough.ts')).passthroughPlan(stratum, this.#workBytes, this.#rigLines)]
    }
    return [(await import('./stratum.ts')).stratumPlan(stratum, this.#workBytes, this.#keeping)]
  }

  async #adaptersFor(gpu: GpuSetup): Promise<readonly AdapterInfo[]> {
    const key = JSON.stringify(gpu)
    if (this.#found?.gpu !== key) {
      const { wantedAdapters } = await import('./own.ts')
      this.#found = { gpu: key, adapters: await wantedAdapters(gpu, this.#workBytes, this.#stopped) }
    }
    return this.#found.adapters
  }
}

function nothingSearches({ gpu }: OwnSearch): NewcutError {
  return new NewcutError('BAD_OPTION', '--threads 0: nothing would search', {
    hint: gpu === null ? 'give --threads at least 1' : 'there is no GPU to mine with; newcut devices says why',
  })
}

/** Where rigs connect, `HOST:PORT`, and how to stop that. */
export interface ListeningRigs {
  readonly address: string
  /** Where proxies of newcut connect; null: none are let in. */
  readonly proxies: string | null
  readonly close: () => Promise<void>
}

/** Begins to listen for rigs; null: none are let in. Throws NewcutError PORT_BUSY. */
export async function listenForRigs(rigs: RigHost | undefined): Promise<ListeningRigs | null> {
  if (rigs === undefined) return null
  const { proxies = null, ...own } = await rigs.listen()
  return { address: addressText(own), proxies: proxies && addressText(proxies), close: () => rigs.close() }
}

function addressText({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
