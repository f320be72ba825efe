/** A disk for share logs that is full, slow or broken at the word of a test, before a real LevelDB. */
import { openShareDatabase, type ShareDatabase } from '../../src/mining/accounts/level-database.ts'
import { settle } from '../mine/virtual-clock.ts'

const noSpace = () => new Error('ENOSPC: no space left on device')

export class FullDisk {
  isFull = false
  /** Whether a full disk lets databases open, and fails at their first write. */
  opensFull = false
  opens = 0
  /** Writes that reached the disk. */
  writes = 0
  readonly synced: string[] = []
  /** Iterators that are open. */
  iterators = 0
  /** Fails each write that waits; null lets writes through. */
  held: (() => void)[] | null = null
  /** Databases close once this resolves. */
  closes: Promise<void> = Promise.resolve()
  readonly #pending = new Set<Promise<unknown>>()

  readonly open = async (folder: string): Promise<ShareDatabase> => {
    this.opens++
    if (this.isFull && !this.opensFull) throw noSpace()
    const database = await openShareDatabase(folder)
    return new Proxy(database, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown
        if (name === 'batch') return (batch: never) => this.#write(() => target.batch(batch))
        if (name === 'clear')
          return (range: object) => this.#write(async () => (this.isFull ? undefined : target.clear(range)))
        if (name === 'close') return () => this.closes.then(() => target.close())
        if (name === 'iterator') return (range: object) => this.#counted(target.iterator(range))
        if (name === 'put')
          return (key: string, text: string, options: object) => {
            this.synced.push(JSON.stringify(options))
            return this.#write(() => target.put(key, text, options))
          }
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  /** Delays the closing of databases. @returns a function that lets them close */
  holdClosing(): () => void {
    let release: () => void = () => undefined
    this.closes = new Promise<void>((resolve) => {
      release = resolve
    })
    return release
  }

  /** Resolves once all writes have ended, and their callers know. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#pending)
    await settle()
  }

  #write(write: () => Promise<void>): Promise<void> {
    const written = this.#tryWrite(write)
    this.#pending.add(written)
    void written.catch(() => undefined).then(() => this.#pending.delete(written))
    return written
  }

  /** A failed write may have reached the disk all the same. */
  async #tryWrite(write: () => Promise<void>): Promise<void> {
    this.writes++
    if (this.held !== null) {
      const { held } = this
      await new Promise<void>((resolve) => held.push(resolve))
      throw noSpace()
    }
    await write()
    if (this.isFull) throw noSpace()
  }

  #counted<T extends { close(): Promise<void> }>(iterator: T): T {
    this.iterators++
    const close = iterator.close.bind(iterator)
    iterator.close = () => {
      this.iterators--
      return close()
    }
    return iterator
  }
}
