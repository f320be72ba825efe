/** Compiles the WGSL on stdin with Dawn's null backend, which needs no driver. Prints the errors as JSON. */
import { readFileSync } from 'node:fs'
import { create } from 'webgpu'

const gpu = create(['backend=null'])
const adapter = await gpu.requestAdapter()
const device = await adapter.requestDevice()
const errors = []
device.addEventListener('uncapturederror', ({ error }) => errors.push(error.message))
const module = device.createShaderModule({ code: readFileSync(0, 'utf8') })
const { messages } = await module.getCompilationInfo()
errors.push(...messages.map(({ lineNum, message }) => `line ${lineNum}: ${message}`))
try {
  for (const [WORKGROUP, SPLIT] of [
    [1, 0],
    [64, 1],
    [256, 0],
  ]) {
    const compute = { module, entryPoint: 'search', constants: { WORKGROUP, SPLIT } }
    await device.createComputePipelineAsync({ layout: 'auto', compute })
  }
} catch (error) {
  errors.push(error.message)
}
console.log(JSON.stringify(errors))
process.exit(0)
