/**
 * What sessions are to be sent, until the event loop has read from those sockets that have something: a write costs more
 * than the judgement of a share, and a native call writes to many sockets with several threads.
 */
import type { Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import type { SendAll } from './native-send.ts'

/** Sockets that one thread writes to before another is worth its start. */
const SOCKETS_PER_THREAD = 256
/** More would be for machines with more cores than one rig server can use. */
const MAX_THREADS = 16
/** Sockets and bytes that are written to together. */
const MAX_SOCKETS = 1024
const MAX_BYTES = 2 ** 20
/** Bytes of a UTF-16 unit in UTF-8, at most. */
const BYTES_OF_UNIT = 3

/** One session's part of the outbox. */
export interface Mail {
  readonly socket: Socket
  /** What is to be written; '': nothing. */
  text: string
  /** Called when the text was written: whether the network has taken all of it. */
  onWritten: ((isWritten: boolean) => void) | null
}

export interface OutboxOptions {
  /** null: each socket is written to by itself. Encrypted ones always are. */
  readonly sendAll: SendAll | null
  /** Bytes that may wait for a client that reads slowly; with more it is closed. */
  readonly unsentBytes: number
}

export class Outbox {
  readonly #options: OutboxOptions
  readonly #threads = Math.min(MAX_THREADS, availableParallelism())
  /** Those with text. */
  #waiting: Mail[] = []
  #isPlanned = false
  /** Those that are written to together: socket, its text among the bytes, and how much of that was taken. */
  #together: Mail[] = []
  readonly #descriptors = new Int32Array(MAX_SOCKETS)
  readonly #pieces = new Uint32Array(2 * MAX_SOCKETS)
  readonly #sent = new Int32Array(MAX_SOCKETS)
  readonly #bytes: Buffer
  #length = 0

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#bytes = Buffer.allocUnsafeSlow(options.sendAll === null ? 0 : MAX_BYTES)
  }

  /** Text that follows what waits for the same session. It is written when the event loop turns, or at `flush`. */
  post(mail: Mail, text: string, onWritten: Mail['onWritten'] = null): void {
    if (mail.text === '') this.#waiting.push(mail)
    mail.text += text
    if (onWritten !== null) mail.onWritten = onWritten
    if (this.#waiting.length >= MAX_SOCKETS || mail.text.length >= this.#options.unsentBytes) this.flush()
    else if (!this.#isPlanned) {
      this.#isPlanned = true
      setImmediate(() => {
        this.#isPlanned = false
        this.flush()
      })
    }
  }

  /** Writes all that waits. */
  flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const mail of waiting) if (!this.#gather(mail)) this.#write(mail)
    this.#sendGathered()
  }

  /** Takes a mail among those that are written to together; false: it is not one for that. */
  #gather(mail: Mail): boolean {
    const { socket, text } = mail
    if (this.#options.sendAll === null || socket.writableLength > 0) return false
    const descriptor = descriptorOf(socket)
    const room = BYTES_OF_UNIT * text.length
    if (descriptor === null || room > MAX_BYTES) return false
    if (this.#length + room > MAX_BYTES) this.#sendGathered()
    const at = this.#together.length
    this.#descriptors[at] = descriptor
    // A job is the same text for all.
    if (at > 0 && this.#together[at - 1].text === text) {
      this.#pieces.copyWithin(2 * at, 2 * at - 2, 2 * at)
    } else {
      this.#pieces[2 * at] = this.#length
      this.#pieces[2 * at + 1] = this.#bytes.write(text, this.#length)
      this.#length += this.#pieces[2 * at + 1]
    }
    this.#together.push(mail)
    return true
  }

  #sendGathered(): void {
    const count = this.#together.length
    if (count === 0) return
    const [pieces, sent] = [this.#pieces, this.#sent]
    const threads = Math.min(this.#threads, Math.ceil(count / SOCKETS_PER_THREAD))
    this.#options.sendAll?.(
      this.#descriptors.subarray(0, count),
      pieces.subarray(0, 2 * count),
      this.#bytes,
      sent.subarray(0, count),
      threads,
    )
    const mails = this.#together
    this.#together = []
    this.#length = 0
    // Before anything is called that may write more.
    const rests = mails.map((_, i) => {
      const [start, length] = [pieces[2 * i], pieces[2 * i + 1]]
      return sent[i] < length ? Buffer.from(this.#bytes.subarray(start + sent[i], start + length)) : null
    })
    // Errors are seen by the write of the rest.
    for (const [i, mail] of mails.entries()) this.#write(mail, rests[i])
  }

  /** Writes with the socket's own method: all text of a mail, or what is left of it; null: nothing is. */
  #write(mail: Mail, rest: Buffer | string | null = mail.text): void {
    const { socket, onWritten } = mail
    mail.text = ''
    mail.onWritten = null
    if (socket.destroyed || socket.writableEnded) return
    if (rest !== null && 'encrypted' in socket && onWritten !== null) {
      socket.write(rest, (error) => onWritten(error == null))
    } else {
      if (rest !== null) socket.write(rest)
      // A call for each socket when it is through would cost a fifth of the time that all rigs take to be told of new work.
      onWritten?.(socket.writableLength === 0)
    }
    if (socket.writableLength > this.#options.unsentBytes) socket.destroy()
  }
}

/** The number that the system knows a socket by; null: it is encrypted, or closed, or the system has no such numbers. */
function descriptorOf(socket: Socket): number | null {
  if ('encrypted' in socket || socket.destroyed || socket.writableEnded) return null
  const { fd } = (socket as { _handle?: { fd?: number } | null })._handle ?? {}
  return fd !== undefined && fd >= 0 ? fd : null
}
