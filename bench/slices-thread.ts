/** A search thread of the CPU engine that records its slices (slices.ts). */
import { getEnvironmentData } from 'node:worker_threads'
import { type SharedContent, SharedWork } from '../src/mining/engine/cpu/shared.ts'
import { type SearchTask, search as searchOf } from '../src/mining/engine/cpu/thread.ts'
import { sharedMs } from './shared-clock.ts'
import { SLICES, SliceLog } from './slices.ts'

/** The Piscina task. Threads read the shared memory before and after each slice, which is when they record. */
export function search(task: SearchTask): void {
  const { thread, threads } = task
  const log = new SliceLog(threads, getEnvironmentData(SLICES) as SharedArrayBuffer)
  const { read, count, wait } = SharedWork.prototype
  let sequence = 0
  let fromMs = 0
  const end = (hashes: number | null) => {
    const toMs = sharedMs()
    log.write({ thread, fromMs, toMs, sequence, hashes })
    fromMs = toMs
  }
  SharedWork.prototype.read = function (): SharedContent {
    const content = read.call(this)
    sequence = content.sequence
    fromMs = sharedMs()
    return content
  }
  SharedWork.prototype.count = function (...given): void {
    count.apply(this, given)
    end(given[1])
  }
  SharedWork.prototype.wait = function (...given): void {
    fromMs = sharedMs()
    wait.apply(this, given)
    end(null)
  }
  searchOf(task)
}
