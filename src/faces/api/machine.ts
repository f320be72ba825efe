/** Describes the machine in the form of XMRig's summary: processor, memory, load. */
import { readdir, readFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, freemem, loadavg, totalmem } from 'node:os'

/** CPU flags that matter to the kernels, by their Linux names. */
const FLAGS = ['aes', 'avx', 'avx2', 'avx512f', 'avx512vl', 'bmi2', 'sse2', 'ssse3', 'sse4_1', 'sha_ni', 'asimd']

const CPU_FOLDER = '/sys/devices/system/cpu'
const CPU_INFO = '/proc/cpuinfo'

export interface Processor {
  readonly brand: string
  readonly aes: boolean | null
  readonly avx2: boolean | null
  readonly x64: boolean
  /** Total size of all caches of this level in bytes, or null if unknown. */
  readonly l2: number | null
  readonly l3: number | null
  /** Number of physical cores, or null if unknown. */
  readonly cores: number | null
  readonly threads: number
  readonly packages: number | null
  readonly arch: string
  readonly flags: readonly string[]
}

/**
 * Reads the processor from Linux, elsewhere from Node. Never rejects.
 * @param folder the folder in which Linux describes processors and their caches
 * @param file the file in which it lists them with their flags
 */
export async function readProcessor(folder = CPU_FOLDER, file = CPU_INFO): Promise<Processor> {
  const info = await readFile(file, 'utf8').catch(() => '')
  const all = cpus()
  const known = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(info)?.[1].split(' ') ?? null
  const has = (flag: string) => known?.includes(flag) ?? null
  const [l2, l3] = await Promise.all([cacheBytes(folder, 2), cacheBytes(folder, 3)])
  const cores = placesOf(info, /^physical id\s*:\s*(\d+)$[\s\S]*?^core id\s*:\s*(\d+)$/gm)
  return {
    brand: all[0]?.model.trim() || arch(),
    aes: has('aes'),
    avx2: has('avx2'),
    x64: process.arch === 'x64',
    l2,
    l3,
    cores,
    threads: all.length,
    packages: placesOf(info, /^physical id\s*:\s*(\d+)$/gm),
    arch: arch(),
    flags: FLAGS.filter(has).map((flag) => flag.replace('sse4_1', 'sse4.1')),
  }
}

/** @returns the number of distinct matches, or null if there are none */
function placesOf(info: string, pattern: RegExp): number | null {
  return new Set([...info.matchAll(pattern)].map(([, ...parts]) => parts.join('/'))).size || null
}

/** Sums the caches of a level. Linux lists a cache once for each CPU that shares it. */
async function cacheBytes(cpuFolder: string, level: number): Promise<number | null> {
  const names = await readdir(cpuFolder).catch(() => [])
  const caches = new Map<string, number>()
  const read = names
    .filter((name) => /^cpu\d+$/.test(name))
    .map(async (name) => {
      const folder = `${cpuFolder}/${name}/cache/index${level}`
      const text = (file: string) => readFile(`${folder}/${file}`, 'utf8').catch(() => '')
      const [told, size, sharedBy] = await Promise.all([text('level'), text('size'), text('shared_cpu_list')])
      const kibibytes = /^(\d+)K$/.exec(size.trim())?.[1]
      if (told.trim() === String(level) && kibibytes !== undefined) caches.set(sharedBy, Number(kibibytes) * 1024)
    })
  await Promise.all(read)
  return caches.size === 0 ? null : [...caches.values()].reduce((sum, bytes) => sum + bytes, 0)
}

export function resources() {
  return {
    memory: { free: freemem(), total: totalmem(), resident_set_memory: process.memoryUsage.rss() },
    load_average: loadavg(),
    hardware_concurrency: availableParallelism(),
  }
}
