/** Runs test files, several at once in threads. Results are in the order of the files. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { bundled } from '../platform/bundled.ts'
import { type FileOutcome, type FileQuestions, runUnforked } from './files.ts'

/** The bundled thread, or else the one next to this file, with the same extension. */
const MODULE =
  bundled('contract-thread') ??
  new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)

/**
 * Runs the files. One file runs here, where it needs no thread.
 * @returns null for each file that asks for a fork
 * @param jobs number of threads; default: one for each processor
 */
export async function runTestFiles(
  files: readonly string[],
  questions: FileQuestions,
  jobs = availableParallelism(),
): Promise<(FileOutcome | null)[]> {
  const threads = Math.min(jobs, files.length)
  if (threads < 2) return files.map((file) => runUnforked(file, questions))
  const outcomes: (FileOutcome | null)[] = new Array(files.length)
  let next = 0
  const work = async () => {
    const worker = new Worker(MODULE)
    try {
      while (next < files.length) {
        const at = next++
        outcomes[at] = await runIn(worker, files[at], questions)
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: threads }, work))
  return outcomes
}

function runIn(worker: Worker, file: string, questions: FileQuestions): Promise<FileOutcome | null> {
  return new Promise((resolve, reject) => {
    worker.removeAllListeners()
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error(`the thread that ran ${file} ended`)))
    worker.postMessage({ file, questions })
  })
}
