/** Orders and answers of a suite's load process. */
import type { ChildProcess } from 'node:child_process'

interface Answer {
  readonly type: string
}

/** Resolves with the next answer of this type. Rejects if the load ends first. */
export function nextAnswer<A extends Answer, T extends A['type']>(child: ChildProcess, type: T) {
  return new Promise<Extract<A, { type: T }>>((resolve, reject) => {
    const onExit = (code: number | null, signal: string | null) => {
      child.off('message', onMessage)
      reject(new Error(`the load ended with ${code ?? signal}`))
    }
    const onMessage = (answer: A) => {
      if (answer.type !== type) return
      child.off('exit', onExit).off('message', onMessage)
      resolve(answer as Extract<A, { type: T }>)
    }
    child.once('exit', onExit).on('message', onMessage)
  })
}
