/** Main module of the thread that runs a debugged test file. */
import { workerData } from 'node:worker_threads'
import type { PropertyRuns } from '../contracts/repl/run.ts'
import type { NetworkCopyOptions } from '../copy/network-copy.ts'
import { openFileForks } from '../testing/file-forks.ts'
import type { CallReply } from '../testing/thread-messages.ts'
import { type DebugThreadData, serveDebugger } from './debug-thread.ts'
import { TestFileProgram } from './test-file-program.ts'

/** A test file to debug. */
export interface TestFileTask extends DebugThreadData {
  readonly file: string
  readonly chance: PropertyRuns
  /** Fork that the file runs on; null for an empty chain. */
  readonly fork: NetworkCopyOptions | null
}

const { file, chance, fork, ...data } = workerData as TestFileTask
serveDebugger(data, async (ask) => {
  const forks = await openFileForks(file, fork, (call) => ask(call) as CallReply)
  return new TestFileProgram(file, chance, forks)
})
