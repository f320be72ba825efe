/** Disk access of the journal, as a port and for this machine. */
import {
  closeSync,
  createReadStream,
  fdatasync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  writeSync,
} from 'node:fs'
import type { Readable } from 'node:stream'

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
  /** Streams a file from the beginning. */
  read(path: string): Readable
}

export interface DiskFile {
  /** @returns the last byte, or null if the file is empty */
  last(): number | null
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
  makeFolder: (folder) => void mkdirSync(folder, { recursive: true }),
  list: (folder) => readdirSync(folder),
  open: (path) => fileOf(openSync(path, 'a+')),
  read: (path) => createReadStream(path),
}

function fileOf(file: number): DiskFile {
  return {
    last: () => {
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
