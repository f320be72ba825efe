/** The machine, in the words of XMRig's summary: its processor and what is in use of it. */
import { readdir, readFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, freemem, loadavg, totalmem } from 'node:os'

/** Instruction sets that searching can use, as Linux names them. */
const FLAGS = ['aes', 'avx', 'avx2', 'avx512f', 'avx512vl', 'bmi2', 'sse2', 'ssse3', 'sse4_1', 'sha_ni', 'asimd']

const CPU_FOLDER = '/sys/devices/system/cpu'

export interface Processor {
  readonly brand: string
  readonly aes: boolean | null
  readonly avx2: boolean | null
  readonly x64: boolean
  /** Bytes of all caches of this level together; null: not known. */
  readonly l2: number | null
  readonly l3: number | null
  /** Physical cores; null: not known. */
  readonly cores: number | null
  readonly threads: number
  readonly packages: number | null
  readonly arch: string
  readonly flags: readonly string[]
}

/** What Linux tells of the processor, and elsewhere what Node knows. Never rejects. */
export async function readProcessor(): Promise<Processor> {
  const info = await readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  const all = cpus()
  const known = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(info)?.[1].split(' ') ?? null
  const has = (flag: string) => known?.includes(flag) ?? null
  const [l2, l3] = await Promise.all([cacheBytes(2), cacheBytes(3)])
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

/** How many different matches there are; null: none, so the text does not tell. */
function placesOf(info: string, pattern: RegExp): number | null {
  return new Set([...info.matchAll(pattern)].map(([, ...parts]) => parts.join('/'))).size || null
}

/** Each cache is listed by all processors that share it. */
async function cacheBytes(level: number): Promise<number | null> {
  const names = await readdir(CPU_FOLDER).catch(() => [])
  const caches = new Map<string, number>()
  const read = names
    .filter((name) => /^cpu\d+$/.test(name))
    .map(async (name) => {
      const folder = `${CPU_FOLDER}/${name}/cache/index${level}`
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
