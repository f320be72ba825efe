/** Finds and opens adapters through Dawn. Child process only. */
/// <reference types="@webgpu/types" />
import { openedBy } from './identical.ts'
import type { AdapterChoice, AdapterInfo, ListedAdapter } from './messages.ts'
import type { GpuConstants } from './runner.ts'
import { isSoftware } from './software.ts'

/** The used part of the package `webgpu`. */
export interface Dawn {
  create(flags: string[]): GPU
  readonly globals: GpuConstants
}

/** A failure that a retry would repeat. */
export class UnrecoverableError extends Error {}

type NamedAdapter = AdapterChoice & Pick<ListedAdapter, 'alike'>

/** The backend to use for a card that has several. */
const PREFERRED: Partial<Record<NodeJS.Platform, string>> = { linux: 'vulkan', win32: 'd3d12', darwin: 'metal' }
/** Every request uses the same preference, because the order of adapters may depend on it. */
const PREFERENCE: GPURequestAdapterOptions = { powerPreference: 'high-performance' }
const UNKNOWN_NAME = 'newcut lists adapters'
/** Results of `create` must stay reachable: collecting one crashes or hangs the process. */
const instances: GPU[] = []

/** @throws UnrecoverableError if the package is missing or does not load */
export async function loadDawn(name = 'webgpu'): Promise<Dawn> {
  try {
    const dawn: Dawn = await import(name)
    return dawn
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_MODULE_NOT_FOUND') throw new UnrecoverableError(`the package ${name} is not installed`)
    throw new UnrecoverableError(`the package webgpu does not load here: ${message.split('\n')[0]}`)
  }
}

/** All adapters that can be opened by name. */
export async function listDawnAdapters(dawn: Dawn): Promise<ListedAdapter[]> {
  const listed: ListedAdapter[] = []
  for (const choice of adaptersIn(await nameRefusal(dawn))) {
    const adapter = await openAdapter(dawn, choice)
    if (adapter !== null) listed.push({ ...infoOf(adapter, choice), alike: choice.alike })
  }
  return listed
}

/** @returns null if no adapter has this name */
export async function openAdapter(dawn: Dawn, { backend, name }: AdapterChoice): Promise<GPUAdapter | null> {
  const gpu = dawn.create([`backend=${backend}`, `adapter=${name}`])
  instances.push(gpu)
  return await gpu.requestAdapter(PREFERENCE)
}

/**
 * The adapters in the text of a refusal. An adapter that Dawn cannot open by its name counts with the one that Dawn
 * would open instead.
 */
export function adaptersIn(refusal: string, platform: NodeJS.Platform = process.platform): NamedAdapter[] {
  const usable: (AdapterChoice & { alike: number })[] = []
  for (const [, backend, name] of refusal.matchAll(/backend: '([^']*)', name: '(.*)'$/gm)) {
    const opened = openedBy({ backend, name }, usable)
    if (opened !== undefined) opened.alike++
    else if (backend !== 'null') usable.push({ backend, name, alike: 1 })
  }
  const preferred = usable.filter(({ backend }) => backend === PREFERRED[platform])
  return preferred.length > 0 ? preferred : usable
}

/** Dawn cannot list adapters, but its refusal of an unknown name lists all known names. */
async function nameRefusal(dawn: Dawn): Promise<string> {
  try {
    const gpu = dawn.create([`adapter=${UNKNOWN_NAME}`])
    instances.push(gpu)
    await gpu.requestAdapter(PREFERENCE)
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

export function infoOf(adapter: GPUAdapter, { backend, name }: AdapterChoice): AdapterInfo {
  const { vendor, architecture, device, description } = adapter.info
  const { limits } = adapter
  return {
    name,
    backend,
    vendor,
    architecture,
    device,
    driver: description,
    software: isSoftware(adapter, name),
    limits: {
      invocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
      workgroupsPerDimension: limits.maxComputeWorkgroupsPerDimension,
      storageBufferBytes: limits.maxStorageBufferBindingSize,
    },
  }
}
