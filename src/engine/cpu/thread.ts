/**
 * A search thread: one Piscina task that lasts as long as the engine. It sweeps slice after slice of its own nonce
 * range, looks at the shared sequence in between, and takes new work as soon as there is some.
 */
import { randomBytes } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import { finish, type Midstate, midstate } from '../../core/blake2s.ts'
import { readU256LE } from '../../core/bytes.ts'
import { workLayout } from '../../core/header.ts'
import { type NonceRange, nonceOf } from '../range.ts'
import { type Kernel, SWEEP_NONCES, tailLayout } from './kernel.ts'
import { chooseKernel, type KernelChoice, type KernelPreference } from './kernels.ts'
import { lowerThreadPriority, type Priority } from './priority.ts'
import { SharedWork } from './shared.ts'

export interface SearchTask {
  readonly thread: number
  readonly threads: number
  readonly shared: SharedArrayBuffer
  readonly range: NonceRange
  readonly kernel: KernelPreference
  readonly priority: Priority
  /** Length of the work to get ready for. */
  readonly workBytes: number
  readonly port: MessagePort
}

/** What a thread tells the main thread. */
export type ThreadMessage =
  | { readonly type: 'ready'; readonly kernel: string; readonly refused: readonly string[] }
  | { readonly type: 'failed'; readonly refused: readonly string[] }
  | { readonly type: 'took'; readonly sequence: number }
  | { readonly type: 'candidate'; readonly sequence: number; readonly nonce: bigint }

/** After this many candidates for one work a thread slows down: the target is trivial and one candidate is enough. */
const CANDIDATE_BURST = 8
const CANDIDATE_PAUSE_MS = 5
const IDLE_WAIT_MS = 1000

/** The Piscina task. Returns when the engine stops. */
export function search(task: SearchTask): void {
  const shared = new SharedWork(task.threads, task.shared)
  const send = (message: ThreadMessage) => task.port.postMessage(message)
  if (task.priority === 'low') lowerThreadPriority()
  const choices = new Map<number, KernelChoice>()
  const kernelFor = (workBytes: number): Kernel | null => {
    let choice = choices.get(workBytes)
    if (choice === undefined) {
      choice = chooseKernel(workBytes, task.kernel, (bytes) => randomBytes(bytes))
      choices.set(workBytes, choice)
      const { kernel, refused } = choice
      send(kernel === null ? { type: 'failed', refused } : { type: 'ready', kernel: kernel.name, refused })
    }
    return choice.kernel
  }
  kernelFor(task.workBytes)
  const position: Position = { low: task.range.low, middle: task.range.middle, high: 0 }
  while (!shared.stopped) {
    const { sequence, bytes } = shared.read()
    const kernel = bytes === null ? null : kernelFor(bytes.length)
    send({ type: 'took', sequence })
    if (bytes === null || kernel === null) shared.wait(sequence, IDLE_WAIT_MS)
    else searchWork(kernel, bytes, sequence, position, task, shared, send)
  }
}

interface Position {
  low: number
  middle: number
  high: number
}

/** Sweeps until the sequence changes. */
function searchWork(
  kernel: Kernel,
  bytes: Uint8Array,
  sequence: number,
  position: Position,
  task: SearchTask,
  shared: SharedWork,
  send: (message: ThreadMessage) => void,
): void {
  const mid = midstate(bytes)
  const target = readU256LE(bytes, workLayout(bytes).target)
  const { nonceWord } = tailLayout(bytes.length)
  let candidates = 0
  kernel.setWork(mid.state, mid.tail, Number(target >> 224n))
  while (shared.sequence === sequence) {
    const from = position.high
    const to = Math.min(from + kernel.sliceNonces, SWEEP_NONCES)
    const chunk = kernel.sweep(position.low, position.middle, from, to)
    const end = chunk < to ? chunk + kernel.lanes : to
    for (let high = chunk; high < end && chunk < to; high++) {
      if (!solvesFully(mid, nonceWord, position, high, target)) continue
      send({ type: 'candidate', sequence, nonce: nonceOf(position.low, position.middle, high) })
      if (++candidates > CANDIDATE_BURST) shared.wait(sequence, CANDIDATE_PAUSE_MS)
    }
    shared.count(task.thread, end - from)
    advance(position, end, task.range.lowStep)
  }
}

function advance(position: Position, high: number, lowStep: number): void {
  position.high = high
  if (high < SWEEP_NONCES) return
  position.high = 0
  position.middle = (position.middle + 1) >>> 0
  // After 2^32 sweeps from a random start the range goes on with its next value of `low`.
  if (position.middle === 0) position.low = (position.low + lowStep) & 0xffff
}

/** The whole digest of one lane against the whole target: a kernel compares top words only. */
function solvesFully(mid: Midstate, nonceWord: number, at: Position, high: number, target: bigint): boolean {
  const tail = Uint32Array.from(mid.tail)
  tail[nonceWord] = (tail[nonceWord] & 0xffff) | (at.low << 16)
  tail[nonceWord + 1] = at.middle
  tail[nonceWord + 2] = high
  const words = finish(mid, tail)
  let value = 0n
  for (let i = 7; i >= 0; i--) value = (value << 32n) | BigInt(words[i])
  return value <= target
}
