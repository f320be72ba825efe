/** Append-only log file. Failures are reported and counted, never thrown. */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'

export interface LogFileEvents {
  /** Called once per outage when lines cannot be written. */
  readonly onFailing: (error: unknown) => void
  /** Called when writing works again, with the number of lost lines. */
  readonly onRecovered: (lost: number) => void
  /** Called when log rotation cannot open a new file; the rotated file stays in use. */
  readonly onNotReopened: (error: unknown) => void
}

// O_NONBLOCK makes a pipe without a reader fail at once instead of blocking. Windows lacks this flag.
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0)
/** Logs contain accounts and addresses, so other users may not read them. */
const MODE = 0o640
const LINE_END = 0x0a

export class LogFile {
  readonly path: string
  readonly #events: LogFileEvents
  /** File descriptor; null if the file must be opened. */
  #file: number | null
  #lost = 0
  #isFailing = false
  /** True if the last line in the file is incomplete. */
  #isTorn = false

  private constructor(path: string, file: number, events: LogFileEvents) {
    this.path = path
    this.#file = file
    this.#events = events
  }

  /**
   * Opens or creates the file.
   * @throws the error of the file system
   */
  static open(path: string, events: LogFileEvents): LogFile {
    const absolute = resolve(path)
    return new LogFile(absolute, openSync(absolute, FLAGS, MODE), events)
  }

  /** Number of lines lost in the current outage; 0 if there is none. */
  get lost(): number {
    return this.#lost
  }

  /** Appends whole lines. They have reached the operating system when the call returns. */
  write(text: string): void {
    const bytes = Buffer.from(text)
    let written = 0
    try {
      const file = this.#currentFile()
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

  /** Switches to the file that has the name now, or to a new one; for log rotation. */
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

  /** Closes the file. Never throws. */
  close(): void {
    const file = this.#file
    this.#file = null
    if (file === null) return
    try {
      closeSync(file)
    } catch {
      // Nothing is buffered: all lines were written, or counted as lost.
    }
  }

  /** Descriptor of the file. A deleted file is replaced by a new one, as nobody could read the old one. */
  #currentFile(): number {
    if (this.#file !== null && fstatSync(this.#file).nlink === 0) this.close()
    if (this.#file === null) {
      this.#file = openSync(this.path, FLAGS, MODE)
      this.#isTorn = false
    }
    return this.#file
  }
}

/** Writes all bytes. A nearly full disk accepts a part of them per call. */
function appendAll(file: number, bytes: Uint8Array, onWritten: (count: number) => void): void {
  for (let at = 0; at < bytes.length; ) {
    const count = writeSync(file, bytes, at)
    onWritten(count)
    at += count
  }
}
