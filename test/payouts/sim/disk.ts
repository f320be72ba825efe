/** The disk of a payer: it may be full or broken, lose what was not synced, and have a bit flipped. */
import type { AppendFile, LogDisk } from '../../../src/ground/base/sealed-log.ts'

export type DiskState = 'well' | 'full' | 'broken' | 'read-only'

/** Called before each effect. Throws in a process that is killed. */
export type Step = () => void

interface Stored {
  bytes: Buffer
  synced: Buffer
}

export class PayerDisk {
  state: DiskState = 'well'
  readonly files = new Map<string, Stored>()
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  /** Called with the text of each complete append. */
  onAppend: (text: string) => void = () => undefined

  /** The disk as a process sees it. @param isDying whether the process dies in the middle of the next write */
  mount(step: Step, isDying: () => boolean): LogDisk {
    return {
      read: (path) => {
        step()
        return Buffer.from(this.files.get(path)?.bytes ?? Buffer.alloc(0))
      },
      open: (path) => {
        step()
        if (this.state === 'read-only') this.#fail('EROFS')
        return this.#open(path, step, isDying)
      },
      replace: (path, text) => {
        step()
        if (this.state !== 'well') this.#fail(this.state === 'full' ? 'ENOSPC' : 'EIO')
        this.files.set(path, { bytes: Buffer.from(text), synced: Buffer.from(text) })
      },
    }
  }

  #open(path: string, step: Step, isDying: () => boolean): AppendFile {
    const stored = this.files.get(path) ?? { bytes: Buffer.alloc(0), synced: Buffer.alloc(0) }
    this.files.set(path, stored)
    return {
      append: (text) => {
        const bytes = Buffer.from(text)
        const part = bytes.subarray(0, Math.floor(this.#random() * bytes.length))
        if (isDying()) {
          stored.bytes = Buffer.concat([stored.bytes, part])
          step()
        }
        step()
        if (this.state === 'full') stored.bytes = Buffer.concat([stored.bytes, part])
        if (this.state !== 'well') this.#fail(this.state === 'full' ? 'ENOSPC' : 'EIO')
        stored.bytes = Buffer.concat([stored.bytes, bytes])
        this.onAppend(text)
      },
      truncate: (length) => {
        step()
        if (this.state === 'broken') this.#fail('EIO')
        stored.bytes = stored.bytes.subarray(0, length)
      },
      sync: () => {
        step()
        if (this.state === 'broken') this.#fail('EIO')
        stored.synced = stored.bytes
      },
      close: () => undefined,
    }
  }

  #fail(code: string): never {
    throw Object.assign(new Error(`${code}: simulated`), { code })
  }

  /** Everything that was not synced may be lost, or replaced by zeros. */
  cutPower(): void {
    for (const stored of this.files.values()) {
      const { bytes, synced } = stored
      const least = Math.min(bytes.length, synced.length)
      const length = least + Math.floor(this.#random() * (bytes.length - least + 1))
      const tail = Buffer.from(bytes.subarray(least, length))
      if (this.#random() < 0.3) tail.fill(0, Math.floor(this.#random() * tail.length))
      stored.bytes = Buffer.concat([bytes.subarray(0, least), tail])
      stored.synced = stored.bytes
    }
  }

  /** Flips a bit of a file. */
  flip(): boolean {
    const files = [...this.files.values()].filter(({ bytes }) => bytes.length > 0)
    const stored = files[Math.floor(this.#random() * files.length)]
    if (stored === undefined) return false
    const bytes = Buffer.from(stored.bytes)
    const bit = Math.floor(this.#random() * 8 * bytes.length)
    bytes[bit >> 3] ^= 1 << (bit & 7)
    stored.bytes = bytes
    stored.synced = bytes
    return true
  }

  copy(): ReadonlyMap<string, Buffer> {
    return new Map([...this.files].map(([path, { bytes }]) => [path, Buffer.from(bytes)]))
  }

  restore(copy: ReadonlyMap<string, Buffer>): void {
    this.files.clear()
    for (const [path, bytes] of copy) this.files.set(path, { bytes, synced: bytes })
  }
}
