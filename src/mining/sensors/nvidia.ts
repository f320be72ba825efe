/** Temperature, fan and power of NVIDIA cards, from nvidia-smi. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { SensorReading } from '../mine/hardware.ts'

const TOOL = 'nvidia-smi'
const FIELDS = ['name', 'pci.bus_id', 'temperature.gpu', 'fan.speed', 'power.draw']
const ARGUMENTS = [`--query-gpu=${FIELDS.join(',')}`, '--format=csv,noheader,nounits']
/** The output has a few hundred bytes for each card. */
const MAX_OUTPUT_BYTES = 65_536

interface ToolOptions {
  /** Environment of the tool, with the PATH to find it. */
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs: number
  /** Kills the tool. */
  readonly signal?: AbortSignal
}

/** `missing`: the tool is not installed. `silent`: it did not answer in time and was killed. */
type ToolOutput = readonly SensorReading[] | 'missing' | 'silent'

/**
 * Runs nvidia-smi. A hung tool blocks neither the caller nor the process: its process group is killed and abandoned.
 * Never rejects; returns no cards if the tool fails.
 */
export function askNvidia({ env, timeoutMs, signal }: ToolOptions): Promise<ToolOutput> {
  return new Promise((resolve) => {
    // A process group of its own, so that children of the tool are killed too.
    const child = spawn(TOOL, ARGUMENTS, { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    const end = (answer: ToolOutput) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
      resolve(answer)
    }
    const giveUp = () => {
      abandon(child)
      end('silent')
    }
    const timer = setTimeout(giveUp, timeoutMs)
    let output = ''
    child.stdout.on('data', (bytes) => {
      output = (output + bytes).slice(0, MAX_OUTPUT_BYTES)
    })
    child.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'ENOENT' ? 'missing' : []))
    child.on('close', (code) => end(code === 0 ? parseCards(output) : []))
    if (signal?.aborted) giveUp()
    else signal?.addEventListener('abort', giveUp, { once: true })
  })
}

/** Parses a line for each card. A value that a card lacks is a word in brackets. */
export function parseCards(output: string): SensorReading[] {
  const lines = output.split('\n').map((line) => line.split(',').map((field) => field.trim()))
  return lines
    .filter(({ length }) => length === FIELDS.length)
    .map(([model, address, celsius, fan, watts]) => ({
      kind: 'gpu' as const,
      vendor: 'nvidia',
      model,
      pci: pciOf(address),
      celsius: figure(celsius),
      fanPercent: figure(fan),
      watts: figure(watts),
    }))
}

/**
 * Removes the domain from a PCI address `domain:bus:device.function`.
 * @returns null if the text is not such an address
 */
export function pciOf(address: string): string | null {
  return /^[0-9a-f]{4,8}:([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/i.exec(address)?.[1].toLowerCase() ?? null
}

const figure = (text: string) => (/^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) : null)

function abandon(child: ChildProcess): void {
  child.stdout?.destroy()
  child.unref()
  if (child.pid === undefined) return
  try {
    // Windows has no process groups.
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL')
  } catch (error) {
    // It has ended by itself in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
