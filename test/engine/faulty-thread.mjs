/**
 * The search thread, but the first one goes wrong, once: it writes the file NEWCUT_TEST_MARK. NEWCUT_TEST_FAULT says how:
 * `early`, it dies before it is ready; `hang`, it hangs when it takes up work number 13; else it dies then.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { search as healthySearch } from '../../dist/src/engine/cpu/thread.js'

export function search(task) {
  const { NEWCUT_TEST_MARK: mark, NEWCUT_TEST_FAULT: fault } = process.env
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
