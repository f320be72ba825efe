/** Main module of a thread that runs test files with and without faults, one after the other. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { failuresAfterChange, judgeMutant, measureTests, type TestChoices } from './run-tests.ts'
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
      case 'judge':
      case 'change': {
        if (known === null) throw new Error('a thread judges mutants before it has the texts')
        const { file, mutant, bounds, excluded } = task
        const choices = { ...known.choices, texts: known.texts, bounds, excluded }
        if (task.kind === 'judge') answer({ verdict: judgeMutant(file, mutant, choices) })
        else answer({ failures: failuresAfterChange(file, mutant, choices) })
      }
    }
  })
}

if (parentPort !== null) answerTasks(parentPort)
