/** The GPU engine: WGSL through Dawn, one child process per device. */

import { operatingError } from '#ground/base/errors.ts'
import { type DeviceStatus, type Engine, type EngineEvents, type EngineWork, ofDevices } from '../engine.ts'
import { engineErrors } from '../errors.ts'
import type { NonceRange } from '../range.ts'
import { WorkAcknowledgement } from '../work-acknowledgement.ts'
import { GpuDevice } from './device.ts'
import { alikeHint, cardEnv } from './identical.ts'
import { SEARCHED_WORK_BYTES } from './layout.ts'
import type { AdapterChoice, AdapterInfo, Tuning } from './messages.ts'

export interface GpuEngineOptions {
  /** One device each. Null means the first that Dawn finds. */
  readonly adapters: readonly (AdapterChoice | null)[]
  /** One for each device. They must not overlap those of other engines (splitRanges). */
  readonly ranges: readonly NonceRange[]
  /** Target service time of batches. */
  readonly batchMs?: number | undefined
  /** Lanes per workgroup, nonces per lane and dispatch, and whether sums are split over two pipes. Tuned by default. */
  readonly workgroup?: number | undefined
  readonly trips?: number | undefined
  readonly split?: boolean | undefined
  /** Batches submitted at once. */
  readonly inFlight?: number | undefined
  readonly allowSoftware?: boolean | undefined
  /** File of tuned values (tuningFileOf), or null for no tuning. */
  readonly tuningFile: string | null
  readonly retune?: boolean | undefined
  /** Environment variables for the child processes, in addition to those of this one. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Program of the child processes. Tests inject a faulty one. */
  readonly program?: URL | undefined
  readonly silenceMs?: number | undefined
  readonly restartMs?: number | undefined
  readonly settledMs?: number | undefined
  /** In [0, 1), for the jitter of restarts. */
  readonly random?: (() => number) | undefined
}

/** On a fast card, 0.5 % slower than batches of 25 ms, but new work is searched in less than half the time. */
export const DEFAULT_BATCH_MS = 10
/**
 * Silence timeout of a device in batches, and its minimum, because software drivers are slow. A hung device is detected
 * within 5 s.
 */
const SILENT_BATCHES = 10
const MIN_SILENCE_MS = 4500
const RESTART_MS = 1000
const SETTLED_MS = 1_000

export class GpuEngine implements Engine {
  readonly name = 'gpu'
  readonly #devices: readonly GpuDevice[]
  readonly #adapters: readonly (AdapterChoice | null)[]
  #events: EngineEvents | null = null
  readonly #acknowledgement = new WorkAcknowledgement()
  #hashes = 0
  #hasWarnedOfLength = false
  /** Why the current work is not searched, as a sentence, or null. */
  #unable: string | null = null

  constructor(options: GpuEngineOptions) {
    const { batchMs = DEFAULT_BATCH_MS, adapters, ranges } = options
    if (adapters.length === 0 || ranges.length < adapters.length) throw new RangeError('each device needs a range')
    this.#adapters = adapters
    this.#devices = adapters.map((adapter, index) => {
      const name = `gpu${index}`
      return new GpuDevice({
        name,
        settings: {
          adapter,
          batchMs,
          range: ranges[index],
          allowSoftware: options.allowSoftware ?? false,
          inFlight: options.inFlight ?? 2,
          workgroup: options.workgroup ?? null,
          trips: options.trips ?? null,
          split: options.split ?? null,
          tuningFile: options.tuningFile,
          retune: options.retune ?? false,
        },
        env: deviceEnv(adapter, options.env ?? {}),
        program: options.program,
        silenceMs: options.silenceMs ?? Math.max(MIN_SILENCE_MS, SILENT_BATCHES * batchMs),
        restartMs: options.restartMs ?? RESTART_MS,
        settledMs: options.settledMs ?? SETTLED_MS,
        random: options.random ?? Math.random,
        onCandidate: (candidate) => this.#events?.onCandidate(candidate),
        onWarning: (message) => this.#events?.onWarning(message),
        onUp: () => this.#acknowledgement.deviceUp(name),
        onTook: (sequence) => this.#acknowledgement.acknowledge(name, sequence),
        onHashes: (nonces) => {
          this.#hashes += nonces
        },
        onDown: () => this.#acknowledgement.deviceDown(name),
      })
    })
  }

  /**
   * Starts all devices. Mining begins without a device that failed but may work later; it is restarted.
   * @throws NewcutError KERNEL_REFUSED if no device can ever search, or if the shader does not support this work
   */
  async start(workBytes: number, events: EngineEvents): Promise<void> {
    if (!gpuSearches(workBytes)) {
      throw operatingError(engineErrors.workForGpu, { bytes: workBytes })
    }
    this.#events = events
    for (const [index, adapter] of this.#adapters.entries()) {
      const alike = adapter?.alike ?? 1
      if (alike > 1) events.onWarning(`gpu${index}, ${adapter?.name}: ${alikeHint(alike)}`)
    }
    const failures = await Promise.all(this.#devices.map((device) => device.start()))
    if (!this.#devices.every(({ isParked }) => isParked)) return
    await this.stop()
    throw operatingError(engineErrors.noGpu, { reasons: failures.join('; ') })
  }

  async setWork(work: EngineWork): Promise<boolean> {
    if (this.#events === null) return false
    const given = this.#searchable(ofDevices(work))
    for (const device of this.#devices) device.setWork(given)
    return this.#acknowledgement.await(work.sequence)
  }

  hashes(): number {
    return this.#hashes
  }

  devices(): readonly DeviceStatus[] {
    return this.#devices.map((device) => {
      const status = device.status()
      if (this.#unable === null || status.state !== undefined) return status
      return { ...status, state: 'unable', reason: this.#unable }
    })
  }

  /** Adapters of the devices; null for one that has not been opened. */
  adapters(): readonly (AdapterInfo | null)[] {
    return this.#devices.map(({ adapter }) => adapter)
  }

  /** For benchmarks and tests. */
  details(): readonly GpuDeviceDetails[] {
    return this.#devices.map(({ tuning, pid, batches }) => ({ tuning, pid, batches }))
  }

  async stop(): Promise<void> {
    this.#events = null
    this.#acknowledgement.cancel()
    await Promise.all(this.#devices.map((device) => device.stop()))
  }

  /** Replaces unsupported work by no work. */
  #searchable(work: EngineWork): EngineWork {
    this.#unable = null
    if (work.bytes === null || gpuSearches(work.bytes.length)) return work
    this.#unable = `the GPU cannot search work of ${work.bytes.length} bytes`
    if (!this.#hasWarnedOfLength) this.#events?.onWarning(this.#unable)
    this.#hasWarnedOfLength = true
    return { ...work, bytes: null }
  }
}

/** Environment variables of a device's process. One of several identical cards must not see the others. */
function deviceEnv(adapter: AdapterChoice | null, env: Readonly<Record<string, string>>): Record<string, string> {
  if (adapter?.card === undefined) return env
  return { ...env, ...cardEnv(adapter.card, { ...process.env, ...env }) }
}

interface GpuDeviceDetails {
  readonly tuning: Tuning | null
  readonly pid: number | undefined
  readonly batches: { readonly count: number; readonly serviceMs: number }
}

/** Whether the shader supports work of this length. */
export function gpuSearches(workBytes: number): boolean {
  return workBytes === SEARCHED_WORK_BYTES
}
