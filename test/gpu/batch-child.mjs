/** Runs the batches of batch-server.ts on the first adapter, with the compiled code that ships. */
import { createInterface } from 'node:readline'
import { listDawnAdapters, loadDawn, openAdapter } from '../../dist/src/mining/engine/gpu/dawn.js'
import { prepareWork } from '../../dist/src/mining/engine/gpu/layout.js'
import { GpuRunner } from '../../dist/src/mining/engine/gpu/runner.js'
import { shaderText } from '../../dist/src/mining/engine/gpu/shader.js'

globalThis.setImmediate = (run, ...values) => setTimeout(run, 1, ...values)

const dawn = await loadDawn()
const [choice] = await listDawnAdapters(dawn)
const adapter = await openAdapter(dawn, choice)
const device = await adapter.requestDevice()
device.addEventListener('uncapturederror', ({ error }) => {
  console.error(error.message)
  process.exit(1)
})
const runners = new Map()

for await (const line of createInterface({ input: process.stdin })) {
  const { workgroup, split, bytes, target, batch } = JSON.parse(line)
  const key = `${workgroup} ${split}`
  const options = { shader: shaderText(), workgroup, split, slots: 1 }
  if (!runners.has(key)) runners.set(key, await GpuRunner.create(dawn.globals, device, options))
  const work = prepareWork(Buffer.from(bytes, 'hex'), BigInt(target))
  const { found, nonces } = await runners.get(key).run(0, work, batch)
  console.log(JSON.stringify({ found, nonces: nonces.map(String) }))
}
process.exit(0)
