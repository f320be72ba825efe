/** The engines of a miner: those that search, those that leave, and what devices have done that are gone. */
import { type Clock, sleep } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { type DeviceStatus, type Engine, type EngineEvents, type EngineWork, noWork } from '../engine/engine.ts'
import type { EngineDevice } from './rates.ts'

/** An engine that leaves has stopped searching by then, or is ended while it searches. */
const MAX_LEAVE_MS = 3_000
/** What its slowest devices found by then still counts: new work is not waited for by all of them. */
const LAST_CLAIMS_MS = 100

export class EngineSet {
  readonly #clock: Clock
  /** Engines that search. */
  #engines: readonly Engine[] = []
  /** Engines that were given no more work, and whose last claims are awaited. */
  #leaving: readonly Engine[] = []
  /** Engines that get ready. */
  #coming: readonly Engine[] = []
  /** What the devices of engines did that have left, by engine and device. */
  readonly #former = new Map<string, EngineDevice>()
  #formerHashes = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Starts the first engines, and keeps those that start. Throws the first failure when nothing would search. */
  async start(engines: readonly Engine[], workBytes: number, events: EngineEvents): Promise<void> {
    this.#coming = engines
    const results = await Promise.allSettled(engines.map((engine) => engine.start(workBytes, events)))
    this.#coming = []
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    this.#engines = engines.filter((_, index) => results[index].status === 'fulfilled')
    if (this.#engines.length === 0) throw failures[0]
    for (const failure of failures) events.onWarning(describeError(failure))
  }

  /** Starts further engines, all or none. Throws the first failure. `exchange` lets them search. */
  async prepare(engines: readonly Engine[], workBytes: number, events: EngineEvents): Promise<void> {
    this.#coming = engines
    try {
      await Promise.all(engines.map((engine) => engine.start(workBytes, events)))
    } catch (error) {
      await Promise.all(engines.map((engine) => engine.stop()))
      throw error
    } finally {
      this.#coming = []
    }
  }

  /** From here on the engines that were prepared get the work, and those that leave get none. */
  exchange(leaving: readonly Engine[], coming: readonly Engine[]): readonly Engine[] {
    const out = this.#engines.filter((engine) => leaving.includes(engine))
    this.#engines = [...this.#engines.filter((engine) => !out.includes(engine)), ...coming]
    this.#leaving = [...this.#leaving, ...out]
    return out
  }

  /**
   * Ends engines that leave, once they search nothing and what they found has been claimed. `sequence`: higher than that
   * of any work before. `signal`: nothing is waited for any more.
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

  /** Gives work to all engines. True when nearly all devices searched it. */
  async setWork(work: EngineWork): Promise<boolean> {
    const taken = await Promise.all(this.#engines.map((engine) => engine.setWork(work)))
    return taken.every((all) => all)
  }

  /** Hashes since the start, including engines that have left. Never falls. */
  hashes(): number {
    const all = [...this.#engines, ...this.#leaving]
    return all.reduce((sum, engine) => sum + engine.hashes(), this.#formerHashes)
  }

  /** The devices of the engines that search. A device goes on counting where one of its name left. */
  devices(): EngineDevice[] {
    const devices = this.#engines.flatMap(devicesOf)
    const before = this.#before()
    if (before.size === 0) return devices
    return devices.map((device) => {
      const former = before.get(keyOf(device))
      return former === undefined ? device : together(device, former)
    })
  }

  /** Devices of engines that have left, or are leaving, of whose name there is none now. */
  gone(): EngineDevice[] {
    const before = this.#before()
    if (before.size > 0) for (const device of this.#engines.flatMap(devicesOf)) before.delete(keyOf(device))
    return [...before.values()]
  }

  /** Ends all engines, those too that get ready or leave. */
  async stop(): Promise<void> {
    const all = [...this.#engines, ...this.#coming, ...this.#leaving]
    await Promise.all(all.map((engine) => engine.stop()))
  }

  /** What devices did in engines that are no longer here, by engine and device. */
  #before(): Map<string, EngineDevice> {
    const before = new Map(this.#former)
    for (const device of this.#leaving.flatMap(devicesOf)) add(before, device)
    return before
  }

  #remember(engine: Engine): void {
    this.#leaving = this.#leaving.filter((each) => each !== engine)
    this.#formerHashes += engine.hashes()
    for (const device of devicesOf(engine)) add(this.#former, device)
  }
}

const devicesOf = (engine: Engine): EngineDevice[] =>
  engine.devices().map((status: DeviceStatus) => ({ ...status, engine: engine.name }))

const keyOf = ({ engine, device }: EngineDevice) => `${engine}/${device}`

function add(devices: Map<string, EngineDevice>, device: EngineDevice): void {
  const key = keyOf(device)
  const before = devices.get(key)
  devices.set(key, before === undefined ? device : together(device, before))
}

/** The device with the counts of one of its name that came before it. */
function together(device: EngineDevice, before: EngineDevice): EngineDevice {
  const sums = { hashes: device.hashes + before.hashes, faults: device.faults + before.faults }
  const hardwareErrors = (device.hardwareErrors ?? 0) + (before.hardwareErrors ?? 0)
  return { ...device, ...sums, ...(hardwareErrors > 0 && { hardwareErrors }) }
}
