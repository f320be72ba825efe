/** A disk that becomes full, slow or broken, and recovers. A power cut may take everything that was not synced. */
import type { Disk, DiskFile } from '../../src/mining/journal/disk.ts'
import { failure } from './connection.ts'
import type { VirtualTime } from './virtual-time.ts'

/**
 * `full`: takes at most a part of a line. `broken`: calls fail with EIO. `readOnly`: no file can be opened for writing.
 * `lying`: writes succeed, syncs fail. `closing`: files fail on close, as on a network file system.
 */
export const diskModes = ['full', 'broken', 'readOnly', 'lying', 'closing'] as const
export type DiskMode = 'well' | (typeof diskModes)[number]

interface Stored {
  text: string
  /** The length that survives a power cut. */
  synced: number
  /** Counts changes, as a time of the last one would. */
  changes: number
}

/** A process that holds files. A dead one writes nothing more, and gets no callbacks. */
interface Holder {
  isDead: boolean
}

export class SimulatedDisk {
  mode: DiskMode = 'well'
  /** Minimum and maximum time of a sync. */
  syncMs: readonly [number, number] = [1, 30]
  /** Time for which each write blocks the process. */
  writeMs = 0
  /** Failed calls so far. */
  failures = 0
  openFiles = 0
  /** Since when data has been waiting for a sync, or null. */
  unsyncedSinceMs: number | null = null
  /** Called once, in the middle of the next write. */
  onWrite: (() => void) | null = null
  readonly #files = new Map<string, Stored>()
  /** Files that were replaced as a whole, and are never synced. */
  readonly #replaced = new Map<string, Buffer>()
  /** Pending syncs. */
  readonly #syncs = new Set<() => void>()
  readonly #time: VirtualTime
  readonly #random: () => number
  /** For replaced files, so that they change nothing else. */
  readonly #ownRandom: () => number
  #holder: Holder = { isDead: false }

  constructor(time: VirtualTime, random: () => number, ownRandom: () => number) {
    this.#time = time
    this.#random = random
    this.#ownRandom = ownRandom
  }

  /** The contents of all files. */
  get text(): string {
    return [...this.#files.values()].map(({ text }) => text).join('\n')
  }

  /** The disk for a process that starts now. */
  mount(): Disk {
    const holder = { isDead: false }
    this.#holder = holder
    return {
      makeFolder: () => {
        if (this.mode === 'readOnly') this.#fail('EROFS')
      },
      list: () => {
        if (this.mode === 'broken') this.#fail('EIO')
        return [...this.#files.keys()].map((path) => path.split('/').at(-1) ?? '')
      },
      open: (path) => this.#open(path, holder),
      readAt: (path, into, from) => this.#bytesOf(path).copy(into, 0, Math.min(from, this.#bytesOf(path).length)),
      factsOf: (path) => {
        if (!this.#files.has(path) && !this.#replaced.has(path)) return null
        return { size: this.#bytesOf(path).length, changedMs: this.#files.get(path)?.changes ?? 0 }
      },
      replace: (path, parts) => {
        if (holder.isDead || this.mode === 'broken') this.#fail('EIO')
        if (this.mode === 'readOnly') this.#fail('EROFS')
        if (this.mode === 'full') this.#fail('ENOSPC')
        this.#replaced.set(path, Buffer.concat([...parts]))
      },
    }
  }

  /** The process has died. */
  unmount(): void {
    this.#holder.isDead = true
    this.openFiles = 0
    this.unsyncedSinceMs = null
  }

  /** Ends all faults, and finishes pending syncs. */
  mend(): void {
    this.mode = 'well'
    this.syncMs = [1, 30]
    this.writeMs = 0
    for (const finish of [...this.#syncs]) finish()
    this.unsyncedSinceMs = null
  }

  cutPower(): void {
    for (const stored of this.#files.values()) {
      const left = stored.synced + Math.floor(this.#random() * (stored.text.length - stored.synced + 1))
      stored.text = stored.text.slice(0, left)
      stored.synced = left
      stored.changes++
    }
    for (const [path, bytes] of this.#replaced) {
      this.#replaced.set(path, bytes.subarray(0, Math.floor(2 * this.#ownRandom() * bytes.length)))
    }
    this.unsyncedSinceMs = null
  }

  #bytesOf(path: string): Buffer {
    return this.#replaced.get(path) ?? Buffer.from(this.#files.get(path)?.text ?? '', 'latin1')
  }

  #fail(code: string): never {
    this.failures++
    throw failure(code, `${code}: simulated`)
  }

  #open(path: string, holder: Holder): DiskFile {
    if (holder.isDead) throw failure('EIO', 'dead')
    if (this.mode === 'readOnly') this.#fail('EROFS')
    if (this.mode === 'broken' && this.#random() < 0.5) this.#fail('EIO')
    const stored = this.#files.get(path) ?? { text: '', synced: 0, changes: 0 }
    this.#files.set(path, stored)
    this.openFiles++
    let isOpen = true
    return {
      lastByte: () => (stored.text === '' ? null : stored.text.charCodeAt(stored.text.length - 1)),
      append: (bytes, from) => this.#append(stored, Buffer.from(bytes.subarray(from)).toString('latin1'), holder),
      sync: (done) => this.#sync(stored, holder, done),
      close: () => {
        if (!isOpen) throw failure('EBADF', 'closed twice')
        isOpen = false
        if (!holder.isDead) this.openFiles--
        if (this.mode === 'closing') this.#fail('EIO')
      },
    }
  }

  #append(stored: Stored, text: string, holder: Holder): number {
    if (holder.isDead) throw failure('EIO', 'dead')
    if (this.mode === 'broken') this.#fail('EIO')
    stored.changes++
    const some = Math.floor(this.#random() * text.length)
    if (this.onWrite !== null) {
      stored.text += text.slice(0, some)
      const onWrite = this.onWrite
      this.onWrite = null
      onWrite()
      throw failure('EIO', 'dead')
    }
    if (this.mode === 'full') {
      // The disk takes the part that still fits, and refuses the rest.
      if (some < text.length / 2) this.#fail('ENOSPC')
      stored.text += text.slice(0, some - Math.ceil(text.length / 2))
      this.#fail('ENOSPC')
    }
    this.#time.block(this.writeMs)
    this.unsyncedSinceMs ??= this.#time.nowMs
    // Some writes are partial.
    const taken = this.#random() < 0.05 ? some + 1 : text.length
    stored.text += text.slice(0, taken)
    return taken
  }

  #sync(stored: Stored, holder: Holder, done: (error: Error | null) => void): void {
    const { length } = stored.text
    const isFailing = this.mode === 'lying' || this.mode === 'broken'
    const [least, most] = this.syncMs
    const finish = () => {
      if (!this.#syncs.delete(finish) || holder.isDead) return
      this.#time.owner = 'miner'
      if (isFailing) {
        this.failures++
        done(failure('EIO', 'EIO: simulated'))
        return
      }
      stored.synced = Math.max(stored.synced, length)
      this.unsyncedSinceMs = stored.synced === stored.text.length ? null : this.#time.nowMs
      done(null)
    }
    this.#syncs.add(finish)
    this.#time.after(least + this.#random() * (most - least), finish)
  }
}
