/** Runs a command in its own session, whose processes end with it and with this process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endSession, processesOf } from './processes.ts'

const guardFile = fileURLToPath(new URL('guard.js', import.meta.url))
/** Grace period of ending processes. */
const GRACE_MS = 5_000
const LOOK_MS = 100

export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Command lines of processes that the command left running. */
  readonly leftBehind: readonly string[]
}

export interface SessionOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/**
 * Runs the command. Resolves when all its processes have ended. Kills them when `stopped` aborts. Rejects if it cannot
 * start.
 */
export async function runInSession(
  file: string,
  args: readonly string[],
  options: SessionOptions,
  stopped: AbortSignal,
): Promise<End> {
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'], detached: true })
  const session = child.pid ?? 0
  const guard = spawn(process.execPath, [guardFile, String(session)], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  const stop = () => endSession(session)
  stopped.addEventListener('abort', stop)
  if (stopped.aborted) stop()
  try {
    const end = await ended(child)
    return { ...end, leftBehind: stopped.aborted ? [] : await leftBehind(session) }
  } finally {
    stopped.removeEventListener('abort', stop)
    endSession(session)
    const isOver = ended(guard)
    guard.stdin.end()
    await isOver
  }
}

function ended(child: ChildProcess): Promise<Pick<End, 'code' | 'signal'>> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve({ code, signal }))
  })
}

async function leftBehind(session: number): Promise<string[]> {
  const untilMs = performance.now() + GRACE_MS
  for (;;) {
    const left = processesOf(session)
    if (left.length === 0 || performance.now() > untilMs) return left.map(({ command }) => command)
    await sleep(LOOK_MS)
  }
}
