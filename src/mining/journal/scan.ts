/** Reads the files of a journal into a table of records. Memory: 120 bytes a solution, whatever its lines have. */
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { amountIn, CanonicalLine, depthIn, feesIn, HASH_AT, OriginReader, TimeReader } from './canonical-line.ts'
import type { Disk } from './disk.ts'
import { JournalLines, positionOf } from './journal-lines.ts'
import { type JournalLine, parseLine } from './record.ts'
import { RecordTable } from './record-table.ts'
import { amountUnitsOf } from './units.ts'

const FILE = /^blocks-\d{4}-\d\d\.jsonl$/
const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
/** Larger buffers are slower: their texts leave the young generation. A longer line gets a larger one. */
const BUFFER_BYTES = 1 << 16
const PAUSE_BYTES = 1 << 23
/** Bytes of a solution with the usual six lines. */
const USUAL_BYTES = 1300

/** A table, and how far into the files it reaches. */
export interface ScanResult {
  readonly table: RecordTable
  /** Files in the order of reading; positions name them by index. */
  readonly files: readonly ScannedFile[]
  /** Damaged lines. */
  readonly damaged: number
  /**
   * Positions of lines before the first line of their solution: the clock was set back, so they are in the file of an
   * earlier month.
   */
  readonly early: readonly number[]
}

export interface ScannedFile {
  readonly name: string
  /** Bytes that the table has. */
  readonly size: number
}

/**
 * The journal files in a folder, oldest first. None if there is no folder.
 * @throws the error of the file system
 */
export function listJournalFiles(folder: string, disk: Disk): string[] {
  try {
    return disk
      .list(folder)
      .filter((name) => FILE.test(name))
      .toSorted()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

export class JournalScan {
  /** Bytes read so far. */
  bytes = 0
  readonly #disk: Disk
  readonly #folder: string
  readonly #table: RecordTable
  readonly #files: { name: string; size: number }[]
  readonly #early: number[]
  #damaged: number
  readonly #canonical = new CanonicalLine()
  readonly #origins = new OriginReader()
  readonly #times = new TimeReader()
  /** The last line if it has no newline yet. More bytes may follow. */
  #open: { readonly bytes: Uint8Array; readonly file: number } | null = null

  /** Goes on after what has been scanned before. */
  constructor(disk: Disk, folder: string, before: ScanResult | null = null) {
    this.#disk = disk
    this.#folder = folder
    this.#table = before?.table ?? new RecordTable()
    this.#files = (before?.files ?? []).map(({ name, size }) => ({ name, size }))
    this.#early = [...(before?.early ?? [])]
    this.#damaged = before?.damaged ?? 0
  }

  /** All whole lines so far. */
  get scanned(): ScanResult {
    return { table: this.#table, files: this.#files, damaged: this.#damaged, early: this.#early }
  }

  /**
   * Reads the rest of these files. All but the last are complete.
   * @throws the error of the file system
   */
  async read(names: readonly string[]): Promise<void> {
    this.#table.reserve(Math.floor(this.#unread(names) / USUAL_BYTES))
    for (const name of names) {
      this.#takeOpen()
      const known = this.#files.findIndex((file) => file.name === name)
      const file = known === -1 ? this.#files.push({ name, size: 0 }) - 1 : known
      await this.#readFile(file)
    }
  }

  /**
   * Takes a last line without a newline, and the early lines. The table is no longer one to go on from.
   * @returns the number of lines that are damaged, or whose solution is missing
   */
  finish(): number {
    this.#takeOpen()
    const reader = new JournalLines(
      this.#disk,
      this.#folder,
      this.#files.map(({ name }) => name),
    )
    for (const at of this.#early) {
      const line = parseLine(reader.line(at))
      if (line === null || !this.#apply(line, at)) this.#damaged++
    }
    return this.#damaged
  }

  #unread(names: readonly string[]): number {
    const known = new Map(this.#files.map(({ name, size }) => [name, size]))
    const sizes = names.map(
      (name) => (this.#disk.factsOf(join(this.#folder, name))?.size ?? 0) - (known.get(name) ?? 0),
    )
    return sizes.reduce((total, size) => total + Math.max(0, size), 0)
  }

  async #readFile(file: number): Promise<void> {
    const path = join(this.#folder, this.#files[file].name)
    let buffer = Buffer.alloc(BUFFER_BYTES)
    for (let pause = PAUSE_BYTES; ; ) {
      const { size } = this.#files[file]
      const bytes = buffer.subarray(0, this.#disk.readAt(path, buffer, size))
      const taken = this.#takeLines(bytes, file, size)
      this.#files[file].size += taken
      this.bytes += taken
      pause -= taken
      if (bytes.length < buffer.length) {
        if (taken < bytes.length) this.#open = { bytes: Uint8Array.from(bytes.subarray(taken)), file }
        return
      }
      if (taken === 0) buffer = Buffer.alloc(2 * buffer.length)
      if (pause > 0) continue
      // Others get their turn: a miner may already be mining.
      await setImmediate()
      pause = PAUSE_BYTES
    }
  }

  /** Takes the line that ends with its file. */
  #takeOpen(): void {
    if (this.#open === null) return
    const { bytes, file } = this.#open
    this.#open = null
    const { size } = this.#files[file]
    this.#files[file].size += bytes.length
    this.#takeOther(bytes, positionOf(file, size))
  }

  /** Takes all whole lines. @returns the number of their bytes */
  #takeLines(bytes: Buffer, file: number, start: number): number {
    const text = bytes.toString('latin1')
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    let from = 0
    while (from < bytes.length) {
      const at = positionOf(file, start + from)
      if (this.#canonical.read(text, view, from) && this.#takeCanonical(text, view, from, at)) {
        from = this.#canonical.end
        continue
      }
      const end = bytes.indexOf(NEWLINE, from)
      if (end === -1) return from
      this.#takeOther(bytes.subarray(from, end), at)
      from = end + 1
    }
    return from
  }

  /** @returns false for a line that only a parser reads */
  #takeCanonical(text: string, view: DataView, from: number, at: number): boolean {
    const { step } = this.#canonical
    const row = this.#table.find(view, from + HASH_AT)
    if (step === 'found') {
      if (row !== -1) return true
      const origin = this.#origins.read(text, from)
      if (origin === null) return false
      this.#table.add(view, from + HASH_AT, { origin, foundMs: this.#times.read(text, from) }, at)
    } else if (row === -1) this.#early.push(at)
    else if (step === 'reward') this.#table.reward(row, amountIn(text, from), feesIn(text, from), at)
    else this.#table.step(row, { step, depth: step === 'confirmed' ? depthIn(text, from) : null }, at)
    return true
  }

  #takeOther(bytes: Uint8Array, at: number): void {
    const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length
    if (end === 0) return
    const line = parseLine(bytes.subarray(0, end))
    if (line === null) this.#damaged++
    else if (!this.#apply(line, at)) this.#early.push(at)
  }

  /** @returns false if the first line of the solution is missing */
  #apply(line: JournalLine, at: number): boolean {
    const key = this.#table.keyOf(line.hash)
    const row = this.#table.find(key, 0)
    if (line.step === 'found') {
      const { network, account } = line
      if (row === -1) this.#table.add(key, 0, { origin: { network, account }, foundMs: Date.parse(line.at) }, at)
      return true
    }
    if (row === -1) return false
    if (line.step === 'reward') this.#table.reward(row, amountUnitsOf(line.amount), amountUnitsOf(line.fees), at)
    else this.#table.step(row, line, at)
    return true
  }
}
