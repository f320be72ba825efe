/** How much of this machine's processor other programs use. */
import { readdir, readFile } from 'node:fs/promises'
import { cpus } from 'node:os'

/** Times since the machine or the program began, in milliseconds of one processor. */
export interface LoadReading {
  /** Monotonic, of the clock on the wall. */
  readonly atMs: number
  /** All programs together. */
  readonly busyMs: number
  /** This program with its threads and, on Linux, its child processes. */
  readonly ownMs: number
  readonly processors: number
}

/** Linux counts the times of processes in hundredths of a second, whatever its kernel was built for. */
const TICK_MS = 10

/** What other programs used between two readings, as a share of the machine: 0 to 1. */
export function othersShare(before: LoadReading, after: LoadReading): number {
  const busyMs = after.busyMs - before.busyMs - (after.ownMs - before.ownMs)
  const allMs = (after.atMs - before.atMs) * after.processors
  return allMs > 0 ? Math.min(1, Math.max(0, busyMs / allMs)) : 0
}

/** null: this machine does not tell. */
export async function readLoad(): Promise<LoadReading | null> {
  const [machine, childrenMs] = await Promise.all([readMachine(), readChildren()])
  if (machine.busyMs === 0 || machine.processors === 0) return null
  const { user, system } = process.cpuUsage()
  return { atMs: performance.now(), ...machine, ownMs: (user + system) / 1000 + childrenMs }
}

async function readMachine(): Promise<Pick<LoadReading, 'busyMs' | 'processors'>> {
  // os.cpus() asks Linux for the speed of each processor too, which takes long where there are many.
  const stat = process.platform === 'linux' ? await textOf('/proc/stat') : ''
  const lines = stat.split('\n').filter((line) => /^cpu\d/.test(line))
  if (lines.length === 0) {
    const all = cpus()
    const busyMs = all.reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
    return { busyMs, processors: all.length }
  }
  const ticks = lines.map((line) => {
    // Waiting for disks (iowait) is idle, and what other machines take (steal) is not used here.
    const [user, nice, system, , , irq, softirq] = line.split(/\s+/).slice(1).map(Number)
    return user + nice + system + irq + softirq
  })
  return { busyMs: ticks.reduce((sum, each) => sum + each, 0) * TICK_MS, processors: lines.length }
}

/** Of child processes, living and ended, and theirs. 0 where the system does not tell (other than Linux). */
async function readChildren(): Promise<number> {
  if (process.platform !== 'linux') return 0
  const living = await livingMs('self')
  return living + (await timesOf('self')).endedMs
}

/** A process with what came of it. */
async function treeMs(pid: string): Promise<number> {
  // In this order one that ends meanwhile counts twice rather than not at all: nobody else is blamed for it.
  const below = await livingMs(pid)
  const { usedMs, endedMs } = await timesOf(pid)
  return below + usedMs + endedMs
}

async function livingMs(parent: string): Promise<number> {
  const times = await Promise.all((await childrenOf(parent)).map(treeMs))
  return times.reduce((sum, each) => sum + each, 0)
}

/** What a process used, and what its ended children did. */
async function timesOf(pid: string): Promise<{ readonly usedMs: number; readonly endedMs: number }> {
  // The name, in parentheses, may hold anything; after it: state, and from the 12th field on four times.
  const fields = (await textOf(`/proc/${pid}/stat`)).replace(/^.*\) /s, '').split(' ')
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number)
  return { usedMs: (user + system) * TICK_MS, endedMs: (endedUser + endedSystem) * TICK_MS }
}

/** A process is the child of the thread that started it. */
async function childrenOf(pid: string): Promise<string[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(threads.map((thread) => textOf(`/proc/${pid}/task/${thread}/children`)))
  return lists.flatMap((list) => list.split(' ').filter((child) => child.trim() !== ''))
}

/** Empty for a process that has ended, and where the system has no such file. */
const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
