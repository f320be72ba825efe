/**
 * Energy of the CPU packages from Linux powercap: a folder for each zone, with a counter of microjoules. Packages hold
 * their subzones (`core`, `dram`), and `psys` holds the packages, so only packages count. Source: the kernel's
 * Documentation/power/powercap/powercap.rst.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The powercap folder of Linux. */
export const POWERCAP_FOLDER = '/sys/class/powercap'

/** Names of zones that are a whole package, or a die of one. */
const PACKAGE = /^package-\d+(-die-\d+)?$/
/** Two drivers may show the same package. The processor's own registers are preferred to the memory-mapped ones. */
const PREFERRED = /^intel-rapl:\d+$/
/** No package draws more. A higher figure means that the counter restarted, such as after a suspend. */
const MAX_PACKAGE_WATTS = 2000

/** A package's counter. */
export interface PackageCounter {
  readonly name: string
  readonly microjoules: number
  /** The highest value of the counter, after which it is 0; null if unknown. */
  readonly highest: number | null
}

/** `absent`: there is no package to read. `denied`: the file may be read by others only. `failed`: it has no number. */
export interface PowercapProblem {
  readonly problem: 'absent' | 'denied' | 'failed'
  /** The file of the trouble, or the folder. */
  readonly path: string
}

/** Reads the counters of all packages. Never rejects. @returns the problem if there is none, or if one is unreadable */
export async function readPackages(folder: string): Promise<readonly PackageCounter[] | PowercapProblem> {
  const zones = await readdir(folder).catch(() => [])
  const paths = new Map<string, string>()
  for (const zone of zones.sort()) {
    const name = (await textOf(join(folder, zone, 'name')))?.trim() ?? ''
    if (PACKAGE.test(name) && (!paths.has(name) || PREFERRED.test(zone))) paths.set(name, join(folder, zone))
  }
  if (paths.size === 0) return { problem: 'absent', path: folder }
  const counters: PackageCounter[] = []
  for (const [name, path] of paths) {
    const file = join(path, 'energy_uj')
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => error)
    if (typeof text !== 'string') {
      return { problem: text.code === 'EACCES' || text.code === 'EPERM' ? 'denied' : 'failed', path: file }
    }
    const microjoules = numberIn(text)
    if (microjoules === null) return { problem: 'failed', path: file }
    counters.push({ name, microjoules, highest: numberIn((await textOf(join(path, 'max_energy_range_uj'))) ?? '') })
  }
  return counters
}

/**
 * Energy between two readings, which must be less than one turn of a counter apart.
 * @returns joules, or null if the readings have different packages, or if a counter of unknown range turned over
 */
export function joulesBetween(before: readonly PackageCounter[], after: readonly PackageCounter[]): number | null {
  if (before.length !== after.length) return null
  let sum = 0
  for (const { name, microjoules, highest } of after) {
    const first = before.find((each) => each.name === name)
    if (first === undefined) return null
    const isTurned = microjoules < first.microjoules
    if (isTurned && highest === null) return null
    sum += microjoules - first.microjoules + (isTurned ? (highest ?? 0) + 1 : 0)
  }
  return sum / 1e6
}

/** @returns the mean power between two readings in watts, or null if it is unknown */
export function wattsBetween(
  before: readonly PackageCounter[],
  after: readonly PackageCounter[],
  elapsedMs: number,
): number | null {
  const joules = joulesBetween(before, after)
  if (joules === null || elapsedMs <= 0) return null
  const watts = (joules * 1000) / elapsedMs
  return watts <= MAX_PACKAGE_WATTS * after.length ? watts : null
}

/** The problem as a sentence, with what to do about it. */
export function problemText({ problem, path }: PowercapProblem): string {
  switch (problem) {
    case 'absent':
      return `this machine does not report the power of the processor: ${path} has no package`
    case 'denied':
      return `only root may read ${path}: a udev rule with chgrp and chmod g+r allows it for a group`
    case 'failed':
      return `${path} has no number`
  }
}

/** @returns null if the file cannot be read */
const textOf = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null)

const numberIn = (text: string) => (/^\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : null)
