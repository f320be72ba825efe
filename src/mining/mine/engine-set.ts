/** The engines of a miner: active, starting and leaving ones, and the counters of devices that are gone. */
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import { type DeviceStatus, type Engine, type EngineEvents, type EngineWork, noWork } from '../engine/engine.ts'
import type { EngineDevice } from './rates.ts'

/** Timeout for a leaving engine to stop searching. After it, the engine is stopped while it searches. */
const MAX_LEAVE_MS = 3_000
/** Wait for late claims: `setWork` does not wait for the slowest devices, and what they found still counts. */
const LAST_CLAIMS_MS = 100

export class EngineSet {
  readonly #clock: Clock
  /** Active engines. */
  #engines: readonly Engine[] = []
  /** Engines without work that may still send claims. */
  #leaving: readonly Engine[] = []
  /** Engines that are starting. */
  #starting: readonly Engine[] = []
  /** Counters of devices of stopped engines, by engine and device. */
  readonly #former = new Map<string, EngineDevice>()
  #formerHashes = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Starts the first engines and keeps those that start.
   * @throws the first failure if none starts
   */
  async start(engines: readonly Engine[], workBytes: number, events: EngineEvents): Promise<void> {
    this.#starting = engines
    const results = await Promise.allSettled(engines.map((engine) => engine.start(workBytes, events)))
    this.#starting = []
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    this.#engines = engines.filter((_, index) => results[index].status === 'fulfilled')
    if (this.#engines.length === 0) throw failures[0]
    for (const failure of failures) events.onWarning(describeError(failure))
  }

  /**
   * Starts further engines, all or none. `exchange` makes them active.
   * @throws the first failure
   */
  async prepare(engines: readonly Engine[], workBytes: number, events: EngineEvents): Promise<void> {
    this.#starting = engines
    try {
      await Promise.all(engines.map((engine) => engine.start(workBytes, events)))
    } catch (error) {
      await Promise.all(engines.map((engine) => engine.stop()))
      throw error
    } finally {
      this.#starting = []
    }
  }

  /**
   * Makes the prepared engines active and takes the leaving ones out, in one step.
   * @returns the engines that leave
   */
  exchange(leaving: readonly Engine[], coming: readonly Engine[]): readonly Engine[] {
    const out = this.#engines.filter((engine) => leaving.includes(engine))
    this.#engines = [...this.#engines.filter((engine) => !out.includes(engine)), ...coming]
    this.#leaving = [...this.#leaving, ...out]
    return out
  }

  /**
   * Stops leaving engines once they search nothing and their last claims have arrived.
   * @param sequence higher than that of any earlier work
   * @param signal ends all waits
   */
  async dismiss(leaving: readonly Engine[], sequence: number, signal: AbortSignal): Promise<void> {
    await Promise.all(
      leaving.map(async (engine) => {
        const over = new AbortController()
        const limit = sleep(this.#clock, MAX_LEAVE_MS, AbortSignal.any([signal, over.signal]))
        await Promise.race([engine.setWork(noWork(sequence)), limit])
        over.abort()
        await sleep(this.#clock, LAST_CLAIMS_MS, signal)
        await engine.stop()
        this.#remember(engine)
      }),
    )
  }

  /**
   * Gives work to all engines.
   * @returns true if nearly all devices searched it
   */
  async setWork(work: EngineWork): Promise<boolean> {
    const taken = await Promise.all(this.#engines.map((engine) => engine.setWork(work)))
    return taken.every((isTaken) => isTaken)
  }

  /** Hashes since the start, including engines that have left. Never decreases. */
  hashes(): number {
    const engines = [...this.#engines, ...this.#leaving]
    return engines.reduce((sum, engine) => sum + engine.hashes(), this.#formerHashes)
  }

  /** Devices of the active engines. Counters carry over to a replacement device of the same name. */
  devices(): EngineDevice[] {
    const devices = this.#engines.flatMap(devicesOf)
    const before = this.#formerCounters()
    if (before.size === 0) return devices
    return devices.map((device) => {
      const former = before.get(keyOf(device))
      return former === undefined ? device : addCounters(device, former)
    })
  }

  /** Devices of stopped or leaving engines that have no replacement of the same name. */
  goneDevices(): EngineDevice[] {
    const before = this.#formerCounters()
    if (before.size > 0) for (const device of this.#engines.flatMap(devicesOf)) before.delete(keyOf(device))
    return [...before.values()]
  }

  /** Stops all engines, including starting and leaving ones. */
  async stop(): Promise<void> {
    const engines = [...this.#engines, ...this.#starting, ...this.#leaving]
    await Promise.all(engines.map((engine) => engine.stop()))
  }

  /** Counters of devices of stopped and leaving engines, by engine and device. */
  #formerCounters(): Map<string, EngineDevice> {
    const before = new Map(this.#former)
    for (const device of this.#leaving.flatMap(devicesOf)) addDevice(before, device)
    return before
  }

  #remember(engine: Engine): void {
    this.#leaving = this.#leaving.filter((other) => other !== engine)
    this.#formerHashes += engine.hashes()
    for (const device of devicesOf(engine)) addDevice(this.#former, device)
  }
}

const devicesOf = (engine: Engine): EngineDevice[] =>
  engine.devices().map((status: DeviceStatus) => ({ ...status, engine: engine.name }))

const keyOf = ({ engine, device }: EngineDevice) => `${engine}/${device}`

function addDevice(devices: Map<string, EngineDevice>, device: EngineDevice): void {
  const key = keyOf(device)
  const before = devices.get(key)
  devices.set(key, before === undefined ? device : addCounters(device, before))
}

/** Adds the counters of a previous device of the same name. */
function addCounters(device: EngineDevice, before: EngineDevice): EngineDevice {
  const sums = { hashes: device.hashes + before.hashes, faults: device.faults + before.faults }
  const hardwareErrors = (device.hardwareErrors ?? 0) + (before.hardwareErrors ?? 0)
  return { ...device, ...sums, ...(hardwareErrors > 0 && { hardwareErrors }) }
}
