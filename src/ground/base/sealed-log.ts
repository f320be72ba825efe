/**
 * A sealed log: an append-only text file of JSON objects, one a line. The last property of each line is its seal.
 *
 *     {"at":"2026-11-29T12:00:00.000Z","type":"orphaned","block":"..","seal":"1.Q2hlY2tzdW1P"}
 *
 * `1` is the version of the format. The rest covers the line and the seal of the line before (seal.ts, with SHA-256). So
 * a reader finds each flipped bit, each missing line, and lines that changed places.
 *
 * Lines without seals may precede the first sealed line. They have a seal too, which the file does not show, so the
 * first sealed line covers all of them.
 *
 * A crash during `append` leaves an unfinished last line, which readers ignore and writers remove. A second file, the
 * end file, holds the number of lines before the newest `append`, and the seal of the last one. So a file that lost
 * more than the last lines is found too.
 */
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { NewcutError } from './errors.ts'
import { jsonObjectIn, parsePlainJson } from './json.ts'
import { makeFolders, replaceFile, syncFolder } from './replace-file.ts'
import { sealOf } from './seal.ts'

const VERSION = '1'
const NEWLINE = 0x0a
/** The end of a sealed line, of any version. */
const SEALED = /,"seal":"(\d{1,3})\.([\w-]{8,64})"\}$/
/** The same anywhere in a text. */
const SEALED_WITHIN = /,"seal":"\d{1,3}\.[\w-]{8,64}"\}/
/** Maximum length of the end of a sealed line. */
const SEALED_BYTES = 80

/** A line that is damaged, or not where it was written. Code DATA_UNUSABLE. */
export class LogDamage extends NewcutError {
  /** Path of the file. */
  readonly path: string
  /** Number of the line, from 1. */
  readonly line: number
  /** The fault of the line, as the end of a sentence. */
  readonly reason: string

  constructor(path: string, line: number, reason: string) {
    super('DATA_UNUSABLE', `${path}: line ${line} is damaged: ${reason}`)
    this.path = path
    this.line = line
    this.reason = reason
  }
}

/** A position between two lines of a log. */
interface LogEnd {
  /** Number of lines before it. */
  readonly lines: number
  /** Seal of the last of them; empty for none. */
  readonly seal: string
}

/** Checks the lines of a log, the first to the last, and seals further ones. */
export class HashChain {
  readonly #path: string
  #end: LogEnd = { lines: 0, seal: '' }
  #isSealed = false

  /** @param path name of the file in errors */
  constructor(path: string) {
    this.#path = path
  }

  /** The position after the last line. */
  get end(): LogEnd {
    return this.#end
  }

  /** Number of lines that no seal in the file covers yet. */
  get unsealed(): number {
    return this.#isSealed ? 0 : this.#end.lines
  }

  /**
   * Checks the next line.
   * @param line without its newline
   * @returns the line without its seal
   * @throws LogDamage
   */
  take(line: Buffer): string {
    const match = SEALED.exec(line.toString('latin1', Math.max(0, line.length - SEALED_BYTES)))
    if (match === null) {
      if (this.#isSealed) throw this.#damage('it has no seal, but the line before it has one')
      if (isNearlySealed(line) || jsonObjectIn(line.toString()) === null)
        throw this.#damage('it is not a line of this log')
      this.#advance(line)
      return line.toString()
    }
    const [{ length }, version, seal] = match
    if (version !== VERSION) throw this.#damage(`its seal has the version ${version}, and this newcut knows ${VERSION}`)
    const body = line.subarray(0, line.length - length)
    if (this.#sealOf(body) !== seal) throw this.#damage('its seal does not fit it and the lines before it')
    this.#advance(body)
    this.#isSealed = true
    return `${body.toString()}}`
  }

  /**
   * Checks the text after the last newline.
   * @returns whether it is a whole line that lacks its newline; if not, it is an unfinished line
   * @throws LogDamage if a line ends in it, and more follows
   */
  isWhole(rest: Buffer): boolean {
    const text = rest.toString('latin1')
    // The flip of a bit may have replaced the newline.
    const hasMore = SEALED_WITHIN.test(text)
      ? !SEALED.test(text)
      : !this.#isSealed && jsonObjectIn(text.slice(0, -1)) !== null
    if (hasMore) throw this.#damage('text follows its end')
    return SEALED.test(text) || (!this.#isSealed && jsonObjectIn(text) !== null)
  }

  /**
   * Seals the next line.
   * @param text a JSON object with a property
   * @returns the line with its newline
   */
  seal(text: string): string {
    const body = text.slice(0, -1)
    this.#advance(Buffer.from(body))
    this.#isSealed = true
    return `${body},"seal":"${VERSION}.${this.#end.seal}"}\n`
  }

  #advance(body: Uint8Array): void {
    this.#end = { lines: this.#end.lines + 1, seal: this.#sealOf(body) }
  }

  #sealOf(body: Uint8Array): string {
    return sealOf(sha256, this.#end.seal, body)
  }

  #damage(reason: string): LogDamage {
    return new LogDamage(this.#path, this.#end.lines + 1, reason)
  }
}

/** The end of a sealed line; a question mark stands for a character of the seal. */
const FORM = `,"seal":"${VERSION}.????????????"}`

/** Whether the end of a line is that of a sealed line except for one byte. */
function isNearlySealed(line: Buffer): boolean {
  const end = line.toString('latin1', Math.max(0, line.length - FORM.length))
  const wrong = [...FORM].filter((right, i) => (right === '?' ? !/[\w-]/.test(end[i] ?? '') : right !== end[i]))
  return wrong.length <= 1
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()

/** Seals a line by itself, for files without an order of lines. @returns the line with its newline */
export const sealedLine = (text: string): string => new HashChain('').seal(text)

/**
 * Checks a line that is sealed by itself, or has no seal.
 * @param line without its newline
 * @returns the line without its seal, or null if it is damaged
 */
export const readSealedLine = (line: Buffer): string | null => unlessDamaged(() => new HashChain('').take(line))

/**
 * Checks the text after the last newline of a file with such lines.
 * @returns whether it is the beginning of a line, which a crash cut off
 */
export const isUnfinishedLine = (rest: Buffer): boolean =>
  unlessDamaged(() => new HashChain('').isWhole(rest)) === false

function unlessDamaged<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof LogDamage) return null
    throw error
  }
}

/** The files of a log. */
export interface LogFiles {
  readonly path: string
  readonly endPath: string
  /** Default: the disk of this machine. */
  readonly disk?: LogDisk
}

/** A disk with logs. All calls throw the errors of the file system. */
export interface LogDisk {
  /** @returns the content of a file, empty if it is missing */
  read(path: string): Buffer
  /** Opens a file for appending, and creates folder and file if they are missing. Only the owner may read new files. */
  open(path: string): AppendFile
  /** Replaces a small file at once (replace-file.ts). Only the owner may read it. */
  replace(path: string, text: string): void
}

/** A file open for appending. */
export interface AppendFile {
  append(text: string): void
  truncate(bytes: number): void
  /** Returns once everything is on disk. */
  sync(): void
  close(): void
}

/** The disk of this machine. */
export const machineDisk: LogDisk = {
  read: (path) => {
    try {
      return readFileSync(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
      throw error
    }
  },
  open: (path) => {
    makeFolders(dirname(path))
    const file = openSync(path, 'a+', 0o600)
    try {
      syncFolder(dirname(path))
    } catch (error) {
      closeSync(file)
      throw error
    }
    return {
      append: (text) => {
        const bytes = Buffer.from(text)
        for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
      },
      truncate: (bytes) => ftruncateSync(file, bytes),
      sync: () => fsyncSync(file),
      close: () => closeSync(file),
    }
  },
  replace: (path, text) => replaceFile(path, text, { mode: 0o600 }),
}

/** Content of a log. */
interface LogContent {
  /** The lines without their seals. */
  readonly lines: readonly string[]
  readonly chain: HashChain
  /** Length of all lines in bytes; the file may be longer by an unfinished line. */
  readonly bytes: number
  /** Whether the last line lacks its newline. */
  readonly lacksNewline: boolean
}

/**
 * Reads a log. A missing file is an empty log.
 * @throws LogDamage, and the errors of the file system
 */
export function readLog({ path, endPath, disk = machineDisk }: LogFiles): LogContent {
  // Another process may append during the read. It writes the end file before the lines, so read that first.
  const end = readEnd(endPath, disk)
  const bytes = disk.read(path)
  const chain = new HashChain(path)
  const lines: string[] = []
  let isCovered = end.lines === 0
  const take = (line: Buffer) => {
    lines.push(chain.take(line))
    if (chain.end.lines === end.lines) isCovered = chain.end.seal === end.seal
  }
  let done = 0
  for (let next = bytes.indexOf(NEWLINE); next >= 0; next = bytes.indexOf(NEWLINE, done)) {
    take(bytes.subarray(done, next))
    done = next + 1
  }
  const lacksNewline = chain.isWhole(bytes.subarray(done))
  if (lacksNewline) take(bytes.subarray(done))
  if (!isCovered) {
    const reason = chain.end.lines < end.lines ? 'it is missing' : 'it is another line'
    throw new LogDamage(path, end.lines, `${reason}, as ${endPath} shows`)
  }
  return { lines, chain, bytes: lacksNewline ? bytes.length : done, lacksNewline }
}

/** @throws LogDamage */
function readEnd(endPath: string, disk: LogDisk): LogEnd {
  const bytes = disk.read(endPath)
  if (bytes.length === 0) return { lines: 0, seal: '' }
  const chain = new HashChain(endPath)
  const text = chain.take(bytes.subarray(0, -1))
  if (chain.unsealed > 0 || bytes.at(-1) !== NEWLINE) throw new LogDamage(endPath, 1, 'it is not as newcut wrote it')
  const { lines, last } = parsePlainJson(text) as { readonly lines: number; readonly last: string }
  return { lines, seal: last }
}

/**
 * A log open for appending. There must be one writer at a time.
 *
 * Life cycle of a line:
 *
 * 1. `append` writes the position before the line into the end file, and syncs it.
 * 2. It seals the line, appends it to the log, and syncs the log. Only then does it return.
 * 3. A crash between both leaves a whole line, which counts, or a part of one, which the next `open` removes.
 * 4. After a failed write, the log takes no more lines: what the disk has is unknown.
 */
export class SealedLog {
  /** The content when it was opened. */
  readonly content: LogContent
  readonly #endPath: string
  readonly #disk: LogDisk
  readonly #file: AppendFile
  /** Position after the lines on disk. */
  #synced: LogEnd
  /** Position in the end file. */
  #noted: LogEnd | null = null
  #failure: unknown = null

  private constructor(file: AppendFile, { endPath, disk = machineDisk }: LogFiles, content: LogContent) {
    this.#file = file
    this.#disk = disk
    this.#endPath = endPath
    this.content = content
    this.#synced = content.chain.end
  }

  /**
   * Opens a log, and creates folder and file if they are missing. Only the owner may read new files.
   * @throws LogDamage, and the errors of the file system
   */
  static open(files: LogFiles): SealedLog {
    const { path, disk = machineDisk } = files
    const file = disk.open(path)
    try {
      const content = readLog(files)
      if (content.lacksNewline) file.append('\n')
      else file.truncate(content.bytes)
      file.sync()
      const log = new SealedLog(file, files, content)
      log.#noteEnd()
      return log
    } catch (error) {
      file.close()
      throw error
    }
  }

  /**
   * Returns once the lines are synced to disk.
   * @param texts JSON objects with a property each
   * @throws the errors of the file system; after one, the log takes no more lines
   */
  append(texts: readonly string[]): void {
    if (texts.length === 0) return
    if (this.#failure !== null) throw this.#failure
    try {
      this.#noteEnd()
      const { chain } = this.content
      this.#file.append(texts.map((text) => chain.seal(text)).join(''))
      this.#file.sync()
      this.#synced = chain.end
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  close(): void {
    this.#file.close()
  }

  /** Writes the end file before further lines follow: a crash may cost these, and no others. */
  #noteEnd(): void {
    const { lines, seal: last } = this.#synced
    if (this.#noted === this.#synced || lines === 0) return
    this.#disk.replace(this.#endPath, new HashChain(this.#endPath).seal(JSON.stringify({ lines, last })))
    this.#noted = this.#synced
  }
}
