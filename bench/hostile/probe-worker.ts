/** Runs hostile commands in a worker, which the process around it watches. */
import { parentPort, workerData } from 'node:worker_threads'
import { hostileCases } from './cases.ts'
import { type Prepared, prepare, watchGas } from './hostile-command.ts'

/** From the process to the worker: prepares a command, then runs it. */
export type WorkerTask = { readonly prepare: string } | { readonly run: true }
export type WorkerAnswer = { readonly ready: true } | ReturnType<Prepared['run']>

const port = parentPort
if (port === null) throw new Error('this file runs in a worker')
const { shared } = workerData as { readonly shared: Float64Array }
let prepared: Prepared | null = null

watchGas((milligas) => {
  shared[0] = milligas
})

port.on('message', (task: WorkerTask) => port.postMessage(answer(task)))

function answer(task: WorkerTask): WorkerAnswer {
  if ('run' in task) {
    if (prepared === null) throw new Error('no command was prepared')
    const { run } = prepared
    prepared = null
    return run()
  }
  prepared = prepare(caseNamed(task.prepare))
  // Garbage of the command before would be collected on account of this one.
  globalThis.gc?.()
  shared[0] = 0
  return { ready: true }
}

function caseNamed(name: string) {
  const found = hostileCases.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no hostile case ${name}`)
  return found
}
