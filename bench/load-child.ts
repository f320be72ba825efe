/** The load of a suite, in a process of its own: what it answers to orders. */
import type { ChildProcess } from 'node:child_process'

interface Answer {
  readonly type: string
}

/** The next answer of this type. Rejects when the load ends before. */
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
