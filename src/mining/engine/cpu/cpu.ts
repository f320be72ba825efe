/** The CPU engine: a Piscina pool with one long search task per thread, controlled through shared memory. */

import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Clock } from '#ground/base/clock.ts'
import { describeError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import { MAX_WORK_BYTES } from '#ground/chain/header.ts'
import { kernelTuningFileOf } from '../cache-folder.ts'
import { type DeviceStatus, type Engine, type EngineEvents, type EngineWork, ofDevices } from '../engine.ts'
import { engineErrors } from '../errors.ts'
import { type NonceRange, restartedRange } from '../range.ts'
import { restartPauseMs } from '../restart.ts'
import { WorkAcknowledgement } from '../work-acknowledgement.ts'
import { HangDetector, WATCH_MS } from './hang-detector.ts'
import type { KernelName, KernelPreference } from './names.ts'
import { provideNativeKernel } from './native-build.ts'
import { loadChosen, type NativeChoice, NO_NATIVE } from './native-choice.ts'
import { isNativeKernel } from './native-kernel.ts'
import { rememberedSchedules, rememberSchedule } from './native-schedule.ts'
import type { Priority } from './priority.ts'
import { type DeviceRates, fastestSchedule } from './schedule-race.ts'
import { SharedWork } from './shared.ts'
import type { SearchTask, ThreadMessage } from './thread.ts'

export interface CpuEngineOptions {
  /** The nonces of each thread, one range per thread. */
  readonly ranges: readonly NonceRange[]
  readonly kernel: KernelPreference
  readonly priority: Priority
  /** For restarts, and to detect hung threads. */
  readonly clock: Clock
  /** Module of the threads. Tests inject a faulty one. */
  readonly module?: URL | undefined
  /** In [0, 1), for the jitter of restarts. */
  readonly random?: (() => number) | undefined
}

interface Thread {
  readonly name: string
  readonly range: NonceRange
  kernel: string
  note: string | null
  faults: number
  starts: number
  /** Consecutive failures. */
  failures: number
  /** Null while it chooses a kernel. */
  readyAtMs: number | null
  /** Ends the running task and its thread, or null without a task. */
  end: AbortController | null
  /** Sequence of the work whose nonces are exhausted, so that it rests until other work arrives, or null. */
  done: number | null
  state: NonNullable<DeviceStatus['state']> | null
  /** Why it does not search; empty while it does. */
  reason: string
}

/** Upper bound of the backoff before a first restart. It doubles with each consecutive failure. */
const RESTART_MS = 1000
/** A run of this length resets the number of failures. */
const SETTLED_MS = 10_000
/**
 * A thread with work that counts no hash for this time has hung and is replaced. A low-priority thread on a busy
 * machine may not run for seconds.
 */
const SILENCE_MS = 30_000
/** Timeout of a stop, after which threads are terminated. */
const MAX_STOP_MS = 500
/**
 * The same for a thread that is not ready. Node.js 20 aborts the whole process if a thread ends while it loads modules,
 * and on a busy machine that takes seconds.
 */
const MAX_LOADING_STOP_MS = 15_000
/** Interval of races between the orders of the kernel: other programs may come and go. */
const RACE_EVERY_MS = 60_000
/** A thread allocates little after its self-test. By default, its young generation may grow to 48 MB. */
const YOUNG_MB = 2
/** The compiled thread is next to this file, with the same extension. */
const MODULE = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)

export class CpuEngine implements Engine {
  readonly name = 'cpu'
  readonly #options: CpuEngineOptions
  readonly #shared: SharedWork
  readonly #threads: Thread[]
  readonly #pool: Piscina
  readonly #acknowledgement = new WorkAcknowledgement()
  readonly #warned = new Set<string>()
  readonly #stopped = new AbortController()
  #events: EngineEvents | null = null
  #native: NativeChoice = NO_NATIVE
  readonly #tasks = new Set<Promise<void>>()
  readonly #hangs = new HangDetector(SILENCE_MS)
  #cancelWatch: (() => void) | null = null
  readonly #restarts = new Set<() => void>()
  #hasWork = false
  readonly #tuningFile = kernelTuningFileOf(process.env, process.platform)
  /** Zero: as soon as the threads search. */
  #nextRaceMs = 0
  /** Measurements of the current race, by thread. */
  readonly #paces = new Map<string, DeviceRates>()

  constructor(options: CpuEngineOptions) {
    this.#options = options
    this.#shared = new SharedWork(options.ranges.length)
    this.#threads = options.ranges.map((range, index) => ({
      name: `thread${index}`,
      range,
      kernel: 'n/a',
      note: null,
      faults: 0,
      starts: 0,
      failures: 0,
      readyAtMs: null,
      end: null,
      done: null,
      state: null,
      reason: '',
    }))
    this.#pool = new Piscina({
      filename: (options.module ?? MODULE).href,
      name: 'search',
      minThreads: options.ranges.length,
      maxThreads: options.ranges.length,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: 1,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
  }

  /**
   * Starts all threads. Mining begins without a thread that dies or hangs during the start; it is restarted.
   * @throws NewcutError KERNEL_REFUSED if no kernel works
   */
  async start(workBytes: number, events: EngineEvents): Promise<void> {
    this.#events = events
    const { kernel } = this.#options
    if (kernel === 'auto' || kernel === 'native' || isNativeKernel(kernel)) {
      const { choice, news } = await provideNativeKernel({ env: process.env, signal: this.#stopped.signal })
      const only = kernel === 'auto' || kernel === 'native' ? undefined : kernel
      const remembered = rememberedSchedules(loadChosen(choice), this.#tuningFile, only)
      this.#native = { ...choice, orders: remembered.orders }
      for (const sentence of [...news, ...remembered.news]) this.#warn(sentence)
      if (!remembered.isUnknown) this.#nextRaceMs = this.#options.clock.monotonicMs() + RACE_EVERY_MS
      if (this.#stopped.signal.aborted) return
    }
    this.#watch()
    try {
      await Promise.all(this.#threads.map((_, thread) => this.#launch(thread, workBytes)))
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async setWork(work: EngineWork): Promise<boolean> {
    if (this.#events === null) return false
    const stored = this.#storable(ofDevices(work))
    this.#hasWork = stored.bytes !== null
    this.#shared.publish(stored)
    return this.#acknowledgement.await(work.sequence)
  }

  hashes(): number {
    return this.#shared.totalHashes()
  }

  devices(): readonly DeviceStatus[] {
    return this.#threads.map(({ name, kernel, note, faults, state, reason }, thread) => ({
      device: name,
      hardware: this.name,
      kernel,
      faults,
      ...(note !== null && { note }),
      hashes: this.#shared.hashesOf(thread),
      ...(state !== null && { state, reason }),
    }))
  }

  async stop(): Promise<void> {
    this.#events = null
    this.#stopped.abort()
    this.#cancelWatch?.()
    for (const cancel of this.#restarts) cancel()
    this.#acknowledgement.cancel()
    this.#shared.stop()
    // A hung thread does not delay the stop.
    const isLoading = this.#threads.some(({ end, readyAtMs }) => end !== null && readyAtMs === null)
    const limitMs = isLoading ? MAX_LOADING_STOP_MS : MAX_STOP_MS
    await Promise.race([Promise.all(this.#tasks), sleep(limitMs, undefined, { ref: false })])
    await this.#pool.destroy()
  }

  /** Replaces work that is too long for the shared memory by no work, with a warning. */
  #storable(work: EngineWork): EngineWork {
    if (work.bytes === null || work.bytes.length <= MAX_WORK_BYTES) return work
    this.#warnOnce(`work of ${work.bytes.length} bytes is too long: the longest has ${MAX_WORK_BYTES}`)
    return { ...work, bytes: null }
  }

  #watch(): void {
    this.#cancelWatch = this.#options.clock.after(WATCH_MS, () => {
      this.#checkThreads()
      this.#watch()
    })
  }

  /** Ends hung threads. #relaunch replaces them. */
  #checkThreads(): void {
    const watched = new Map<number, number>()
    for (const [index, { end, readyAtMs, state, done }] of this.#threads.entries()) {
      const isResting = state === 'unable' || done === this.#shared.sequence
      const shouldSearch = readyAtMs === null || (this.#hasWork && !isResting)
      if (end !== null && shouldSearch) watched.set(index, this.#shared.hashesOf(index))
    }
    const nowMs = this.#options.clock.monotonicMs()
    if (this.#hasWork && nowMs >= this.#nextRaceMs) this.#startRace(nowMs)
    for (const index of this.#hangs.look(nowMs, watched)) this.#threads[index].end?.abort()
  }

  #startRace(nowMs: number): void {
    this.#nextRaceMs = nowMs + RACE_EVERY_MS
    this.#paces.clear()
    this.#shared.startRace()
  }

  /** Adds what a thread measured. When all threads have, all take the order that is the fastest for them together. */
  #onRace(thread: Thread, name: KernelName, paces: DeviceRates): void {
    this.#paces.set(thread.name, paces)
    const searching = this.#threads.filter(
      ({ end, state, kernel }) => end !== null && state === null && kernel === name,
    )
    if (!searching.every((each) => this.#paces.has(each.name))) return
    const known = this.#native.orders?.[name]
    const order = fastestSchedule(known ?? 'halves', [...this.#paces.values()])
    this.#shared.order = order
    if (order === known) return
    this.#native = { ...this.#native, orders: { ...this.#native.orders, [name]: order } }
    if (!isNativeKernel(name)) return
    const failure = rememberSchedule(loadChosen(this.#native), this.#tuningFile, name, order)
    if (failure !== null) this.#warnOnce(failure)
  }

  /** Starts the task of a thread. Resolves when its kernel is ready or the thread died; rejects if no kernel passes. */
  #launch(index: number, workBytes: number): Promise<void> {
    const thread = this.#threads[index]
    const end = new AbortController()
    thread.end = end
    thread.readyAtMs = null
    return new Promise((resolve, reject) => {
      const { port1, port2 } = new MessageChannel()
      port1.on('message', (message: ThreadMessage) => {
        this.#receive(thread, message)
        if (message.type === 'ready') resolve()
        if (message.type === 'failed') reject(noKernelError(message.refused, this.#options.kernel))
      })
      const task: SearchTask = {
        thread: index,
        threads: this.#threads.length,
        shared: this.#shared.buffer,
        range: restartedRange(thread.range, thread.starts++),
        kernel: this.#options.kernel,
        native: this.#native,
        priority: this.#options.priority,
        workBytes,
        port: port2,
      }
      // The engine was stopped, perhaps before the thread was ready, or the thread is being restarted.
      const onOver = () => {
        port1.close()
        thread.end = null
        resolve()
      }
      const ended = this.#pool
        .run(task, { transferList: [port2], signal: end.signal })
        .then(onOver, (error: unknown) => {
          onOver()
          this.#relaunch(index, workBytes, end.signal.aborted ? null : error)
        })
      this.#tasks.add(ended)
      void ended.finally(() => this.#tasks.delete(ended))
    })
  }

  /**
   * Replaces a dead or hung thread after a backoff. The new thread searches the current work elsewhere in the same
   * range.
   * @param error null if the thread hung
   */
  #relaunch(index: number, workBytes: number, error: unknown): void {
    if (this.#events === null) return
    const thread = this.#threads[index]
    const { clock, random = Math.random } = this.#options
    const { state, readyAtMs } = thread
    if (state === null && readyAtMs !== null && clock.monotonicMs() - readyAtMs > SETTLED_MS) thread.failures = 0
    const what = error === null ? 'hung' : 'died'
    const why = error === null ? `no hash for ${SILENCE_MS / 1000} s` : describeError(error)
    thread.failures++
    thread.faults++
    thread.state = 'restarting'
    thread.reason = `it ${what}: ${why}`
    const pauseMs = restartPauseMs(thread.failures, RESTART_MS, random)
    this.#warn(`search thread ${index} ${what} and is started again in ${pauseMs / 1000} s: ${why}`)
    this.#acknowledgement.deviceDown(thread.name)
    const cancel = clock.after(pauseMs, () => {
      this.#restarts.delete(cancel)
      // If the thread dies again, this function runs again, and #receive warns about failing kernels.
      this.#launch(index, workBytes).catch(() => undefined)
    })
    this.#restarts.add(cancel)
  }

  #receive(thread: Thread, message: ThreadMessage): void {
    // Threads still send messages after the stop.
    if (this.#events === null) return
    switch (message.type) {
      case 'ready':
        thread.kernel = message.kernel
        thread.note = message.note
        thread.readyAtMs = this.#options.clock.monotonicMs()
        this.#acknowledgement.deviceUp(thread.name)
        for (const sentence of message.refused) this.#warnOnce(sentence)
        return
      case 'failed':
        thread.readyAtMs = this.#options.clock.monotonicMs()
        thread.reason = message.refused.join('; ')
        this.#acknowledgement.deviceUp(thread.name)
        for (const sentence of message.refused) this.#warnOnce(sentence)
        return
      case 'retired':
        thread.faults++
        this.#warn(`${thread.name}: ${message.sentence}`)
        return
      case 'raced':
        for (const sentence of message.refused) this.#warnOnce(sentence)
        if (message.race === this.#shared.race) this.#onRace(thread, message.name, message.paces)
        return
      case 'took':
        thread.state = message.searches ? null : 'unable'
        this.#acknowledgement.acknowledge(thread.name, message.sequence)
        return
      case 'done':
        thread.done = message.sequence
        return
      case 'candidate': {
        const { sequence, nonce, hashes } = message
        this.#events.onCandidate({ sequence, nonce, device: thread.name, hashesSince: this.hashes() - hashes })
      }
    }
  }

  #warn(message: string): void {
    this.#events?.onWarning(message)
  }

  /** Warns once, because all threads refuse the same kernels for the same reason. */
  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    this.#warn(message)
  }
}

function noKernelError(refused: readonly string[], preference: KernelPreference): NewcutError {
  const row = preference === 'auto' ? engineErrors.noKernel : engineErrors.noSuchKernel
  return operatingError(row, { reasons: refused.join('; ') })
}
