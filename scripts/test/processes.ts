/** The processes of a run, on Linux from /proc: they are ended with the run, however that ends. */
import { readdirSync, readFileSync } from 'node:fs'

export interface Process {
  readonly pid: number
  readonly parent: number
  readonly session: number
  /** The command line. */
  readonly command: string
}

/** All processes that can be seen; none where there is no /proc. A zombie has ended and is left out. */
export function processes(): Process[] {
  return pids().flatMap((pid) => {
    try {
      // pid (name) state parent group session ...; the name may hold anything.
      const [state, parent, , session] = statOf(`/proc/${pid}/stat`)
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return state === 'Z' ? [] : [{ pid, parent: Number(parent), session: Number(session), command }]
    } catch (error) {
      if (isGone(error)) return []
      throw error
    }
  })
}

/** Those of a session, and whatever they have started in sessions of its own. */
export function processesOf(session: number, all: readonly Process[] = processes()): Process[] {
  const found = new Map(all.filter((each) => each.session === session).map((each) => [each.pid, each]))
  for (let size = -1; size < found.size; ) {
    size = found.size
    for (const each of all) if (found.has(each.parent)) found.set(each.pid, each)
  }
  return [...found.values()]
}

/** Ends a session and all that it has started. The leader of the session has its number as process id. */
export function endSession(session: number): void {
  if (process.platform !== 'linux') kill(-session)
  // A process may start another one while the list is read.
  for (let left = processesOf(session); left.length > 0; left = processesOf(session)) {
    for (const { pid } of left) kill(pid)
  }
}

/** Processor time of this process and of all that it has waited for, in seconds; null where there is no /proc. */
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
