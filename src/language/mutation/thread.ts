/** Main module of a thread that runs test files with and without faults, one after the other. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { judgeMutant, measureTests, type TestChoices } from './run-tests.ts'
import type { MutationAnswer, MutationTask } from './thread-messages.ts'

function answerTasks(port: MessagePort): void {
  let known: { choices: TestChoices; texts: ReadonlyMap<string, string> } | null = null
  port.on('message', (task: MutationTask) => {
    const answer = (message: MutationAnswer) => port.postMessage(message)
    switch (task.kind) {
      case 'measure':
        answer({ measured: measureTests(task.file, task.choices, task.covered) })
        return
      case 'texts':
        known = task
        return
      case 'judge': {
        if (known === null) throw new Error('a thread judges mutants before it has the texts')
        const { choices, texts } = known
        const verdict = judgeMutant(task.file, task.mutant, { ...choices, texts, bounds: task.bounds })
        answer({ verdict })
      }
    }
  })
}

if (parentPort !== null) answerTasks(parentPort)
