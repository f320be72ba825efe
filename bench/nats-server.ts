/** Runs a real nats-server for the suite `fleet`: on a free port, with its own store folder, and with usage figures. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processorMs } from './processor-time.ts'
import { MAX_WAIT_MS, pause } from './suite.ts'

const PROGRAM = 'nats-server'
const STOP_MS = 3_000

export interface NatsServer {
  readonly port: number
  readonly pid: number
  /** Reads the usage. Returns null on systems other than Linux. */
  readonly usage: () => NatsUsage | null
  /** Stops the server and removes its store. */
  readonly stop: () => Promise<void>
}

/** Usage since the start; memory is the current value. */
export interface NatsUsage {
  readonly processorMs: number
  /** Bytes read from and written to all connections and files. */
  readonly readBytes: number
  readonly writtenBytes: number
  readonly memoryBytes: number
}

/**
 * Starts a server with JetStream.
 * @returns a text if the program is missing
 * @throws if it does not start
 */
export async function startNats(): Promise<NatsServer | string> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-bench-nats-'))
  const log = join(folder, 'log')
  // Port -1 means any free port; the server writes it to a file.
  const options = ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', join(folder, 'store'), '-l', log]
  const child = spawn(PROGRAM, [...options, '--ports_file_dir', folder], { stdio: 'ignore' })
  const failed = new Promise<Error>((resolve) => child.once('error', resolve))
  const stop = async () => {
    await endProcess(child)
    rmSync(folder, { recursive: true, force: true })
  }
  const port = await Promise.race([failed, portOf(child, folder)])
  if (typeof port === 'number' && child.pid !== undefined) {
    const { pid } = child
    return { port, pid, usage: () => usageOf(pid), stop }
  }
  const lastLine = existsSync(log) ? `: ${readFileSync(log, 'utf8').trim().split('\n').at(-1)}` : ''
  await stop()
  if (port instanceof Error && 'code' in port && port.code === 'ENOENT') return `${PROGRAM} is not installed`
  throw new Error(`${PROGRAM} does not start${lastLine}`, { cause: port })
}

/** @returns the port, or null if the server ended or did not report it in time */
async function portOf(child: ChildProcess, folder: string): Promise<number | null> {
  for (const endMs = performance.now() + MAX_WAIT_MS; performance.now() < endMs; await pause(20)) {
    if (child.exitCode !== null) return null
    const file = readdirSync(folder).find((name) => name.endsWith('.ports'))
    const [, port] =
      /"nats:\/\/[^"]*:(\d+)"/.exec(file === undefined ? '' : readFileSync(join(folder, file), 'utf8')) ?? []
    if (port !== undefined) return Number(port)
  }
  return null
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill()
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await exited
  clearTimeout(timer)
}

/** Reads proc(5): `schedstat` of its threads, `io` and `status` of the process. */
function usageOf(pid: number): NatsUsage | null {
  const usedMs = processorMs(pid)
  if (usedMs === null) return null
  try {
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'latin1')
    const io = read('io')
    return {
      processorMs: usedMs,
      readBytes: numberIn(io, /^rchar: (\d+)/m),
      writtenBytes: numberIn(io, /^wchar: (\d+)/m),
      memoryBytes: numberIn(read('status'), /^VmRSS:\s+(\d+) kB/m) * 1024,
    }
  } catch {
    return null
  }
}

function numberIn(text: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(text) ?? []
  if (digits === undefined) throw new Error(`${pattern} is not in: ${text}`)
  return Number(digits)
}
