/** Main module of the thread that runs a debugged test file. */
import { workerData } from 'node:worker_threads'
import type { PropertyRuns } from '../contracts/repl/run.ts'
import { type CallReply, openFileForks } from '../testing/run.ts'
import { type DebugThreadData, serveDebugger } from './debug-thread.ts'
import { TestFileProgram } from './test-file-program.ts'

/** A test file to debug. */
export interface TestFileTask extends DebugThreadData {
  readonly file: string
  readonly chance: PropertyRuns
  /** Fork that the file runs on; null for an empty chain. */
  readonly fork: Parameters<typeof openFileForks>[1]
}

const { file, chance, fork, ...data } = workerData as TestFileTask
serveDebugger(data, async (ask) => {
  const forks = await openFileForks(file, fork, (call) => ask(call) as CallReply)
  return new TestFileProgram(file, chance, forks)
})
