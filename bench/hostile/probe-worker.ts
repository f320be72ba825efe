/** Runs one hostile command in a worker, which the process around it watches. */
import { parentPort, workerData } from 'node:worker_threads'
import { hostileCases } from './cases.ts'
import { prepare, watchGas } from './hostile-command.ts'

const { name, shared } = workerData as { readonly name: string; readonly shared: Float64Array }
const hostile = hostileCases.find((each) => each.name === name)
if (hostile === undefined) throw new Error(`no hostile case ${name}`)
const { run } = prepare(hostile)
watchGas((milligas) => {
  shared[0] = milligas
})
parentPort?.postMessage({ ready: true })
parentPort?.once('message', () => parentPort?.postMessage(run()))
