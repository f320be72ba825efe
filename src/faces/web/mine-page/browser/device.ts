/** Opens and tests the visitor's GPU. */
/// <reference types="@webgpu/types" />
import { GpuRunner } from '#mining/engine/gpu/runner.ts'
import { selfTestGpu } from '#mining/engine/gpu/self-test.ts'
import { isSoftware } from '#mining/engine/gpu/software.ts'
import { Problem } from './problem.ts'

/** Batches in flight: two hide the gap between a result and the next batch. */
export const IN_FLIGHT = 2
/** Workgroup size and nonces per lane. These values suit all GPUs; the page does no tuning. */
export const WORKGROUP = 64
export const TRIPS = 16

const BROWSERS =
  'Use Chrome, Edge or another Chromium browser from version 113, Safari from 26, or Firefox from 141 on Windows. ' +
  'On Linux you may have to enable WebGPU in the settings.'

export interface SearchDevice {
  readonly name: string
  /** Whether the driver computes on the CPU. */
  readonly software: boolean
  readonly runner: GpuRunner
  /** Rejects with a Problem if the device fails or is lost. */
  readonly failed: Promise<never>
  readonly close: () => void
}

/**
 * Opens the device.
 * @throws Problem if there is none, or if it computes wrongly
 */
export async function openDevice(shader: string): Promise<SearchDevice> {
  const adapter = await requestAdapter()
  const device = await adapter.requestDevice({ label: 'newcut' })
  const failed = failureOf(device)
  // Avoid an unhandled rejection before anybody awaits it.
  failed.catch(() => undefined)
  try {
    const split = adapter.info.vendor === 'nvidia'
    const options = { shader, workgroup: WORKGROUP, split, slots: IN_FLIGHT }
    const runner = await GpuRunner.create({ GPUBufferUsage, GPUMapMode }, device, options)
    const complaint = await Promise.race([selfTestGpu(runner), failed])
    if (complaint !== null) {
      const advice = 'Update the graphics driver or the browser, then start again.'
      throw new Problem(`The self-test failed: ${complaint}.`, advice)
    }
    return { name: nameOf(adapter), software: isSoftware(adapter), runner, failed, close: () => device.destroy() }
  } catch (error) {
    device.destroy()
    throw error
  }
}

async function requestAdapter(): Promise<GPUAdapter> {
  if (navigator.gpu === undefined) {
    if (isSecureContext) throw new Problem('This browser has no WebGPU.', BROWSERS)
    const advice =
      'Browsers offer WebGPU only to pages at https:// or http://localhost. Open this page at one of these.'
    throw new Problem('This page was not loaded securely, so there is no WebGPU.', advice)
  }
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' })
  if (adapter !== null) return adapter
  throw new Problem(
    'This browser has WebGPU, but found no graphics card for it.',
    'Open chrome://gpu or about:support. The driver may be too old, or graphics acceleration disabled.',
  )
}

/** Rejects if the device is lost or refuses a command. A refused dispatch has no other sign. */
function failureOf(device: GPUDevice): Promise<never> {
  const advice = 'The driver was reset, or the card was removed. Start again to continue.'
  return new Promise((_, reject) => {
    void device.lost.then(({ message }) => reject(new Problem(`The graphics card was lost. ${message}`.trim(), advice)))
    device.addEventListener('uncapturederror', ({ error }) => {
      reject(new Problem(`The graphics card failed: ${error.message}`, 'Start again to continue.'))
    })
  })
}

function nameOf({ info }: GPUAdapter): string {
  const { vendor, architecture, device, description } = info
  return description || [vendor, device || architecture].filter((part) => part).join(' ') || 'a graphics card'
}
