/**
 * The child program with a device that goes wrong on its tenth batch. TEST_FAULT names the fault.
 * TEST_MARK names a file: the fault happens only if the file does not exist, and creates it.
 */
import { existsSync, writeFileSync, writeSync } from 'node:fs'
import { globals } from 'webgpu'

const { TEST_FAULT: fault, TEST_MARK: mark } = process.env
const { GPUDevice, GPUQueue, GPUBuffer, GPUComputePassEncoder } = globals
const FAULTY_BATCH = 10
let batches = 0
let faulty = false

const faults = {
  validation: () => {
    const dispatch = GPUComputePassEncoder.prototype.dispatchWorkgroups
    GPUComputePassEncoder.prototype.dispatchWorkgroups = function () {
      return dispatch.call(this, 70_000)
    }
  },
  destroyed: (device) => device.destroy(),
  skipped: () => {
    GPUQueue.prototype.submit = () => undefined
  },
  // Runs only the first workgroup: the tag is right, and no candidate is wrong.
  idle: () => {
    const dispatch = GPUComputePassEncoder.prototype.dispatchWorkgroups
    GPUComputePassEncoder.prototype.dispatchWorkgroups = function () {
      return dispatch.call(this, 1)
    }
  },
  silent: () => {
    GPUBuffer.prototype.mapAsync = () => new Promise(() => undefined)
  },
  hang: () => {
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
  },
  crash: () => process.abort(),
  garbage: () => writeSync(3, 'Segmentation fault\n'),
  inflated: () => writeSync(3, '{"type":"batch","sequence":1,"nonces":1e15,"serviceMs":1,"candidates":[]}\n'),
  endless: () => writeSync(3, 'x'.repeat(100_000)),
  // A result with the right tag and one wrong nonce, as from an overclocked card.
  wrong: () => {
    const { getMappedRange } = GPUBuffer.prototype
    GPUBuffer.prototype.getMappedRange = function (...range) {
      const bytes = getMappedRange.apply(this, range).slice(0)
      const words = new Uint32Array(bytes)
      words.set([0x1234_5678, 0x9abc_def0], 2)
      GPUBuffer.prototype.getMappedRange = getMappedRange
      return bytes
    }
  },
}

const { createCommandEncoder } = GPUDevice.prototype
GPUDevice.prototype.createCommandEncoder = function (...options) {
  const encoder = createCommandEncoder.apply(this, options)
  if (++batches === FAULTY_BATCH && !faulty && !existsSync(mark)) {
    faulty = true
    writeFileSync(mark, '')
    faults[fault](this)
  }
  return encoder
}

await import('../../dist/src/mining/engine/gpu/child.js')
