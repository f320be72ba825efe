/** The files of the journal: what it needs of a disk, and the disk of this machine. */
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

/** All calls throw what the system says. */
export interface Disk {
  /** Makes a folder, and those above it. One that exists is left as it is. */
  makeFolder(folder: string): void
  /** Names of the files in a folder. Throws ENOENT where there is none. */
  list(folder: string): string[]
  /** Opens a file to append to, and makes it where there is none. */
  open(path: string): DiskFile
  /** The bytes of a file from the beginning. Fails as a stream does. */
  read(path: string): Readable
}

export interface DiskFile {
  /** The last byte; null: the file is empty. */
  last(): number | null
  /** Appends the bytes from this index on, or some of them. Returns how many: one at least. */
  append(bytes: Uint8Array, from: number): number
  /** Calls `done` when what was appended lies on the disk itself; with an error when that failed. */
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
