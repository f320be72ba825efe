/**
 * An editor at `newcut lsp`: a client of the protocol, and the server in this process, or as a process. The latter is
 * for exit codes, and files that go when it ends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  createProtocolConnection,
  type InitializeResult,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  type Registration,
  type RegistrationParams,
  type ShowMessageParams,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node'
import { serveLsp } from '../../src/commands/lsp.ts'
import { resolveLayers } from '../../src/faces/cli/config.ts'
import { forkOptions } from '../../src/faces/cli/options/fork.ts'
import { childEnv } from '../children.ts'
import { until } from '../wait.ts'

const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
export const system = fileURLToPath(new URL('../../src/language/contracts/system/', import.meta.url))
export const coinText = readFileSync(`${system}coin.pact`, 'utf8')
/** Where a text of a hundred prefixes ends, from 0 to 1. */
export const hundredths = Array.from({ length: 100 }, (_, i) => i / 99)
export const uriOf = (file: string) => pathToFileURL(file).href

export interface Point {
  readonly line: number
  readonly character: number
}

/** Position of the first occurrence of `part` behind `after`, plus `ahead` characters. */
export function pointOf(text: string, part: string, ahead = 0, after = ''): Point {
  const start = text.indexOf(after)
  const at = text.indexOf(part, start)
  if (start < 0 || at < 0) throw new Error(`no ${part} behind ${after}`)
  const before = text.slice(0, at + ahead)
  return { line: before.split('\n').length - 1, character: before.length - before.lastIndexOf('\n') - 1 }
}

interface ServerStreams {
  readonly input: Writable
  readonly output: Readable
}

/** The client of a server in this process, with its own streams. */
export class Editor {
  readonly connection: ProtocolConnection
  err = ''
  readonly #input: Writable
  /** The process that a server as a process watches. */
  protected readonly watched: number | null = null
  readonly #published = new Map<string, PublishDiagnosticsParams>()
  /** Refreshes of lenses that the server has asked for. */
  refreshes = 0
  /** Capabilities that the server has asked for since its start. */
  readonly registrations: Registration[] = []
  /** Messages that the editor shows to its user. */
  readonly messages: string[] = []

  /**
   * @param streams of a server; default: one in this process that begins here
   * @param limitMs a test file that takes longer is ended; default: that of the command
   */
  constructor(streams: ServerStreams | null = null, flags: Readonly<Record<string, unknown>> = {}, limitMs?: number) {
    const { input, output } = streams ?? this.#serve(flags, limitMs)
    this.#input = input
    this.connection = createProtocolConnection(new StreamMessageReader(output), new StreamMessageWriter(input))
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.#published.set(params.uri, params)
    })
    this.connection.onNotification('window/showMessage', ({ message }: ShowMessageParams) => {
      this.messages.push(message)
    })
    this.connection.onRequest('workspace/codeLens/refresh', () => {
      this.refreshes++
      return null
    })
    this.connection.onRequest('client/registerCapability', ({ registrations }: RegistrationParams) => {
      this.registrations.push(...registrations)
      return this.register()
    })
    this.connection.listen()
  }

  /** Answers the server. An editor may refuse. */
  protected register(): null {
    return null
  }

  #serve(flags: Readonly<Record<string, unknown>>, limitMs?: number): ServerStreams {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const write = (text: string) => {
      this.err += text
      return true
    }
    const layers = { orders: {}, flags, environment: {}, content: {}, file: null }
    serveLsp(
      resolveLayers(forkOptions, layers).values,
      { version: 'test', err: { write }, environment: {} },
      { input, output },
      limitMs,
    )
    return { input, output }
  }

  /** @param more further capabilities of the workspace */
  async initialize(folder: string | null = null, more: object = {}): Promise<InitializeResult> {
    const capabilities = { workspace: { codeLens: { refreshSupport: true }, ...more } }
    const rootUri = folder === null ? null : uriOf(folder)
    const result = await this.ask<InitializeResult>('initialize', { processId: this.watched, rootUri, capabilities })
    await this.tell('initialized', {})
    return result
  }

  ask<T>(method: string, params: unknown = {}): Promise<T> {
    return this.connection.sendRequest(method, params as object)
  }

  tell(method: string, params: unknown = {}): Promise<void> {
    return this.connection.sendNotification(method, params as object)
  }

  /** Asks about a position of a document. */
  at<T>(method: string, uri: string, position: Point, more: object = {}): Promise<T> {
    return this.ask(`textDocument/${method}`, { textDocument: { uri }, position, ...more })
  }

  of<T>(method: string, uri: string, more: object = {}): Promise<T> {
    return this.ask(`textDocument/${method}`, { textDocument: { uri }, ...more })
  }

  async open(uri: string, text: string): Promise<PublishDiagnosticsParams> {
    await this.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'pact', version: 1, text } })
    return this.published(uri, 1)
  }

  async change(uri: string, version: number, contentChanges: readonly object[]): Promise<PublishDiagnosticsParams> {
    await this.tell('textDocument/didChange', { textDocument: { uri, version }, contentChanges })
    return this.published(uri, version)
  }

  /** Waits for the findings of a version of a document. */
  async published(uri: string, version: number): Promise<PublishDiagnosticsParams> {
    await until(() => (this.#published.get(uri)?.version ?? 0) >= version)
    return this.#published.get(uri) as PublishDiagnosticsParams
  }

  /** Waits until the findings of a document meet a condition. */
  async publishes(
    uri: string,
    isMet: (params: PublishDiagnosticsParams) => boolean,
  ): Promise<PublishDiagnosticsParams> {
    await until(() => {
      const params = this.#published.get(uri)
      return params !== undefined && isMet(params)
    })
    return this.#published.get(uri) as PublishDiagnosticsParams
  }

  /** Writes bytes past the protocol. */
  raw(bytes: string): void {
    this.#input.write(bytes)
  }

  /** Ends the session. The server must still answer. */
  async close(): Promise<void> {
    await this.ask('shutdown')
    this.connection.dispose()
  }
}

/** A server as a process. */
export class EditorOfProcess extends Editor {
  readonly child: ChildProcess
  protected override readonly watched = process.pid
  readonly #exited: Promise<unknown[]>

  /**
   * @param args further arguments of `newcut lsp`
   * @param variables further variables of its environment
   */
  constructor(args: readonly string[] = [], variables: Readonly<Record<string, string>> = {}) {
    const env = { ...childEnv, ...variables }
    const child = spawn(process.execPath, [main, 'lsp', ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] })
    super({ input: child.stdin, output: child.stdout })
    this.child = child
    this.#exited = once(child, 'exit')
    child.stdin.on('error', () => undefined)
    child.stderr.on('data', (bytes) => {
      this.err += bytes
    })
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  /** Waits for the end of the process. @returns its exit code */
  async ended(): Promise<number | null> {
    const [code] = await this.#exited
    return code as number | null
  }

  /** Ends the session and the process as an editor does. @returns the exit code */
  async exit(): Promise<number | null> {
    if (!this.isRunning) return this.child.exitCode
    await this.ask('shutdown')
    await this.tell('exit')
    return this.ended()
  }
}
