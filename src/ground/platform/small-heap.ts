/** Less memory for programs that allocate little, such as a miner without rigs. */
import { setFlagsFromString } from 'node:v8'
import type { Worker } from 'node:worker_threads'

/** Options of Node with which users set the size themselves. */
const CHOSEN = /--(?:max|min)[-_]semi[-_]space[-_]size|--semi[-_]space[-_]growth[-_]factor/

/** Whether this process already listens for new threads; it may run several commands. */
let isFollowingThreads = false

/**
 * Keeps the young generation of the main thread's heap at its first size of 1 MB. Left alone it grows to 48 MB. Does
 * nothing if the user has set its size.
 */
export function keepYoungGenerationSmall(
  execArgv: readonly string[],
  { NODE_OPTIONS = '' }: Readonly<Record<string, string | undefined>>,
): void {
  if (CHOSEN.test([...execArgv, NODE_OPTIONS].join(' '))) return
  const keep = () => setFlagsFromString('--semi-space-growth-factor=1')
  keep()
  if (isFollowingThreads) return
  isFollowingThreads = true
  // In Node 20 and 22, the heap of a new thread sets the factor back for all.
  process.on('worker', (worker: Worker) => worker.once('online', keep))
}
