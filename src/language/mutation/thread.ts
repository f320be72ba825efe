/** Main module of a thread that runs test files with and without faults, one after the other. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { NewcutError } from '#ground/base/errors.ts'
import type { EnvForkCall } from '../testing/env-forks.ts'
import type { FileForks } from '../testing/fork.ts'
import { type CallReply, openFileForks, plainError, runOnForks } from '../testing/run.ts'
import { failuresAfterChange, judgeMutant, measureTests, type TestChoices } from './run-tests.ts'
import type { ForkCallMessage, MutationAnswer, MutationTask } from './thread-messages.ts'

type TaskOf<K extends MutationTask['kind']> = Extract<MutationTask, { readonly kind: K }>

class MutationThread {
  readonly #port: MessagePort
  #known: { readonly choices: TestChoices; readonly texts: ReadonlyMap<string, string> } | null = null
  #fork: TaskOf<'fork'>['options'] = null
  /** Test file -> its forks, which stay open. */
  readonly #forks = new Map<string, FileForks>()
  #onReply: (reply: CallReply) => void = () => undefined
  #hasForked = false

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (message: MutationTask | CallReply) => {
      if (!('kind' in message)) this.#onReply(message)
      else if (message.kind === 'texts') this.#known = message
      else if (message.kind === 'fork') this.#fork = message.options
      else void this.#answer(message)
    })
  }

  async #answer(task: TaskOf<'measure' | 'judge' | 'change'>): Promise<void> {
    this.#send(
      await this.#run(task).catch((error: unknown): MutationAnswer => {
        if (error instanceof NewcutError) return { error: plainError(error) }
        throw error
      }),
    )
  }

  async #run(task: TaskOf<'measure' | 'judge' | 'change'>): Promise<MutationAnswer> {
    const forks = this.#forks.get(task.file) ?? (await this.#open(task.file))
    if (task.kind === 'measure') {
      this.#hasForked = this.#fork !== null
      const { file, choices, covered } = task
      const measured = await runOnForks(forks, (start) => measureTests(file, choices, covered, start))
      return { measured, isForked: this.#hasForked }
    }
    if (this.#known === null) throw new Error('a thread judges mutants before it has the texts')
    const { file, mutant, bounds, excluded } = task
    const choices = { ...this.#known.choices, texts: this.#known.texts, bounds, excluded }
    return runOnForks(forks, (start): MutationAnswer => {
      if (task.kind === 'judge') return { verdict: judgeMutant(file, mutant, { ...choices, start }) }
      return { failures: failuresAfterChange(file, mutant, { ...choices, start }) }
    })
  }

  async #open(file: string): Promise<FileForks> {
    const forks = await openFileForks(file, this.#fork, (call) => this.#ask(call))
    this.#forks.set(file, forks)
    return forks
  }

  #ask(call: EnvForkCall): Promise<CallReply> {
    this.#hasForked = true
    return new Promise((resolve) => {
      this.#onReply = resolve
      this.#send({ call })
    })
  }

  #send(message: MutationAnswer | ForkCallMessage): void {
    this.#port.postMessage(message)
  }
}

if (parentPort !== null) new MutationThread(parentPort)
