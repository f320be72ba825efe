/** `newcut dap`: a debug adapter. It turns the requests of an editor into moves of a program and questions about it. */
import type { Debugger, DebuggerEvents, Halt } from '../debugger.ts'
import type { Move, ScopeName, ShownVariable, StopReason } from '../messages.ts'
import { DapConnection, type DapStreams } from './connection.ts'
import { EditorBreakpoints, rowIdOf } from './editor-breakpoints.ts'
import { CAPABILITIES, type RequestArguments, RequestFault } from './messages.ts'

export type { DapStreams } from './connection.ts'
export { type RequestArguments, RequestFault } from './messages.ts'

/** A program that an editor debugs. */
export interface DebugTarget {
  readonly program: Debugger
  /** The text of the program that a file of the editor means. */
  sourceOf(path: string): Promise<string>
  /** How an editor names a text: a file, or a text that it asks for. */
  describe(source: string): { readonly name: string; readonly path?: string }
  /** Frees what the target has besides its program. */
  close?(): Promise<void>
}

interface AdapterHost extends DapStreams {
  /** Opens what the arguments of `launch` name. @throws RequestFault in words for the user */
  readonly open: (args: RequestArguments, events: DebuggerEvents) => Promise<DebugTarget>
  /** The editor has ended the session. */
  readonly onEnd: () => void
}

const THREAD = { id: 1, name: 'code' }
/** Requests that work while the program is busy. */
const URGENT: ReadonlySet<string> = new Set(['pause', 'disconnect', 'terminate'])

const SCOPES: readonly (readonly [scope: ScopeName, name: string])[] = [
  ['arguments', 'Arguments'],
  ['locals', 'Variables'],
  ['capabilities', 'Capabilities'],
  ['gas', 'Gas'],
  ['rows', 'Rows of the transaction'],
]

const REASONS: Readonly<Record<StopReason, string>> = {
  entry: 'entry',
  breakpoint: 'breakpoint',
  step: 'step',
  pause: 'pause',
  failure: 'exception',
  write: 'data breakpoint',
  return: 'step',
  back: 'step',
}

const MOVES: Readonly<Record<string, Move>> = {
  continue: 'run',
  next: 'over',
  stepIn: 'into',
  stepOut: 'out',
  stepBack: 'toLine',
  reverseContinue: 'toBreakpoint',
}

/** A list of variables that an editor can open. */
type VariableList = { readonly frame: number; readonly scope: ScopeName } | { readonly ref: number }

export class DebugAdapter implements DebuggerEvents {
  readonly #host: AdapterHost
  readonly #connection: DapConnection
  #target: DebugTarget | null = null
  #breakpoints: EditorBreakpoints | null = null
  /** First number of lines and columns in the editor. */
  #first = { line: 1, column: 1 }
  #stopsOnEntry = false
  #hasStarted = false
  #last: Extract<Halt, { stopped: unknown }>['stopped'] | null = null
  #lists: VariableList[] = []
  /** Texts that the editor asks for by number, from 1. */
  readonly #texts: string[] = []

  constructor(host: AdapterHost) {
    this.#host = host
    this.#connection = new DapConnection(host, URGENT, (command, args) => this.#answer(command, args))
    host.input.on('end', () => void this.#end())
    host.input.on('close', () => void this.#end())
  }

  onLine(line: string): void {
    this.#connection.send('output', { category: 'stdout', output: `${line}\n` })
  }

  onTest({ name, at, what }: Parameters<DebuggerEvents['onTest']>[0]): void {
    const output = what === null ? `passed: ${name}\n` : `FAILED ${at}: ${name}: ${what}\n`
    this.#connection.send('output', { category: what === null ? 'stdout' : 'stderr', output })
  }

  onHalt(halt: Halt): void {
    this.#lists = []
    if ('ended' in halt) {
      const { text, hasFailed } = halt.ended
      this.#last = null
      this.#connection.send('output', { category: hasFailed ? 'stderr' : 'stdout', output: `${text}\n` })
      this.#connection.send('exited', { exitCode: hasFailed ? 1 : 0 })
      this.#connection.send('terminated')
      return
    }
    const { reason, text } = halt.stopped
    this.#last = halt.stopped
    const described = text === null ? {} : { description: reason === 'failure' ? 'Paused on a failure' : text, text }
    this.#connection.send('stopped', {
      reason: REASONS[reason],
      threadId: THREAD.id,
      allThreadsStopped: true,
      ...described,
    })
  }

  onBroken(why: string): void {
    this.#connection.send('output', { category: 'stderr', output: `the program cannot go on: ${why}\n` })
    this.#connection.send('terminated')
  }

  async #answer(command: string, args: RequestArguments): Promise<unknown> {
    const move = MOVES[command]
    if (move !== undefined) {
      this.#goOn(move)
      return command === 'continue' ? { allThreadsContinued: true } : undefined
    }
    switch (command) {
      case 'initialize':
        this.#first = {
          line: args.flag('linesStartAt1') === false ? 0 : 1,
          column: args.flag('columnsStartAt1') === false ? 0 : 1,
        }
        return CAPABILITIES
      case 'launch':
        return this.#launch(args)
      case 'configurationDone':
        this.#hasStarted = true
        this.#opened.program.move(this.#stopsOnEntry ? 'restart' : 'run')
        return
      case 'restart':
        this.#goOn('restart')
        return
      case 'pause':
        this.#opened.program.pause()
        return
      case 'disconnect':
      case 'terminate':
        // The response comes before the end of the streams.
        setImmediate(() => void this.#end())
        if (command === 'terminate') this.#connection.send('terminated')
        return
      case 'threads':
        return { threads: [THREAD] }
      default:
        return this.#answerQuestion(command, args)
    }
  }

  #answerQuestion(command: string, args: RequestArguments): Promise<unknown> {
    switch (command) {
      case 'setBreakpoints':
      case 'breakpointLocations':
        return this.#answerInText(command, args)
      case 'setFunctionBreakpoints':
        return this.#placed.setFunctions(args)
      case 'setExceptionBreakpoints':
        return this.#placed.setFilters(args)
      case 'setDataBreakpoints':
        return this.#placed.setRows(args)
      case 'dataBreakpointInfo':
        return this.#describeRow(args)
      case 'stackTrace':
        return this.#stack(args)
      case 'scopes':
        return this.#scopes(args)
      case 'variables':
        return this.#variables(args)
      case 'evaluate':
        return this.#evaluate(args)
      case 'exceptionInfo':
        return this.#failure()
      case 'loadedSources':
        return this.#sources()
      case 'source':
        return this.#text(args)
      default:
        throw new RequestFault(`${command}: newcut dap has no such request`)
    }
  }

  async #launch(args: RequestArguments): Promise<void> {
    if (this.#target !== null) throw new RequestFault('launch: a program is open already')
    this.#stopsOnEntry = args.flag('stopOnEntry') ?? false
    this.#target = await this.#host.open(args, this)
    this.#breakpoints = new EditorBreakpoints(this.#target.program, this.#first.line, args.flag('noDebug') !== true)
    this.#connection.send('initialized')
  }

  get #opened(): DebugTarget {
    if (this.#target === null) throw noProgram()
    return this.#target
  }

  get #placed(): EditorBreakpoints {
    if (this.#breakpoints === null) throw noProgram()
    return this.#breakpoints
  }

  async #answerInText(command: string, args: RequestArguments): Promise<unknown> {
    const placed = this.#placed
    const source = await this.#sourceIn(args.within('source'))
    return command === 'setBreakpoints' ? placed.setLines(source, args) : placed.locations(source, args)
  }

  #goOn(move: Move): void {
    const { program } = this.#opened
    if (!this.#hasStarted) throw new RequestFault('the program has not begun: configurationDone comes first')
    if (this.#last === null) throw new RequestFault('the program is not paused')
    this.#last = null
    program.move(move)
  }

  /** Rows can be watched where they are listed. */
  async #describeRow(args: RequestArguments): Promise<unknown> {
    const list = this.#lists[(args.number('variablesReference') ?? 0) - 1]
    const name = args.text('name')
    const rows = list !== undefined && 'scope' in list && list.scope === 'rows' ? await this.#read(list) : []
    const row = rows.find((each) => each.name === name)?.row
    if (row === undefined) return { dataId: null, description: 'only rows of tables can be watched' }
    const description = `writes of ${row.table}${row.key === null ? '' : ` ${row.key}`}`
    return { dataId: rowIdOf(row), description, accessTypes: ['write'], canPersist: true }
  }

  async #stack(args: RequestArguments): Promise<unknown> {
    const stack = await this.#opened.program.ask({ ask: 'stack' })
    const start = args.number('startFrame') ?? 0
    const levels = args.number('levels') || stack.length
    const stackFrames = stack.map(({ name, source, line, column }, i) => ({
      id: i + 1,
      name,
      source: this.#describeSource(source),
      line: line + this.#first.line,
      column: column + this.#first.column,
    }))
    return { stackFrames: stackFrames.slice(start, start + levels), totalFrames: stack.length }
  }

  #describeSource(source: string): object {
    const described = this.#opened.describe(source)
    if (described.path !== undefined) return described
    let at = this.#texts.indexOf(source)
    if (at < 0) at = this.#texts.push(source) - 1
    return { ...described, sourceReference: at + 1 }
  }

  async #sourceIn(source: RequestArguments): Promise<string> {
    const reference = source.number('sourceReference') ?? 0
    const path = source.text('path')
    if (reference > 0) return this.#texts[reference - 1] ?? ''
    if (path === null) throw new RequestFault('a source has neither a path nor a sourceReference')
    return this.#opened.sourceOf(path)
  }

  async #scopes(args: RequestArguments): Promise<unknown> {
    const frame = (args.number('frameId') ?? 1) - 1
    return {
      scopes: SCOPES.map(([scope, name]) => ({
        name,
        variablesReference: this.#lists.push({ frame, scope }),
        expensive: false,
        ...(scope === 'arguments' && { presentationHint: 'arguments' }),
        ...(scope === 'locals' && { presentationHint: 'locals' }),
      })),
    }
  }

  async #variables(args: RequestArguments): Promise<unknown> {
    const list = this.#lists[(args.number('variablesReference') ?? 0) - 1]
    if (list === undefined) return { variables: [] }
    const isNamed = 'scope' in list && (list.scope === 'arguments' || list.scope === 'locals')
    const variables = (await this.#read(list)).map((each) => ({
      ...this.#describeVariable(each),
      // Editors put it into the list of watched expressions.
      ...(isNamed && { evaluateName: each.name }),
    }))
    const returned = this.#last?.reason === 'return' ? this.#last.text : null
    if (returned === null || !('scope' in list) || list.scope !== 'locals' || list.frame !== 0) return { variables }
    return { variables: [{ name: '(returned)', value: returned, variablesReference: 0 }, ...variables] }
  }

  async #read(list: VariableList): Promise<readonly ShownVariable[]> {
    const { program } = this.#opened
    const answer = await ('scope' in list
      ? program.ask({ ask: 'variables', ...list })
      : program.ask({ ask: 'children', ...list }))
    return answer ?? []
  }

  #describeVariable({ name, text, ref }: ShownVariable): object {
    return { name, value: text, variablesReference: ref === 0 ? 0 : this.#lists.push({ ref }) }
  }

  async #evaluate(args: RequestArguments): Promise<unknown> {
    const frame = (args.number('frameId') ?? 1) - 1
    const answer = await this.#opened.program.ask({ ask: 'evaluate', frame, text: args.text('expression') ?? '' })
    if (answer === null || 'fault' in answer) throw new RequestFault(answer?.fault ?? 'the program has ended')
    const { text, ref } = answer
    return { result: text, variablesReference: ref === 0 ? 0 : this.#lists.push({ ref }) }
  }

  async #failure(): Promise<unknown> {
    if (this.#last?.reason !== 'failure') throw new RequestFault('the program is not paused on a failure')
    return { exceptionId: 'failure', description: this.#last.text ?? '', breakMode: 'always' }
  }

  async #sources(): Promise<unknown> {
    const sources = await this.#opened.program.ask({ ask: 'sources' })
    return { sources: sources.map((source) => this.#describeSource(source)) }
  }

  async #text(args: RequestArguments): Promise<unknown> {
    const reference = args.within('source').number('sourceReference') ?? args.number('sourceReference') ?? 0
    const source = this.#texts[reference - 1]
    const content = source === undefined ? null : await this.#opened.program.ask({ ask: 'text', source })
    if (content === null) throw new RequestFault('there is no such text')
    return { content, mimeType: 'text/x-pact' }
  }

  async #end(): Promise<void> {
    const target = this.#target
    this.#target = null
    await target?.program.close()
    await target?.close?.()
    this.#host.onEnd()
  }
}

function noProgram(): RequestFault {
  return new RequestFault('no program is open: launch comes first')
}
