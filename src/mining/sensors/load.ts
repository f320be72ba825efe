/** CPU load of other programs on this machine. */
import { readdir, readFile } from 'node:fs/promises'
import { cpus } from 'node:os'

/** CPU time since boot or program start, in milliseconds of one processor. */
export interface CpuLoad {
  /** Monotonic wall-clock time. */
  readonly atMs: number
  /** CPU time of all programs. */
  readonly busyMs: number
  /** CPU time of this program with its threads and, on Linux, its child processes. */
  readonly ownMs: number
  readonly processors: number
}

/** Linux reports CPU times of processes in hundredths of a second, whatever its kernel configuration. */
const TICK_MS = 10

/** @returns the fraction of the machine that other programs used between two readings, 0 to 1 */
export function fractionOfOthers(before: CpuLoad, after: CpuLoad): number {
  const busyMs = after.busyMs - before.busyMs - (after.ownMs - before.ownMs)
  const allMs = (after.atMs - before.atMs) * after.processors
  return allMs > 0 ? Math.min(1, Math.max(0, busyMs / allMs)) : 0
}

/** @returns null if this machine does not report CPU times */
export async function readLoad(): Promise<CpuLoad | null> {
  const [machine, childrenMs] = await Promise.all([readMachine(), readChildren()])
  if (machine.busyMs === 0 || machine.processors === 0) return null
  const { user, system } = process.cpuUsage()
  return { atMs: performance.now(), ...machine, ownMs: (user + system) / 1000 + childrenMs }
}

async function readMachine(): Promise<Pick<CpuLoad, 'busyMs' | 'processors'>> {
  // On Linux, os.cpus() also reads the frequency of each processor, which is slow on large machines.
  const stat = process.platform === 'linux' ? await textOf('/proc/stat') : ''
  const lines = stat.split('\n').filter((line) => /^cpu\d/.test(line))
  if (lines.length === 0) {
    const all = cpus()
    const busyMs = all.reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
    return { busyMs, processors: all.length }
  }
  const ticks = lines.map((line) => {
    // Disk waits (iowait) are idle time, and time of other virtual machines (steal) is not used here.
    const [user, nice, system, , , irq, softirq] = line.split(/\s+/).slice(1).map(Number)
    return user + nice + system + irq + softirq
  })
  return { busyMs: ticks.reduce((sum, each) => sum + each, 0) * TICK_MS, processors: lines.length }
}

/** CPU time of running and ended descendants in milliseconds; 0 on systems other than Linux. */
async function readChildren(): Promise<number> {
  if (process.platform !== 'linux') return 0
  const living = await livingMs('self')
  return living + (await timesOf('self')).endedMs
}

/** CPU time of a process with all its descendants. */
async function treeMs(pid: string): Promise<number> {
  // In this order, a process that ends meanwhile counts twice for newcut. The other order would blame other programs.
  const below = await livingMs(pid)
  const { usedMs, endedMs } = await timesOf(pid)
  return below + usedMs + endedMs
}

async function livingMs(parent: string): Promise<number> {
  const times = await Promise.all((await childrenOf(parent)).map(treeMs))
  return times.reduce((sum, each) => sum + each, 0)
}

/** CPU time of a process, and of its ended children. */
async function timesOf(pid: string): Promise<{ readonly usedMs: number; readonly endedMs: number }> {
  // The name, in parentheses, may hold anything. In the fields after it, 0 is the state and 11 to 14 are times.
  const fields = (await textOf(`/proc/${pid}/stat`)).replace(/^.*\) /s, '').split(' ')
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number)
  return { usedMs: (user + system) * TICK_MS, endedMs: (endedUser + endedSystem) * TICK_MS }
}

/** Linux lists a child under the thread that started it. */
async function childrenOf(pid: string): Promise<string[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(threads.map((thread) => textOf(`/proc/${pid}/task/${thread}/children`)))
  return lists.flatMap((list) => list.split(' ').filter((child) => child.trim() !== ''))
}

/** Empty for a process that has ended, and on systems without the file. */
const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
