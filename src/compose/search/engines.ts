/** Who searches: from plain options to engines. An engine's modules are loaded only when it is made. */

import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { NewcutError } from '../../core/errors.ts'
import type { KernelPreference } from '../../engine/cpu/names.ts'
import type { Priority } from '../../engine/cpu/priority.ts'
import type { Engine } from '../../engine/engine.ts'
import type { GpuEngineOptions } from '../../engine/gpu/gpu.ts'
import type { AdapterInfo } from '../../engine/gpu/messages.ts'
import type { Leader } from '../../engine/leader.ts'
import { splitRanges } from '../../engine/range.ts'
import type { RigHost } from '../../engine/rigs.ts'
import type { Link } from '../../fleet/link.ts'
import type { Snapshot } from '../../mine/stats.ts'
import { systemClock } from '../../platform/clock.ts'
import { descriptorLimit, descriptorsForClients } from '../../platform/descriptors.ts'
import { packageVersion } from '../../platform/version.ts'

/** A program of the user's own, the rigs of a fleet, or the engines that newcut has. */
export type EngineSetup = (ExternalSetup | OwnSetup | FleetSetup) & {
  /** Rigs search beside them; undefined: none are let in. */
  readonly rigs?: StratumSetup | undefined
}

/** The server for rigs that speak stratum. */
export interface StratumSetup {
  readonly host: string
  readonly port: number
  /** Hashes that first shares take on average; null: by the kind of the rig. */
  readonly difficulty: number | null
  /** Files in PEM form; null: no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** Most rigs that are connected from one address. */
  readonly perAddress: number
}

export interface ExternalSetup {
  readonly kind: 'external'
  readonly command: string
}

/** Rigs on other machines; this process leads them, or stands by. */
export interface FleetSetup {
  readonly kind: 'fleet'
  /** Connected already. */
  readonly link: Link
  /** Where this process runs, for people. */
  readonly name: string
  /** How many servers of a cluster of NATS keep a copy; undefined: as it is, 1 for a new fleet. */
  readonly replicas?: number | undefined
}

export interface OwnSetup {
  readonly kind: 'own'
  /** `auto`: a thread for each core, and one fewer when a GPU searches, since a core has to feed it. */
  readonly threads: number | 'auto'
  readonly kernel: KernelPreference
  readonly priority: Priority
  /** null: no GPU searches. */
  readonly gpu: GpuSetup | null
}

export interface GpuSetup {
  /** `auto`: real GPUs that can search this work, if there are any. Else `all`, or numbers and names with commas. */
  readonly which: string
  /** An option that the user gave and that only a GPU uses (`--gpu-workgroup`); null: none. */
  readonly neededBy: string | null
  readonly batchMs: number
  /** undefined: tuned. */
  readonly workgroup: number | undefined
  readonly allowSoftware: boolean
  readonly retune: boolean
  /** Where results of tuning are kept; null: nowhere. */
  readonly tuningFile: GpuEngineOptions['tuningFile']
}

/** An engine, and what else it is: a server for rigs, the leader of a fleet. */
interface Made {
  readonly engine: Engine
  readonly rigs?: RigHost
  readonly leader?: Leader
}

/** An engine, by what it is made of: the same parts make the same engine. */
interface Plan {
  readonly parts: string
  readonly make: () => Promise<Made>
}

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
  #running: readonly Running[] = []
  /** The adapters that were found last, and for which setup: finding them takes seconds. */
  #found: { readonly gpu: string; readonly adapters: readonly AdapterInfo[] } | null = null

  /** For work of this length. */
  constructor(workBytes: number, stopped: AbortSignal) {
    this.#workBytes = workBytes
    this.#stopped = stopped
  }

  /** Those that search now. */
  get running(): readonly Engine[] {
    return this.#running.map(({ engine }) => engine)
  }

  /** What rigs and fleets tell that search now. */
  beside(): Pick<Snapshot, 'rigs' | 'fleet'> {
    const rigs = this.#running.find((each) => each.rigs !== undefined)?.rigs?.status()
    const fleet = this.#running.find((each) => each.leader !== undefined)?.leader?.status()
    return { ...(rigs && { rigs }), ...(fleet && { fleet }) }
  }

  /**
   * What is to change for this setup: engines whose parts stay the same stay. Throws NewcutError BAD_OPTION when nothing
   * would search, BAD_INPUT for a certificate that cannot be used, and the signal's reason when it is stopped meanwhile.
   */
  async replacementFor(setup: EngineSetup): Promise<Replacement> {
    const own = await this.#plansFor(setup)
    const plans = setup.rigs === undefined ? own : [...own, await this.#rigsPlan(setup.rigs)]
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

  async #plansFor(setup: EngineSetup): Promise<Plan[]> {
    if (setup.kind === 'external') return [externalPlan(setup)]
    return setup.kind === 'fleet' ? [fleetPlan(setup)] : this.#ownPlans(setup)
  }

  async #ownPlans(setup: Extract<EngineSetup, OwnSetup>): Promise<Plan[]> {
    const { gpu, kernel, priority } = setup
    const adapters = gpu === null ? [] : await this.#adaptersFor(gpu)
    const threads = threadCount(setup, adapters.length)
    // The processor and the cards have a half each, also while one of them has no engine: it may get one later.
    const [cpuRanges, gpuRanges] = splitRanges([Math.max(1, threads), Math.max(1, adapters.length)], Math.random)
    const plans: Plan[] = []
    if (gpu !== null && adapters.length > 0) {
      plans.push({ parts: JSON.stringify(['gpu', gpu, adapters]), make: () => gpuEngine(gpu, adapters, gpuRanges) })
    }
    if (threads > 0) {
      const make = async () => {
        const { CpuEngine } = await import('../../engine/cpu/cpu.ts')
        return { engine: new CpuEngine({ ranges: cpuRanges, kernel, priority, clock: systemClock }) }
      }
      plans.push({ parts: JSON.stringify(['cpu', threads, kernel, priority]), make })
    }
    if (plans.length > 0 || setup.rigs !== undefined) return plans
    throw new NewcutError('BAD_OPTION', '--threads 0: nothing would search', {
      hint: gpu === null ? 'give --threads at least 1' : 'there is no GPU to mine with; newcut devices says why',
    })
  }

  async #rigsPlan(rigs: StratumSetup): Promise<Plan> {
    const { RIG_WORK_BYTES } = await import('../../engine/stratum/jobs.ts')
    if (this.#workBytes !== RIG_WORK_BYTES) {
      throw new NewcutError('BAD_OPTION', '--stratum-listen has no effect: no rig can search work of this network', {
        hint: `its work has ${this.#workBytes} bytes, and rigs know work of ${RIG_WORK_BYTES} bytes only`,
      })
    }
    const make = async () => {
      const { limitsFor } = await import('../../engine/stratum/limits.ts')
      const { StratumEngine } = await import('../../engine/stratum/stratum.ts')
      const descriptors = descriptorLimit()
      const limits = limitsFor(rigs.perAddress, descriptors === null ? null : descriptorsForClients(descriptors))
      const engine = new StratumEngine({ ...rigs, limits, clock: systemClock, random: Math.random })
      return { engine, rigs: engine }
    }
    return { parts: JSON.stringify(['rigs', rigs]), make }
  }

  async #adaptersFor(gpu: GpuSetup): Promise<readonly AdapterInfo[]> {
    const key = JSON.stringify(gpu)
    if (this.#found?.gpu !== key) {
      this.#found = { gpu: key, adapters: await wantedAdapters(gpu, this.#workBytes, this.#stopped) }
    }
    return this.#found.adapters
  }
}

function externalPlan({ command }: ExternalSetup): Plan {
  const make = async () => {
    const { ExternalEngine } = await import('../../engine/external.ts')
    return { engine: new ExternalEngine({ command, clock: systemClock }) }
  }
  return { parts: JSON.stringify(['external', command]), make }
}

function fleetPlan({ link, name, replicas }: FleetSetup): Plan {
  const shared = { session: randomUUID(), clock: systemClock, random: Math.random, version: packageVersion }
  const make = async () => {
    const { FleetEngine } = await import('../../engine/fleet/fleet.ts')
    const engine = new FleetEngine({ link, name, replicas, ...shared })
    return { engine, leader: engine }
  }
  return { parts: 'fleet', make }
}

/** Where rigs connect, `HOST:PORT`, and how to stop that. */
export interface ListeningRigs {
  readonly address: string
  readonly close: () => Promise<void>
}

/** Begins to listen for rigs; null: none are let in. Throws NewcutError PORT_BUSY. */
export async function listenForRigs(rigs: RigHost | undefined): Promise<ListeningRigs | null> {
  if (rigs === undefined) return null
  const { host, port } = await rigs.listen()
  return { address: `${host.includes(':') ? `[${host}]` : host}:${port}`, close: () => rigs.close() }
}

/** The adapters that the user asked for. Throws NewcutError BAD_OPTION when one is missing. */
async function wantedAdapters(gpu: GpuSetup, workBytes: number, stopped: AbortSignal): Promise<readonly AdapterInfo[]> {
  const { which, allowSoftware } = gpu
  const { gpuSearches } = await import('../../engine/gpu/gpu.ts')
  if (which === 'auto' && !gpuSearches(workBytes)) return refuseIfNeeded(gpu, 'GPUs do not search work of this network')
  const { chooseAdapters, listAdapters } = await import('../../engine/gpu/adapters.ts')
  const { adapters, problem } = await listAdapters({ signal: stopped })
  stopped.throwIfAborted()
  if (which === 'auto') {
    const real = chooseAdapters('all', adapters, false)
    return real.length > 0 ? real : refuseIfNeeded(gpu, problem ?? 'there are software drivers only')
  }
  if (problem !== null) throw new NewcutError('BAD_OPTION', `--gpu ${which}: ${problem}`)
  const chosen = chooseAdapters(which, adapters, allowSoftware)
  if (chosen.length > 0) return chosen
  const hint = '--allow-software mines with it all the same; the CPU engine is faster'
  throw new NewcutError('BAD_OPTION', `--gpu ${which}: there are software drivers only`, { hint })
}

function refuseIfNeeded({ neededBy }: GpuSetup, problem: string): readonly AdapterInfo[] {
  if (neededBy === null) return []
  throw new NewcutError('BAD_OPTION', `${neededBy} has no effect: no GPU would mine`, { hint: problem })
}

function threadCount({ threads }: OwnSetup, gpus: number): number {
  if (threads !== 'auto') return threads
  return gpus === 0 ? availableParallelism() : Math.max(0, availableParallelism() - 1)
}

async function gpuEngine(
  { batchMs, workgroup, allowSoftware, retune, tuningFile }: GpuSetup,
  adapters: readonly AdapterInfo[],
  ranges: ReturnType<typeof splitRanges>[number],
): Promise<Made> {
  const { GpuEngine } = await import('../../engine/gpu/gpu.ts')
  return { engine: new GpuEngine({ adapters, ranges, batchMs, workgroup, allowSoftware, tuningFile, retune }) }
}
