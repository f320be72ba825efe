/** Threads that run test files with and without faults. */
import { Worker } from 'node:worker_threads'
import { bundleOf } from '#ground/platform/bundled.ts'
import type { RunBounds } from '../contracts/repl/test-start.ts'
import type { CoveredFiles } from '../testing/files.ts'
import { errorFrom, type ForkPins, type TestForkOptions } from '../testing/run.ts'
import type { MeasuredFile, MutantText, MutantVerdict, TestChoices, TestFault } from './run-tests.ts'
import type { ForkCallMessage, MutationAnswer, MutationTask } from './thread-messages.ts'

/** The bundled thread, or else the one next to this file, with the same extension. */
const MODULE =
  bundleOf('mutation-thread') ??
  new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)

export class MutationThreads {
  readonly #workers: Worker[]
  readonly #pins: ForkPins

  /** @param fork that all files run on; null for none */
  constructor(count: number, pins: ForkPins, fork: TestForkOptions | null) {
    this.#pins = pins
    this.#workers = Array.from({ length: count }, () => new Worker(MODULE))
    for (const worker of this.#workers) {
      worker.postMessage({ kind: 'fork', options: fork } satisfies MutationTask)
    }
  }

  /** Measures test files. Rejects with NewcutError if a fork cannot be had. */
  async measure(
    files: readonly string[],
    choices: TestChoices,
    covered: CoveredFiles,
  ): Promise<{ readonly measured: MeasuredFile; readonly isForked: boolean }[]> {
    const all: { readonly measured: MeasuredFile; readonly isForked: boolean }[] = []
    await this.#share(files, async (worker, file, at) => {
      const answer = await this.#ask(worker, { kind: 'measure', file, choices, covered })
      if (!('measured' in answer)) throw new Error(`a thread has not measured ${file}`)
      all[at] = answer
    })
    return all
  }

  /** Gives the threads the texts of all files. */
  useTexts(choices: TestChoices, texts: ReadonlyMap<string, string>): void {
    for (const worker of this.#workers) worker.postMessage({ kind: 'texts', choices, texts } satisfies MutationTask)
  }

  /**
   * Judges mutants, each in one of the threads.
   * @param judge asks for the verdicts of test files
   */
  async judge<T>(tasks: readonly T[], judge: (task: T, run: RunMutant) => Promise<void>): Promise<void> {
    await this.#share(tasks, async (worker, task) => {
      await judge(task, async (run) => {
        const answer = await this.#ask(worker, { kind: 'judge', ...run })
        if (!('verdict' in answer)) throw new Error(`a thread has no verdict on ${run.file}`)
        return answer.verdict
      })
    })
  }

  /** The failures of each of these runs, whose changes keep what contracts do. */
  async failuresOf(runs: readonly ChangedRun[]): Promise<(readonly TestFault[])[]> {
    const failures: (readonly TestFault[])[] = []
    await this.#share(runs, async (worker, run, at) => {
      const answer = await this.#ask(worker, { kind: 'change', ...run })
      failures[at] = 'failures' in answer ? answer.failures : []
    })
    return failures
  }

  #ask(worker: Worker, task: MutationTask): Promise<Exclude<MutationAnswer, { readonly error: unknown }>> {
    return new Promise((resolve, reject) => {
      worker.removeAllListeners()
      worker.on('message', (answer: MutationAnswer | ForkCallMessage) => {
        if ('call' in answer) void this.#pins.replyTo(answer.call).then((reply) => worker.postMessage(reply), reject)
        else if ('error' in answer) reject(errorFrom(answer.error))
        else resolve(answer)
      })
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('a thread that runs test files ended')))
      worker.postMessage(task)
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }

  /** Each thread takes the next task when it is free. */
  async #share<T>(tasks: readonly T[], run: (worker: Worker, task: T, at: number) => Promise<void>): Promise<void> {
    let next = 0
    await Promise.all(
      this.#workers.map(async (worker) => {
        while (next < tasks.length) {
          const at = next++
          await run(worker, tasks[at], at)
        }
      }),
    )
  }
}

/** A test file and the changed text that it runs with. */
interface ChangedRun {
  readonly file: string
  readonly mutant: MutantText
  readonly bounds: RunBounds
  /** Names of expectations that do not count. */
  readonly excluded: readonly string[]
}

export type RunMutant = (run: ChangedRun) => Promise<MutantVerdict>
