/** Checks ranges of programs in a thread of its own. */
import { parentPort } from 'node:worker_threads'
import { type CheckOrder, checkPrograms } from './check.ts'

parentPort?.on('message', (order: CheckOrder) => {
  parentPort?.postMessage(checkPrograms(order))
})
