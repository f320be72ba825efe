/**
 * A search thread with a fault in thread 0, which occurs once and creates the file TEST_MARK. TEST_FAULT
 * selects the fault. `early`: the thread dies before it is ready. `hang`: it hangs when it takes up work number 13.
 * Any other value: it dies at that work.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { search as healthySearch } from '../../dist/src/mining/engine/cpu/thread.js'

export function search(task) {
  const { TEST_MARK: mark, TEST_FAULT: fault } = process.env
  const isFirst = () => {
    if (task.thread !== 0 || existsSync(mark)) return false
    writeFileSync(mark, '')
    return true
  }
  if (fault === 'early' && isFirst()) throw new Error('there is no memory')
  const port = {
    postMessage: (message) => {
      if (message.type === 'took' && message.sequence === 13 && isFirst()) {
        if (fault === 'hang') for (;;);
        throw new Error('the memory is full')
      }
      task.port.postMessage(message)
    },
  }
  healthySearch({ ...task, port })
}
