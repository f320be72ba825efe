/**
 * Compiles the shader from stdin for the AMD card in argument 1, for the shader suite (radv.ts). The driver writes its
 * assembly to stderr. The driver's name goes to stdout first, because the driver may crash later.
 */
import { readFileSync, writeSync } from 'node:fs'
import { listDawnAdapters, loadDawn, openAdapter } from '../src/mining/engine/gpu/dawn.ts'

const [, , target] = process.argv

async function compile(): Promise<void> {
  const dawn = await loadDawn()
  // A real card may be present too.
  const adapters = await listDawnAdapters(dawn)
  const info = adapters.find(({ name }) => name.toLowerCase().includes(`radv ${target}`))
  const adapter = info && (await openAdapter(dawn, info))
  if (!adapter) throw new Error(`the driver offers no ${target}`)
  writeSync(1, `${info.driver}\n`)
  const device = await adapter.requestDevice()
  const module = device.createShaderModule({ code: readFileSync(0, 'utf8') })
  const compute = { module, entryPoint: 'search', constants: { WORKGROUP: 64, SPLIT: 0 } }
  await device.createComputePipelineAsync({ layout: 'auto', compute })
}

compile().then(
  () => process.exit(0),
  (error: Error) => {
    writeSync(2, `${error.message.split('\n')[0]}\n`)
    process.exit(1)
  },
)
