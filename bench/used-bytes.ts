/** Measures the used memory of this process. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pause } from './suite.ts'

/** Heap and buffers after garbage collection, in bytes. */
export async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  // Collect twice: the second collection frees finalized objects.
  for (let i = 0; i < 2; i++) {
    await pause(50)
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
