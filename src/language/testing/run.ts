/** Runs test files, several at once in threads. Results are in the order of the files. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { NewcutError } from '#ground/base/errors.ts'
import { bundleOf } from '#ground/platform/bundled.ts'
import { type ForkRequest, MissingFork } from '../contracts/repl/test-start.ts'
import type { NetworkCopyOptions } from '../copy/network-copy.ts'
import type { EnvForkCall } from './env-forks.ts'
import { type FileOutcome, type FileRequests, runUnforked } from './files.ts'
import type { FileForks } from './fork.ts'
import {
  type CallReply,
  errorFrom,
  plainError,
  replyTo,
  type TestThreadAnswer,
  type ThreadTask,
} from './thread-messages.ts'

export { type FoundFiles, findTestFiles } from './find.ts'
export { type CallReply, errorFrom, plainError, replyTo } from './thread-messages.ts'

/** How to open the fork of a test file. */
export type TestForkOptions = NetworkCopyOptions

/** The bundled thread, or else the one next to this file, with the same extension. */
const MODULE =
  bundleOf('contract-thread') ??
  new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)

/** Choices for a run of several files. */
interface SuiteRun {
  /** Number of threads; default: one for each processor. */
  readonly jobs?: number | undefined
  /** Ends the run, wherever it is. Without it, one file runs here, where it needs no thread. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs the files, and gives each outcome as soon as those of the files before it are there. Throws NewcutError, and the
 * reason of the signal when it aborts.
 * @returns null for each file that asks for a fork
 */
export async function* streamTestFiles(
  files: readonly string[],
  questions: FileRequests,
  { jobs = availableParallelism(), signal }: SuiteRun = {},
): AsyncGenerator<FileOutcome | null> {
  const threads = Math.min(jobs, files.length)
  if (threads < 2 && signal === undefined) {
    for (const file of files) yield runUnforked(file, questions)
    return
  }
  signal?.throwIfAborted()
  const ends = files.map(() => promiseWithEnds<FileOutcome | null>())
  // Who waits for an earlier file hears of a failure only later.
  for (const { promise } of ends) promise.catch(() => undefined)
  const workers: Worker[] = []
  const stop = () => {
    for (const { reject } of ends) reject(signal?.reason as Error)
  }
  signal?.addEventListener('abort', stop)
  let next = 0
  const work = async (worker: Worker) => {
    while (next < files.length) {
      const at = next++
      const { resolve, reject } = ends[at]
      await runIn(worker, { file: files[at], questions, forks: null }).then(resolve, reject)
    }
  }
  try {
    for (let i = 0; i < threads; i++) {
      const worker = new Worker(MODULE)
      workers.push(worker)
      void work(worker)
    }
    for (const { promise } of ends) yield await promise
  } finally {
    signal?.removeEventListener('abort', stop)
    next = files.length
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

/** A promise, and the functions that settle it. */
function promiseWithEnds<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (reason: Error) => void = () => undefined
  const promise = new Promise<T>((resolveIt, rejectIt) => {
    resolve = resolveIt
    reject = rejectIt
  })
  return { promise, resolve, reject }
}

/**
 * Runs all files.
 * @returns null for each file that asks for a fork
 * @param jobs number of threads; default: one for each processor
 */
export async function runTestFiles(
  files: readonly string[],
  questions: FileRequests,
  jobs?: number,
): Promise<(FileOutcome | null)[]> {
  const outcomes: (FileOutcome | null)[] = []
  for await (const outcome of streamTestFiles(files, questions, { jobs })) outcomes.push(outcome)
  return outcomes
}

/** How a file runs in a thread of its own. */
interface ThreadRun {
  /** Fork that the file runs on; null for an empty chain. */
  readonly fork: NetworkCopyOptions | null
  /** The fork that a call of `env-fork` in the file means. @throws NewcutError if it cannot be opened */
  readonly optionsOf: (call: EnvForkCall) => NetworkCopyOptions
  /** Ends the run, wherever it is. */
  readonly signal: AbortSignal
}

/**
 * Runs a file in a thread of its own, so that it can take its time and forks. Rejects with NewcutError if a fork cannot be
 * had, and with the reason of the signal when it aborts.
 */
export async function runAlone(file: string, questions: FileRequests, run: ThreadRun): Promise<FileOutcome> {
  const { fork, optionsOf, signal } = run
  signal.throwIfAborted()
  const worker = new Worker(MODULE)
  let stop: () => void = () => undefined
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop)
  })
  const reply = (call: EnvForkCall) => replyTo(call, optionsOf)
  try {
    const outcome = await Promise.race([runIn(worker, { file, questions, forks: { options: fork } }, reply), stopped])
    if (outcome === null) throw new Error(`the thread opened no fork for ${file}`)
    return outcome
  } finally {
    signal.removeEventListener('abort', stop)
    await worker.terminate()
  }
}

/** @param reply answers calls for forks */
function runIn(
  worker: Worker,
  task: ThreadTask,
  reply: ((call: EnvForkCall) => CallReply) | null = null,
): Promise<FileOutcome | null> {
  return new Promise((resolve, reject) => {
    worker.removeAllListeners()
    worker.on('message', (answer: TestThreadAnswer) => {
      if ('outcome' in answer) resolve(answer.outcome)
      else if ('error' in answer) reject(errorFrom(answer.error))
      else if (reply === null) reject(new Error(`the thread asks for a fork of ${answer.call.url}`))
      else worker.postMessage(reply(answer.call))
    })
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error(`the thread that ran ${task.file} ended`)))
    worker.postMessage(task)
  })
}

/**
 * Opens the fork that a whole file runs on, or waits for its calls of `env-fork`.
 * @param options fork of the whole file; null for none
 * @param replyTo says which fork a call of `env-fork` means
 * @throws NewcutError if the fork cannot be opened
 */
export async function openFileForks(
  file: string,
  options: NetworkCopyOptions | null,
  replyTo: (call: EnvForkCall) => CallReply | Promise<CallReply>,
): Promise<FileForks> {
  const silent = () => undefined
  if (options !== null) {
    const { forksOfFile, hintText, openTestFork } = await import('./fork.ts')
    const fork = await openTestFork(options, '`fork.chains`', silent)
    await fork.source.warm([hintText(file)])
    return forksOfFile(file, fork)
  }
  let forks: FileForks | null = null
  const refuse = (request: ForkRequest) => {
    throw new MissingFork(request)
  }
  const open = async () => {
    const { EnvForks } = await import('./env-forks.ts')
    const optionsOf = async (call: EnvForkCall) => {
      const reply = await replyTo(call)
      if ('refusal' in reply) throw errorFrom(reply.refusal)
      return reply.options
    }
    return new EnvForks({ optionsOf, onOpened: silent, onNotice: silent }).forksOf(file)
  }
  return {
    startOf: (probe) => forks?.startOf(probe) ?? { fork: refuse },
    textOf: (module) => forks?.textOf(module) ?? null,
    supply: async (lack, round) => {
      if (forks === null && !(lack instanceof MissingFork)) throw lack
      forks ??= await open()
      await forks.supply(lack, round)
    },
  }
}

/** Runs code of a test file until it misses nothing of its forks. */
export async function runOnForks<T>(forks: FileForks, run: (start: ReturnType<FileForks['startOf']>) => T): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return run(forks.startOf(null))
    } catch (error) {
      await forks.supply(error, round)
    }
  }
}

/** Pins of forks, so that all threads run on the same blocks. */
export class ForkPins {
  readonly #optionsOf: (call: EnvForkCall) => NetworkCopyOptions
  /** Options as text -> those with the pin. */
  readonly #pinned = new Map<string, Promise<NetworkCopyOptions>>()

  /** @param optionsOf the fork that a call of `env-fork` means. It throws NewcutError for options that no fork has */
  constructor(optionsOf: (call: EnvForkCall) => NetworkCopyOptions) {
    this.#optionsOf = optionsOf
  }

  async replyTo(call: EnvForkCall): Promise<CallReply> {
    const reply = replyTo(call, this.#optionsOf)
    if ('refusal' in reply) return reply
    try {
      return { options: await this.pin(reply.options) }
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      return { refusal: plainError(error) }
    }
  }

  /** The options with the blocks that the network has now. Rejects with NewcutError if the node does not answer. */
  pin(options: NetworkCopyOptions): Promise<NetworkCopyOptions> {
    const key = JSON.stringify(options)
    const pinned = this.#pinned.get(key) ?? pin(options)
    this.#pinned.set(key, pinned)
    return pinned
  }
}

async function pin(options: NetworkCopyOptions): Promise<NetworkCopyOptions> {
  const { openTestFork } = await import('./fork.ts')
  const { pinText } = await import('../copy/pin.ts')
  const fork = await openTestFork(options, '`fork.chains`', () => undefined)
  return { ...options, cut: pinText(fork.pin) }
}
