/** Main module of the thread that runs a debugged test file. */
import { workerData } from 'node:worker_threads'
import type { PropertyRuns } from '../contracts/repl/run.ts'
import { type DebugThreadData, serveDebugger } from './debug-thread.ts'
import { TestFileProgram } from './test-file-program.ts'

/** A test file to debug. */
export interface TestFileTask extends DebugThreadData {
  readonly file: string
  readonly chance: PropertyRuns
}

const { file, chance, ...data } = workerData as TestFileTask
serveDebugger(data, () => new TestFileProgram(file, chance))
