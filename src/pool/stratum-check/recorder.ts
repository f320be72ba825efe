/** Connects a simulated rig to a server and records the transcript. Submits no shares. */
import type { Socket } from 'node:net'
import type { Clock } from '#ground/base/clock.ts'
import { LineSplitter } from '#mining/stratum/lines.ts'
import { Login } from './login.ts'
import type { Manufacturer, RigLogin } from './makers.ts'
import type { Transcript, TranscriptLine } from './transcript.ts'

interface RecorderOptions {
  /** An established connection, with its TLS handshake. */
  readonly socket: Socket
  readonly clock: Clock
  readonly account: RigLogin
  /** Timeout for each answer and for the first job. */
  readonly timeoutMs: number
  /** How long to listen after the log-in. */
  readonly listenMs: number
  readonly stopped: AbortSignal
}

/** Maximum length of a line of the server: a job has less than 1 kB. */
const MAX_LINE_BYTES = 64 * 1024
/** Wait for optional answers, and for a server that closes the connection because of the requests. */
const PROBE_MS = 2_000
/** Maximum number of lines, for servers that flood: all of them are kept. */
const MAX_LINES = 100_000

/**
 * Logs in, listens, and closes.
 * @returns the transcript
 */
export function recordTranscript(maker: Manufacturer, options: RecorderOptions): Promise<Transcript> {
  return new Promise((resolve) => new TranscriptRecorder(maker, options, resolve).begin())
}

class TranscriptRecorder {
  readonly #options: RecorderOptions
  readonly #login: Login
  readonly #resolve: (transcript: Transcript) => void
  readonly #lines: TranscriptLine[] = []
  readonly #openedAtMs: number
  #error: string | null = null
  #cancel: () => void = () => undefined
  #isOver = false
  /** The current wait. Each phase has a timeout of its own. */
  #phase = ''

  constructor(maker: Manufacturer, options: RecorderOptions, resolve: (transcript: Transcript) => void) {
    this.#options = options
    this.#login = new Login(maker, options.account)
    this.#resolve = resolve
    this.#openedAtMs = options.clock.monotonicMs()
  }

  begin(): void {
    const { socket, stopped } = this.#options
    const splitter = new LineSplitter(MAX_LINE_BYTES)
    socket.on('data', (bytes: Buffer) => {
      const lines = splitter.push(bytes)
      if (lines === null) this.#error = `a line has more than ${MAX_LINE_BYTES} bytes`
      for (const line of lines ?? []) this.#hear(line)
      if (lines === null) this.#end('server')
    })
    socket.on('error', (error) => {
      this.#error = error.message
      this.#end('server')
    })
    socket.on('end', () => this.#end('server'))
    socket.on('close', () => this.#end('server'))
    stopped.addEventListener('abort', this.#stop)
    this.#say(this.#login.open())
    this.#wait()
    if (stopped.aborted) this.#stop()
  }

  readonly #stop = () => this.#end('check')

  #hear(line: string): void {
    if (this.#isOver) return
    const atMs = this.#options.clock.monotonicMs()
    this.#lines.push({ atMs, by: 'server', line })
    this.#say(this.#login.hear(line, atMs))
    this.#wait()
    if (this.#login.stage === 'failed' || this.#lines.length > MAX_LINES) this.#end('check')
  }

  #say(lines: readonly string[]): void {
    const atMs = this.#options.clock.monotonicMs()
    for (const line of lines) {
      this.#lines.push({ atMs, by: 'rig', line })
      this.#options.socket.write(`${line}\n`)
    }
  }

  /** Starts the timeout of a new phase. */
  #wait(): void {
    const { stage, agent } = this.#login
    const phase = stage === 'subscribe' ? `${stage} ${agent}` : stage
    if (phase === this.#phase || this.#isOver) return
    this.#phase = phase
    this.#cancel()
    const { clock, timeoutMs, listenMs } = this.#options
    const waitMs = stage === 'mining' ? listenMs : stage === 'probing' ? PROBE_MS : timeoutMs
    this.#cancel = clock.after(waitMs, () => this.#timeUp())
  }

  /** Missing answers to optional requests are not a failure: the rig mines without them. */
  #timeUp(): void {
    if (this.#login.stage !== 'probing') {
      this.#end('check')
      return
    }
    this.#cancel = this.#options.clock.after(this.#options.listenMs, () => this.#end('check'))
  }

  #end(by: Transcript['endedBy']): void {
    if (this.#isOver) return
    this.#isOver = true
    const { socket, stopped, clock } = this.#options
    this.#cancel()
    stopped.removeEventListener('abort', this.#stop)
    socket.destroy()
    this.#resolve({
      openedAtMs: this.#openedAtMs,
      lines: this.#lines,
      endedAtMs: clock.monotonicMs(),
      endedBy: by,
      error: this.#error,
    })
  }
}
