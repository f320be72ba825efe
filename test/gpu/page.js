/** In a page: runs the shader on one batch and returns the words of the result. Tests call `runBatch`. */
let device
const pipelines = new Map()

async function pipelineFor(code, workgroup, split) {
  device ??= await (await navigator.gpu.requestAdapter()).requestDevice()
  const key = `${workgroup} ${split}`
  if (!pipelines.has(key)) {
    const module = device.createShaderModule({ code })
    const compute = { module, entryPoint: 'search', constants: { WORKGROUP: workgroup, SPLIT: Number(split) } }
    pipelines.set(key, await device.createComputePipelineAsync({ layout: 'auto', compute }))
  }
  return pipelines.get(key)
}

globalThis.runBatch = async ({ code, params, resultBytes, workgroup, split, groups }) => {
  const pipeline = await pipelineFor(code, workgroup, split)
  const { UNIFORM, STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage
  const input = device.createBuffer({ size: 4 * params.length, usage: UNIFORM | COPY_DST })
  const result = device.createBuffer({ size: resultBytes, usage: STORAGE | COPY_SRC })
  const readback = device.createBuffer({ size: resultBytes, usage: MAP_READ | COPY_DST })
  device.queue.writeBuffer(input, 0, new Uint32Array(params))
  const encoder = device.createCommandEncoder()
  const pass = encoder.beginComputePass()
  pass.setPipeline(pipeline)
  const entries = [input, result].map((buffer, binding) => ({ binding, resource: { buffer } }))
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }))
  pass.dispatchWorkgroups(...groups)
  pass.end()
  encoder.copyBufferToBuffer(result, 0, readback, 0, resultBytes)
  device.queue.submit([encoder.finish()])
  await readback.mapAsync(GPUMapMode.READ)
  const words = [...new Uint32Array(readback.getMappedRange())]
  for (const buffer of [input, result, readback]) buffer.destroy()
  return words
}
