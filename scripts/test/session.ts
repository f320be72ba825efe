/** Runs a command in a session of its own. Whatever it has started ends with it, and with this process, however that ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endSession, processesOf } from './processes.ts'

const guardFile = fileURLToPath(new URL('guard.js', import.meta.url))
/** Processes that are on their way out get so long. */
const GRACE_MS = 5_000
const LOOK_MS = 100

export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Command lines of processes that it had started and not ended. */
  readonly leftBehind: readonly string[]
}

export interface SessionOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Resolves when everything has ended. When `stopped` aborts, all of it is killed. Rejects when it cannot be started. */
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
