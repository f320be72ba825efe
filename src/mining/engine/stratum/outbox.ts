/**
 * Batches writes to sessions until the event loop has read all readable sockets. A write costs more than judging a
 * share, and one native call writes to many sockets with several threads.
 */
import type { Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import type { SendAll } from './native-send.ts'

/** Sockets per thread before another thread is worth its start. */
const SOCKETS_PER_THREAD = 256
/** Maximum batch of sockets and bytes, for at most four threads. */
const MAX_SOCKETS = 1024
const MAX_BYTES = 2 ** 20
/** Maximum UTF-8 length of a UTF-16 unit. */
const BYTES_OF_UNIT = 3

/**
 * The outbox entry of a session; only it writes to the session's socket. New work goes to all sessions at once. Its
 * fields avoid lookups in the socket, which would dominate for ten thousand sessions.
 */
export interface QueuedMessage {
  readonly socket: Socket
  readonly isEncrypted: boolean
  /** Text to write, or empty. */
  text: string
  /** Sequence of the newest work in the text, or null. */
  sequence: number | null
  /** Whether the network did not accept all bytes, and may not have done so yet. */
  mayBeBehind: boolean
}

interface OutboxOptions<M extends QueuedMessage> {
  /** Native batch write, or null to write to each socket separately, as to encrypted ones always. */
  readonly sendAll: SendAll | null
  /** Unsent bytes of a slow client; beyond it the client is closed. */
  readonly unsentBytes: number
  /** Called after a text with this sequence was written, with whether the network has accepted all of it. */
  readonly onWritten: (mail: M, sequence: number, isWritten: boolean) => void
  /** Called when a client is closed because it reads too slowly. */
  readonly onSlow: (mail: M) => void
}

export function mailOf(socket: Socket): QueuedMessage {
  return { socket, isEncrypted: 'encrypted' in socket, text: '', sequence: null, mayBeBehind: false }
}

/** Whether earlier bytes still wait for the network. */
export function isBehind(mail: QueuedMessage): boolean {
  if (mail.mayBeBehind) mail.mayBeBehind = mail.socket.writableLength > 0
  return mail.mayBeBehind
}

export class Outbox<M extends QueuedMessage> {
  readonly #options: OutboxOptions<M>
  readonly #threads = availableParallelism()
  /** Entries with text. */
  #waiting: M[] = []
  #isPlanned = false
  /** The current batch: sockets, their parts of the bytes, and how much of each was accepted. */
  #together: M[] = []
  readonly #descriptors = new Int32Array(MAX_SOCKETS)
  readonly #pieces = new Uint32Array(2 * MAX_SOCKETS)
  readonly #sent = new Int32Array(MAX_SOCKETS)
  readonly #bytes: Buffer
  #length = 0

  constructor(options: OutboxOptions<M>) {
    this.#options = options
    this.#bytes = Buffer.allocUnsafeSlow(options.sendAll === null ? 0 : MAX_BYTES)
  }

  /** Appends text for a session. It is written at the end of the event loop turn, or by `flush`. */
  post(mail: M, text: string, sequence: number | null): void {
    if (mail.text === '') this.#waiting.push(mail)
    mail.text += text
    mail.sequence = sequence ?? mail.sequence
    if (this.#waiting.length >= MAX_SOCKETS || mail.text.length >= this.#options.unsentBytes) this.flush()
    else if (!this.#isPlanned) {
      this.#isPlanned = true
      setImmediate(() => {
        this.#isPlanned = false
        this.flush()
      })
    }
  }

  /** Writes all waiting texts. */
  flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const mail of waiting) if (!this.#gather(mail)) this.#write(mail, mail.text)
    this.#sendGathered()
  }

  /**
   * Adds an entry to the batch.
   * @returns false if it cannot be written in a batch
   */
  #gather(mail: M): boolean {
    const { socket, text } = mail
    if (this.#options.sendAll === null || mail.isEncrypted || isBehind(mail) || socket.writableEnded) return false
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
    const mails = this.#together
    const { length } = mails
    if (length === 0) return
    this.#together = []
    this.#length = 0
    const [pieces, sent] = [this.#pieces, this.#sent]
    this.#options.sendAll?.(
      this.#descriptors.subarray(0, length),
      pieces.subarray(0, 2 * length),
      this.#bytes,
      sent.subarray(0, length),
      Math.min(this.#threads, Math.ceil(length / SOCKETS_PER_THREAD)),
    )
    // Copy the unsent remainders before any callback can reuse these buffers. Socket errors surface when the remainder
    // is written.
    const rests = new Map<M, Buffer>()
    for (let i = 0; i < length; i++) {
      const [start, bytes] = [pieces[2 * i], pieces[2 * i + 1]]
      if (sent[i] < bytes) rests.set(mails[i], Buffer.from(this.#bytes.subarray(start + sent[i], start + bytes)))
    }
    for (const mail of mails) {
      const rest = rests.get(mail)
      if (rest === undefined) this.#finish(mail, true)
      else this.#write(mail, rest)
    }
  }

  /** Writes with the socket's own method. */
  #write(mail: M, data: Buffer | string): void {
    const { socket, sequence } = mail
    if (socket.destroyed || socket.writableEnded) {
      mail.text = ''
      mail.sequence = null
      return
    }
    mail.mayBeBehind = true
    if (mail.isEncrypted) {
      // Report only after the callback: for an encrypted socket, only then is the result known.
      mail.text = ''
      mail.sequence = null
      socket.write(data, (error) => sequence !== null && this.#options.onWritten(mail, sequence, error == null))
    } else {
      socket.write(data)
      this.#finish(mail, !isBehind(mail))
    }
    if (socket.writableLength <= this.#options.unsentBytes) return
    this.#options.onSlow(mail)
    socket.destroy()
  }

  #finish(mail: M, isWritten: boolean): void {
    const { sequence } = mail
    mail.text = ''
    mail.sequence = null
    if (sequence !== null) this.#options.onWritten(mail, sequence, isWritten)
  }
}

/** The file descriptor of an open socket, or null if it is closed or the system has no descriptors. */
function descriptorOf(socket: Socket): number | null {
  // Node.js drops the handle when it closes the descriptor.
  const { fd } = (socket as { _handle?: { fd?: number } | null })._handle ?? {}
  return fd !== undefined && fd >= 0 ? fd : null
}
