/**
 * What sessions are to be sent, until the event loop has read from those sockets that have something: a write costs more
 * than the judgement of a share, and a native call writes to many sockets with several threads.
 */
import type { Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import type { SendAll } from './native-send.ts'

/** Sockets that one thread writes to before another is worth its start. */
const SOCKETS_PER_THREAD = 256
/** Sockets and bytes that are written to together, by four threads at most. */
const MAX_SOCKETS = 1024
const MAX_BYTES = 2 ** 20
/** Bytes of a UTF-16 unit in UTF-8, at most. */
const BYTES_OF_UNIT = 3

/**
 * One session's part of the outbox, which alone writes to its socket. New work goes to all sessions at once: what is
 * known here need not be looked up in the socket, which takes longer for ten thousand than all else.
 */
export interface Mail {
  readonly socket: Socket
  readonly isEncrypted: boolean
  /** What is to be written; '': nothing. */
  text: string
  /** Sequence of the newest work that the text tells of; null: of none. */
  sequence: number | null
  /** Whether the network did not take all at once, and may not have since. */
  mayBeBehind: boolean
}

export interface OutboxOptions<M extends Mail> {
  /** null: each socket is written to by itself. Encrypted ones always are. */
  readonly sendAll: SendAll | null
  /** Bytes that may wait for a client that reads slowly; with more it is closed. */
  readonly unsentBytes: number
  /** Text with this sequence was written: whether the network has taken all of it. */
  readonly onWritten: (mail: M, sequence: number, isWritten: boolean) => void
  /** A client is closed, since it reads too slowly. */
  readonly onSlow: (mail: M) => void
}

export function mailOf(socket: Socket): Mail {
  return { socket, isEncrypted: 'encrypted' in socket, text: '', sequence: null, mayBeBehind: false }
}

/** Whether something that was written waits for the network. */
export function isBehind(mail: Mail): boolean {
  if (mail.mayBeBehind) mail.mayBeBehind = mail.socket.writableLength > 0
  return mail.mayBeBehind
}

export class Outbox<M extends Mail> {
  readonly #options: OutboxOptions<M>
  readonly #threads = availableParallelism()
  /** Those with text. */
  #waiting: M[] = []
  #isPlanned = false
  /** Those that are written to together: socket, its text among the bytes, and how much of that was taken. */
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

  /** Text that follows what waits for the same session. It is written when the event loop turns, or at `flush`. */
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

  /** Writes all that waits. */
  flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const mail of waiting) if (!this.#gather(mail)) this.#write(mail, mail.text)
    this.#sendGathered()
  }

  /** Takes a mail among those that are written to together; false: it is not one for that. */
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
    // Before anything is called that may write more. Errors are seen by the write of the rest.
    const rests = new Map<M, Buffer>()
    for (let i = 0; i < length; i++) {
      const [start, bytes] = [pieces[2 * i], pieces[2 * i + 1]]
      if (sent[i] < bytes) rests.set(mails[i], Buffer.from(this.#bytes.subarray(start + sent[i], start + bytes)))
    }
    for (const mail of mails) {
      const rest = rests.get(mail)
      if (rest === undefined) this.#done(mail, true)
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
      // It is told when the network has taken it: only then is it known whether all of it was.
      mail.text = ''
      mail.sequence = null
      socket.write(data, (error) => sequence !== null && this.#options.onWritten(mail, sequence, error == null))
    } else {
      socket.write(data)
      this.#done(mail, !isBehind(mail))
    }
    if (socket.writableLength <= this.#options.unsentBytes) return
    this.#options.onSlow(mail)
    socket.destroy()
  }

  #done(mail: M, isWritten: boolean): void {
    const { sequence } = mail
    mail.text = ''
    mail.sequence = null
    if (sequence !== null) this.#options.onWritten(mail, sequence, isWritten)
  }
}

/** The number that the system knows an open socket by; null: it is closed, or the system has no such numbers. */
function descriptorOf(socket: Socket): number | null {
  // Node forgets the handle when it closes the descriptor.
  const { fd } = (socket as { _handle?: { fd?: number } | null })._handle ?? {}
  return fd !== undefined && fd >= 0 ? fd : null
}
