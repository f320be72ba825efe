/**
 * Runs the shader on a device, with buffers for each batch in flight. Works wherever there is WebGPU: in a GPU's child
 * process with Dawn, and on a web page.
 */
/// <reference types="@webgpu/types" />
import {
  type Batch,
  type BatchResult,
  decodeResult,
  encodeParams,
  PARAMS_BYTES,
  type PreparedWork,
  RESULT_BYTES,
} from './layout.ts'
import type { BatchRunner } from './search-loop.ts'

/** The constants of WebGPU: globals of a page, exported by the package `webgpu`. */
export interface GpuConstants {
  readonly GPUBufferUsage: Readonly<Record<'UNIFORM' | 'STORAGE' | 'COPY_SRC' | 'COPY_DST' | 'MAP_READ', number>>
  readonly GPUMapMode: Readonly<Record<'READ', number>>
}

interface RunnerOptions {
  /** The text of shaders/search.wgsl. */
  readonly shader: string
  readonly workgroup: number
  /** Whether sums are split over two pipes (shaders/search.wgsl). */
  readonly split: boolean
  /** Number of parallel batches. */
  readonly slots: number
}

interface Slot {
  readonly params: GPUBuffer
  readonly result: GPUBuffer
  readonly readback: GPUBuffer
  readonly bindings: GPUBindGroup
}

export class GpuRunner implements BatchRunner {
  readonly #device: GPUDevice
  readonly #constants: GpuConstants
  readonly #options: RunnerOptions
  readonly #pipeline: GPUComputePipeline
  readonly #slots: readonly Slot[]
  #tag = 0

  private constructor(
    constants: GpuConstants,
    device: GPUDevice,
    pipeline: GPUComputePipeline,
    options: RunnerOptions,
  ) {
    this.#constants = constants
    this.#device = device
    this.#pipeline = pipeline
    this.#options = options
    this.#slots = Array.from({ length: options.slots }, (_, slot) => this.#createSlot(slot))
  }

  /** Rejects if the shader does not compile. */
  static async create(constants: GpuConstants, device: GPUDevice, options: RunnerOptions): Promise<GpuRunner> {
    const { shader, workgroup, split } = options
    const module = device.createShaderModule({ label: 'search', code: shader })
    const pipeline = await device.createComputePipelineAsync({
      label: `search, workgroup ${workgroup}`,
      layout: 'auto',
      compute: { module, entryPoint: 'search', constants: { WORKGROUP: workgroup, SPLIT: Number(split) } },
    })
    return new GpuRunner(constants, device, pipeline, options)
  }

  async run(slot: number, work: PreparedWork, batch: Batch): Promise<BatchResult> {
    const { params, result, readback, bindings } = this.#slots[slot]
    // Tags begin at 1: zero is the tag of an unwritten result.
    this.#tag = (this.#tag % 0xffffffff) + 1
    const tag = this.#tag
    this.#device.queue.writeBuffer(params, 0, encodeParams(work, batch, tag))
    const encoder = this.#device.createCommandEncoder({ label: `batch ${tag}` })
    encoder.clearBuffer(result, 0, 8)
    const pass = encoder.beginComputePass({ label: `batch ${tag}` })
    pass.setPipeline(this.#pipeline)
    pass.setBindGroup(0, bindings)
    pass.dispatchWorkgroups(...this.#dispatchSize(batch.lanes))
    pass.end()
    encoder.copyBufferToBuffer(result, 0, readback, 0, RESULT_BYTES)
    this.#device.queue.submit([encoder.finish()])
    await readback.mapAsync(this.#constants.GPUMapMode.READ)
    const words = new Uint32Array(readback.getMappedRange().slice(0))
    readback.unmap()
    const decoded = decodeResult(words, tag)
    if (decoded === null) throw new Error(`batch ${tag} came back with tag ${words[0]}`)
    return decoded
  }

  destroy(): void {
    for (const { params, result, readback } of this.#slots) {
      for (const buffer of [params, result, readback]) buffer.destroy()
    }
  }

  /** Workgroups in x and y, perhaps a few too many: the shader knows the number of lanes. */
  #dispatchSize(lanes: number): [number, number] {
    const groups = Math.ceil(lanes / this.#options.workgroup)
    const rows = Math.ceil(groups / this.#device.limits.maxComputeWorkgroupsPerDimension)
    return [Math.ceil(groups / rows), rows]
  }

  #createSlot(slot: number): Slot {
    const { UNIFORM, STORAGE, COPY_SRC, COPY_DST, MAP_READ } = this.#constants.GPUBufferUsage
    const create = (name: string, size: number, usage: number) =>
      this.#device.createBuffer({ label: `${name} ${slot}`, size, usage })
    const params = create('params', PARAMS_BYTES, UNIFORM | COPY_DST)
    const result = create('result', RESULT_BYTES, STORAGE | COPY_SRC | COPY_DST)
    const readback = create('readback', RESULT_BYTES, MAP_READ | COPY_DST)
    const bindings = this.#device.createBindGroup({
      label: `bindings ${slot}`,
      layout: this.#pipeline.getBindGroupLayout(0),
      entries: [
        { binding: 0, resource: { buffer: params } },
        { binding: 1, resource: { buffer: result } },
      ],
    })
    return { params, result, readback, bindings }
  }
}
