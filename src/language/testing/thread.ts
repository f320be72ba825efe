/** Main module of a thread that runs test files, one after the other. Forks are loaded on first use. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { NewcutError } from '#ground/base/errors.ts'
import type { EnvForkCall } from './env-forks.ts'
import { type FileOutcome, runUnforked } from './files.ts'
import { type CallReply, errorFrom, plainError, type TestThreadAnswer, type ThreadTask } from './thread-messages.ts'

function serve(port: MessagePort): void {
  let onReply: (reply: CallReply) => void = () => undefined
  const tell = (answer: TestThreadAnswer) => port.postMessage(answer)
  const optionsOf = async (call: EnvForkCall) => {
    const reply = await new Promise<CallReply>((resolve) => {
      onReply = resolve
      tell({ call })
    })
    if ('refusal' in reply) throw errorFrom(reply.refusal)
    return reply.options
  }
  const run = async ({ file, questions, forks }: ThreadTask): Promise<FileOutcome | null> => {
    const silent = () => undefined
    if (forks === null) return runUnforked(file, questions)
    if (forks.options !== null) {
      const { openTestFork, runOnFork } = await import('./fork.ts')
      return runOnFork(file, questions, await openTestFork(forks.options, 'chains', silent))
    }
    const outcome = runUnforked(file, questions)
    if (outcome !== null) return outcome
    const { EnvForks } = await import('./env-forks.ts')
    return new EnvForks({ optionsOf, onOpened: silent, onNotice: silent }).run(file, questions)
  }
  const answer = async (task: ThreadTask) => {
    try {
      tell({ outcome: await run(task) })
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      tell({ error: plainError(error) })
    }
  }
  port.on('message', (message: ThreadTask | CallReply) => {
    if ('file' in message) void answer(message)
    else onReply(message)
  })
}

if (parentPort !== null) serve(parentPort)
