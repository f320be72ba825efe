/** Finds the processes of a run in Linux's /proc, so that they end with it. */
import { readdirSync, readFileSync } from 'node:fs'

export interface Process {
  readonly pid: number
  readonly parent: number
  readonly session: number
  /** The command line. */
  readonly command: string
}

/** All visible processes except zombies; empty without /proc. */
export function processes(): Process[] {
  return pids().flatMap((pid) => {
    try {
      // Format: pid (name) state parent group session ...; the name may contain anything.
      const [state, parent, , session] = statOf(`/proc/${pid}/stat`)
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return state === 'Z' ? [] : [{ pid, parent: Number(parent), session: Number(session), command }]
    } catch (error) {
      if (isGone(error)) return []
      throw error
    }
  })
}

/** Processes of a session, and their children in other sessions. */
export function processesOf(session: number, all: readonly Process[] = processes()): Process[] {
  const found = new Map(all.filter((each) => each.session === session).map((each) => [each.pid, each]))
  for (let size = -1; size < found.size; ) {
    size = found.size
    for (const each of all) if (found.has(each.parent)) found.set(each.pid, each)
  }
  return [...found.values()]
}

/** Kills a session and its children. A session has the process id of its leader. */
export function endSession(session: number): void {
  if (process.platform !== 'linux') kill(-session)
  // A process may fork while the list is read, so repeat.
  for (let left = processesOf(session); left.length > 0; left = processesOf(session)) {
    for (const { pid } of left) kill(pid)
  }
}

/** CPU time of this process and its awaited children in seconds, or null without /proc. */
export function processorSeconds(): number | null {
  try {
    const fields = statOf('/proc/self/stat')
    // utime, stime, cutime, cstime: fields 14 to 17 of proc(5), in hundredths of a second.
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

function pids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

function statOf(file: string): string[] {
  return readFileSync(file, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ESRCH'
}
