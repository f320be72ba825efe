/** Runs parts of a long run in its own thread, so that the main thread can end one that hangs. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Chunk, runChunk } from './engine.ts'
import { targetNamed } from './targets.ts'

export interface Order extends Chunk {
  readonly target: string
}

/** Memory that a thread writes and its parent reads: the current input. */
export interface Shared {
  /** Start time (ms; 0 if idle), number and length of the input. */
  readonly state: Float64Array
  readonly input: Uint8Array
}

const { state, input } = workerData as Shared

parentPort?.on('message', async ({ target, ...chunk }: Order) => {
  await runChunk(targetNamed(target), chunk, {
    onInput: (number, bytes) => {
      input.set(bytes.subarray(0, input.length))
      state.set([Date.now(), number, bytes.length])
    },
    onFinding: (finding) => parentPort?.postMessage({ finding }),
  })
  state[0] = 0
  parentPort?.postMessage({ done: true })
})
