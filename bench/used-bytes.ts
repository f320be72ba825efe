/** Memory of this process that is in use. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pause } from './suite.ts'

/** Heap and buffers after a collection. */
export async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  // Twice: the second collection frees what the first one finalised.
  for (let i = 0; i < 2; i++) {
    await pause(50)
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
