/** `newcut devices`: the GPUs of this machine, and the native kernels of its CPU. */
import { randomBytes } from 'node:crypto'
import type { ProcessEnvironment } from '#faces/cli/line.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { describeError } from '#ground/base/errors.ts'
import { formatHashrate } from '#ground/base/units.ts'
import { encodeWork } from '#ground/chain/header.ts'
import { tuningFileOf } from '#mining/engine/cache-folder.ts'
import { chooseNative, loadChosen, type NativeChoice } from '#mining/engine/cpu/native-choice.ts'
import { listAdapters, measureAdapter } from '#mining/engine/gpu/adapters.ts'
import { alikeHint } from '#mining/engine/gpu/identical.ts'
import type { AdapterInfo, ListedAdapter } from '#mining/engine/gpu/messages.ts'

export interface DevicesOptions {
  readonly json: boolean
  /** Whether to search on each for two seconds. */
  readonly measure: boolean
}

const MEASURE_MS = 2000

interface Device extends ListedAdapter {
  readonly index: number
  readonly hashesPerSecond?: number
  readonly failure?: string
}

/** Resolves with exit code 1 if there is no adapter. */
export async function runDevices(
  { json, measure }: DevicesOptions,
  { out, environment }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  const { adapters, problem } = await listAdapters()
  const devices: Device[] = []
  for (const [index, adapter] of adapters.entries()) {
    devices.push({ index, ...adapter, ...(measure && (await measureDevice(adapter, environment))) })
  }
  const native = chooseNative()
  const kernels = Object.keys(loadChosen(native).sweeps)
  if (json) print(JSON.stringify({ devices, problem, native: { ...native, kernels } }))
  else for (const device of devices) for (const line of linesOf(device)) print(line)
  if (!json && problem !== null) print(`no GPU: ${problem}`)
  if (!json) for (const line of kernelLines(native, kernels)) print(line)
  return adapters.length === 0 ? 1 : 0
}

async function measureDevice(
  adapter: AdapterInfo,
  environment: ProcessEnvironment,
): Promise<{ hashesPerSecond: number } | { failure: string }> {
  const tuningFile = tuningFileOf(environment, process.platform)
  try {
    return { hashesPerSecond: await measureAdapter(adapter, unsolvableWork(), { durationMs: MEASURE_MS, tuningFile }) }
  } catch (error) {
    return { failure: describeError(error) }
  }
}

/** 286 bytes of made-up work; with a target of 0 nothing solves it. */
function unsolvableWork(): Uint8Array {
  const hash = () => Uint8Array.from(randomBytes(32))
  return encodeWork({
    featureFlags: 0n,
    creationTime: 0n,
    parent: hash(),
    adjacents: new Map([1, 2, 3].map((chain) => [chain, hash()])),
    target: 0n,
    payloadHash: hash(),
    chainId: 0,
    weight: 0n,
    height: 0n,
    version: 0,
    epochStart: 0n,
    nonce: 0n,
  })
}

/** The native kernels of this processor, their origin, and the reasons against others. */
function kernelLines({ origin, file, obstacle, passedOver }: NativeChoice, kernels: readonly string[]): string[] {
  const reasons = passedOver.map((sentence) => `  ${sentence}`)
  if (origin === null) return [`CPU: no native kernel: ${obstacle}`, ...reasons]
  const places: Record<typeof origin, string> = {
    prebuilt: `prebuilt for ${process.platform}-${process.arch}`,
    installed: 'compiled at installation',
    cached: 'compiled at first use',
  }
  return [`CPU: native kernels, ${places[origin]}: ${kernels.join(', ')}`, `  ${file}`, ...reasons]
}

function linesOf(device: Device): string[] {
  const { index, name, vendor, architecture, driver, backend, software, limits } = device
  const rate = device.hashesPerSecond === undefined ? [] : [`  rate: ${formatHashrate(device.hashesPerSecond)}`]
  const others = device.alike === 1 ? [] : [`  ${alikeHint(device.alike)}`]
  const failure = device.failure === undefined ? [] : [`  does not search: ${device.failure}`]
  return [
    `${index}: ${name}${software ? ' (software: refused without --allow-software)' : ''}`,
    `  vendor ${vendor || 'unknown'}, architecture ${architecture || 'unknown'}, driver ${driver || 'unknown'}, ${backend}`,
    `  ${limits.invocationsPerWorkgroup} lanes a workgroup, ${limits.workgroupsPerDimension} workgroups a dimension, ` +
      `buffers to ${limits.storageBufferBytes} bytes`,
    ...others,
    ...rate,
    ...failure,
  ]
}
