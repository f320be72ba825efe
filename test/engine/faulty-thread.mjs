/**
 * The search thread, but the first one dies when it takes up work number 13, once: it writes the file NEWCUT_TEST_MARK.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { search as healthySearch } from '../../dist/src/engine/cpu/thread.js'

export function search(task) {
  const mark = process.env.NEWCUT_TEST_MARK
  const port = {
    postMessage: (message) => {
      if (message.type === 'took' && message.sequence === 13 && task.thread === 0 && !existsSync(mark)) {
        writeFileSync(mark, '')
        throw new Error('the memory is full')
      }
      task.port.postMessage(message)
    },
  }
  healthySearch({ ...task, port })
}
