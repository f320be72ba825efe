/** An editor at `newcut dap`: the client of the protocol's authors, and the adapter in this process or as a process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { DebugClient } from '@vscode/debugadapter-testsupport'
import type { DebugProtocol } from '@vscode/debugprotocol'
import { serveDap } from '../../src/commands/dap.ts'
import { childEnv } from '../children.ts'

const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
type Stopped = DebugProtocol.StoppedEvent['body']

/** The client at the streams of an adapter. */
export class DapEditor extends DebugClient {
  readonly input: Writable
  /** All output so far. */
  output = ''
  err = ''
  isOver = false

  constructor(streams?: { readonly input: Writable; readonly output: Readable }) {
    super('', '', 'pact')
    this.defaultTimeout = 60_000
    const { input, output } = streams ?? this.#serve()
    this.input = input
    this.connect(output, input)
    this.on('output', ({ body }: DebugProtocol.OutputEvent) => {
      this.output += body.output
    })
  }

  #serve(): { readonly input: Writable; readonly output: Readable } {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const warn = (line: string) => {
      this.err += line
    }
    serveDap({ input, output, warn }, process.env, () => {
      this.isOver = true
    })
    return { input, output }
  }

  /** Opens a program, without starting it. */
  async open(args: object): Promise<void> {
    const isReady = this.waitForEvent('initialized')
    isReady.catch(() => undefined)
    await this.initializeRequest()
    await this.launchRequest(args as DebugProtocol.LaunchRequestArguments)
    await isReady
  }

  /** Sets breakpoints on lines. */
  async lines(path: string, ...breakpoints: DebugProtocol.SourceBreakpoint[]): Promise<DebugProtocol.Breakpoint[]> {
    const { body } = await this.setBreakpointsRequest({ source: { path }, breakpoints })
    return body.breakpoints
  }

  /** Does something that lets the program go on. @returns how it stops next */
  async stopsAfter(act: () => Promise<unknown>): Promise<Stopped> {
    const stopped = this.waitForEvent('stopped')
    stopped.catch(() => undefined)
    await act()
    return ((await stopped) as DebugProtocol.StoppedEvent).body
  }

  begin(): Promise<Stopped> {
    return this.stopsAfter(() => this.configurationDoneRequest())
  }

  /** Name and line of each frame, innermost first. */
  async stack(): Promise<string[]> {
    const { body } = await this.stackTraceRequest({ threadId: 1 })
    return body.stackFrames.map(({ name, source, line }) => `${name} ${source?.name}:${line}`)
  }

  /** The variables of a scope of a frame, as `name: value`. */
  async scope(name: string, frameId = 1): Promise<string[]> {
    const { body } = await this.scopesRequest({ frameId })
    const found = body.scopes.find((each) => each.name === name)
    const variables = await this.variablesRequest({ variablesReference: found?.variablesReference ?? 0 })
    return variables.body.variables.map((each) => `${each.name}: ${each.value}`)
  }

  async value(expression: string, frameId = 1): Promise<string> {
    return (await this.evaluateRequest({ expression, frameId, context: 'watch' })).body.result
  }

  async close(): Promise<void> {
    await this.disconnectRequest()
  }
}

/** An adapter as a process. */
export class DapEditorOfProcess extends DapEditor {
  readonly child: ChildProcess

  constructor(args: readonly string[] = []) {
    const child = spawn(process.execPath, [main, 'dap', ...args], { env: childEnv, stdio: ['pipe', 'pipe', 'pipe'] })
    super({ input: child.stdin, output: child.stdout })
    this.child = child
    child.stdin.on('error', () => undefined)
    child.stderr.on('data', (bytes) => {
      this.err += bytes
    })
  }
}
