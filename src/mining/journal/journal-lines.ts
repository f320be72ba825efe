/** Reads single lines of the journal by their position. */
import { join } from 'node:path'
import type { Disk } from './disk.ts'

/** Positions of lines: the number of their file, times this, plus their offset in bytes. */
const FILE_BYTES = 2 ** 40
const NEWLINE = 0x0a
/** Lines are close to each other: most records need one block. */
const BLOCK_BYTES = 1 << 16

export const positionOf = (file: number, offset: number): number => file * FILE_BYTES + offset
const fileIn = (position: number) => Math.floor(position / FILE_BYTES)

export class JournalLines {
  readonly #disk: Disk
  readonly #folder: string
  readonly #names: readonly string[]
  #block = { at: -1, bytes: new Uint8Array(0) }

  /** @param names the files in the order of their numbers */
  constructor(disk: Disk, folder: string, names: readonly string[]) {
    this.#disk = disk
    this.#folder = folder
    this.#names = names
  }

  /**
   * The line at a position, without its newline.
   * @throws the error of the file system
   */
  line(position: number): Uint8Array {
    let { bytes, start } = this.#findBlock(position)
    let end = bytes.indexOf(NEWLINE, start)
    for (let size = 2 * BLOCK_BYTES; end === -1 && bytes.length >= size / 2; size *= 2) {
      // The line crosses the end of its block.
      bytes = this.#load(position, size)
      start = 0
      end = bytes.indexOf(NEWLINE)
    }
    return bytes.subarray(start, end === -1 ? bytes.length : end)
  }

  #findBlock(position: number): { readonly bytes: Uint8Array; readonly start: number } {
    const { at, bytes } = this.#block
    const isHeld = at !== -1 && position >= at && position < at + bytes.length
    if (isHeld && bytes.indexOf(NEWLINE, position - at) !== -1) return { bytes, start: position - at }
    return { bytes: this.#load(position, BLOCK_BYTES), start: 0 }
  }

  /** Loads up to this many bytes from a position; fewer at the end of the file. */
  #load(position: number, size: number): Uint8Array {
    const file = fileIn(position)
    const bytes = new Uint8Array(size)
    const length = this.#disk.readAt(join(this.#folder, this.#names[file]), bytes, position - file * FILE_BYTES)
    this.#block = { at: position, bytes: bytes.subarray(0, length) }
    return this.#block.bytes
  }
}
