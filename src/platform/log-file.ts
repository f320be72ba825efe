/** A file that text is appended to, whatever becomes of its disk: a failure is told and counted, and never thrown. */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'

export interface LogFileEvents {
  /** Lines cannot be written. Told once for an outage. */
  readonly onFailing: (error: unknown) => void
  /** They can be written again. `lost`: the number of lines that are missing. */
  readonly onRecovered: (lost: number) => void
  /** A rotated file stays in use, since none can be opened in its place. */
  readonly onNotReopened: (error: unknown) => void
}

// A pipe that nobody reads is an error at once: opening it would wait. Windows knows no such flag.
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0)
/** Logs name accounts and addresses: they are not for everybody. */
const MODE = 0o640
const LINE_END = 0x0a

export class LogFile {
  readonly path: string
  readonly #events: LogFileEvents
  /** A descriptor; null: it has to be opened. */
  #file: number | null
  #lost = 0
  #isFailing = false
  /** Whether the last line in the file is incomplete. */
  #isTorn = false

  private constructor(path: string, file: number, events: LogFileEvents) {
    this.path = path
    this.#file = file
    this.#events = events
  }

  /** Creates the file unless it is there. Throws the error of the file system. */
  static open(path: string, events: LogFileEvents): LogFile {
    const absolute = resolve(path)
    return new LogFile(absolute, openSync(absolute, FLAGS, MODE), events)
  }

  /** Lines that are missing since it fails; 0: it does not. */
  get lost(): number {
    return this.#lost
  }

  /** Appends whole lines. They are with the operating system when it returns. */
  write(text: string): void {
    const bytes = Buffer.from(text)
    let written = 0
    try {
      const file = this.#present()
      if (this.#isTorn) appendAll(file, Buffer.of(LINE_END), () => undefined)
      this.#isTorn = false
      appendAll(file, bytes, (count) => {
        written += count
      })
    } catch (error) {
      this.#isTorn ||= written > 0 && bytes[written - 1] !== LINE_END
      this.#lost += bytes.subarray(written).filter((byte) => byte === LINE_END).length
      if (!this.#isFailing) this.#events.onFailing(error)
      this.#isFailing = true
      return
    }
    if (!this.#isFailing) return
    const lost = this.#lost
    this.#isFailing = false
    this.#lost = 0
    this.#events.onRecovered(lost)
  }

  /** Goes over to the file that has the name now, or to a new one. */
  reopen(): void {
    let next: number
    try {
      next = openSync(this.path, FLAGS, MODE)
    } catch (error) {
      this.#events.onNotReopened(error)
      return
    }
    this.close()
    this.#file = next
    this.#isTorn = false
  }

  /** Never throws. */
  close(): void {
    const file = this.#file
    this.#file = null
    if (file === null) return
    try {
      closeSync(file)
    } catch {
      // Nothing is buffered here: all lines were written, or counted as lost.
    }
  }

  /** The file; a new one where somebody has deleted it, since nobody could read what is written to the old one. */
  #present(): number {
    if (this.#file !== null && fstatSync(this.#file).nlink === 0) this.close()
    if (this.#file === null) {
      this.#file = openSync(this.path, FLAGS, MODE)
      this.#isTorn = false
    }
    return this.#file
  }
}

/** A disk that is nearly full takes a part. */
function appendAll(file: number, bytes: Uint8Array, onWritten: (count: number) => void): void {
  for (let at = 0; at < bytes.length; ) {
    const count = writeSync(file, bytes, at)
    onWritten(count)
    at += count
  }
}
