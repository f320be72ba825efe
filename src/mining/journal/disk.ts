/** Disk access of the journal, as a port and for this machine. */
import { closeSync, fdatasync, fstatSync, openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs'
import { makeFolders, replaceFile } from '#ground/base/replace-file.ts'

/** File operations of the journal. All methods throw the errors of the file system. */
export interface Disk {
  /** Creates a folder and its parents; an existing one stays as it is. */
  makeFolder(folder: string): void
  /**
   * Names of the files in a folder.
   * @throws ENOENT if the folder does not exist
   */
  list(folder: string): string[]
  /** Opens a file for appending; creates it if necessary. */
  open(path: string): DiskFile
  /**
   * Fills a buffer with bytes of a file, beginning at this offset.
   * @returns the number of bytes; fewer than the buffer has if the file ends
   */
  readAt(path: string, into: Uint8Array, from: number): number
  /** @returns null if there is no such file */
  factsOf(path: string): SegmentFile | null
  /** Replaces a file as a whole, or creates it: readers see the old content or the new one. */
  replace(path: string, parts: Iterable<Uint8Array>): void
}

interface SegmentFile {
  readonly size: number
  /** Time of the last change, Unix milliseconds with fractions. */
  readonly changedMs: number
}

export interface DiskFile {
  /** @returns the last byte, or null if the file is empty */
  lastByte(): number | null
  /**
   * Appends some or all bytes, beginning at this index.
   * @returns the number of bytes written, at least one
   */
  append(bytes: Uint8Array, from: number): number
  /** Flushes appended data to the disk, then calls `done`, with an error on failure. */
  sync(done: (error: Error | null) => void): void
  close(): void
}

export const systemDisk: Disk = {
  makeFolder: (folder) => makeFolders(folder),
  list: (folder) => readdirSync(folder),
  open: (path) => fileOf(openSync(path, 'a+')),
  readAt: (path, into, from) => {
    const file = openSync(path, 'r')
    try {
      let done = 0
      for (let last = 1; last > 0 && done < into.length; done += last) {
        last = readSync(file, into, done, into.length - done, from + done)
      }
      return done
    } finally {
      closeSync(file)
    }
  },
  factsOf: (path) => {
    const facts = statSync(path, { throwIfNoEntry: false })
    return facts === undefined ? null : { size: facts.size, changedMs: facts.mtimeMs }
  },
  replace: (path, parts) => replaceFile(path, parts),
}

function fileOf(file: number): DiskFile {
  return {
    lastByte: () => {
      const { size } = fstatSync(file)
      if (size === 0) return null
      const byte = Buffer.alloc(1)
      readSync(file, byte, 0, 1, size - 1)
      return byte[0]
    },
    append: (bytes, from) => writeSync(file, bytes, from),
    sync: (done) => fdatasync(file, done),
    close: () => closeSync(file),
  }
}
