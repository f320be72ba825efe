/** Finds the files of Mesa, whose locations differ between Linux distributions. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Older versions crash, or offer Dawn no adapter. */
export const MIN_MESA = 25

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'x86_64', arm64: 'aarch64' }
const architecture = ARCHITECTURES[process.arch] ?? process.arch

const MANIFEST_FOLDERS = ['/usr/local/share/vulkan/icd.d', '/usr/share/vulkan/icd.d', '/etc/vulkan/icd.d']
const LIBRARY_FOLDERS = ['/usr/local/lib', '/usr/lib', '/usr/lib64', '/lib64', '/lib'].flatMap((folder) => [
  join(folder, `${architecture}-linux-gnu`),
  folder,
])

/** The manifest of a Mesa Vulkan driver, `radeon` or `lvp` (lavapipe), or null if it is not installed. */
export function vulkanManifest(driver: string): string | null {
  const names = [`${driver}_icd.json`, `${driver}_icd.${architecture}.json`]
  return firstExisting(MANIFEST_FOLDERS.flatMap((folder) => names.map((name) => join(folder, name))))
}

/** A shared library in the usual folders or in LD_LIBRARY_PATH, or null. */
export function libraryFile(name: string): string | null {
  const own = (process.env.LD_LIBRARY_PATH ?? '').split(':').filter((folder) => folder !== '')
  return firstExisting([...own, ...LIBRARY_FOLDERS].map((folder) => join(folder, name)))
}

function firstExisting(paths: readonly string[]): string | null {
  return paths.find((path) => existsSync(path)) ?? null
}
