/** The terminal debugger: reads commands, and shows the program. */
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { writeFlags } from '#faces/cli/config-file.ts'
import type { Paint } from '#faces/cli/line.ts'
import type {
  Debugger,
  DebuggerEvents,
  Halt,
  Move,
  RowBreakpoint,
  ScopeName,
  ShownFrame,
  ShownVariable,
  StopReason,
} from '#language/debugger/debugger.ts'
import { TerminalBreakpoints } from './terminal-breakpoints.ts'
import { commandOf, helpLines, terminalCommands } from './terminal-commands.ts'

const PROMPT = '(debug) '
/** Lines that `list` shows above and below. */
const LIST_LINES = 5

export interface TerminalOptions {
  readonly input: Readable
  readonly output: Writable
  /** Whether a person types. */
  readonly isTerminal: boolean
  readonly paint: Paint
  /** The text that line numbers without a file mean first. */
  readonly mainSource: string
  /** Short name of a text. */
  readonly nameOf: (source: string) => string
}

const MOVES: Readonly<Record<string, Move>> = {
  run: 'run',
  step: 'into',
  next: 'over',
  out: 'out',
  previous: 'toLine',
  restart: 'restart',
}

const SCOPES: Readonly<Record<string, readonly [scope: ScopeName, title: string, none: string][]>> = {
  locals: [
    ['arguments', 'arguments', ''],
    ['locals', 'variables', 'no arguments and no variables'],
  ],
  caps: [['capabilities', '', 'no capabilities']],
  gas: [['gas', '', 'no gas']],
  rows: [['rows', '', 'no rows so far']],
}

const REASONS: Readonly<Record<StopReason, string>> = {
  entry: 'begins',
  breakpoint: 'breakpoint',
  step: 'step',
  pause: 'paused',
  failure: 'failure',
  write: 'row written',
  return: 'returned',
  back: 'back',
}

export class TerminalSession implements DebuggerEvents {
  readonly #options: TerminalOptions
  readonly #lines: Interface
  readonly #typed = new LineQueue()
  #program: Debugger | null = null
  #breakpoints: TerminalBreakpoints | null = null
  #onHalt: (halt: Halt) => void = () => undefined
  /** Whether the program runs now. */
  #isRunning = false
  #hasEnded = false
  #frame = 0
  /** An empty line repeats this command. */
  #last = ''
  #isOver = false
  #hasInput = true

  constructor(options: TerminalOptions) {
    this.#options = options
    const { input, output, isTerminal } = options
    this.#lines = createInterface({
      input,
      ...(isTerminal && { output, prompt: PROMPT, completer: complete }),
      terminal: isTerminal,
    })
    // The iterator of readline loses lines that arrive before the first read.
    this.#lines.on('line', (line) => this.#typed.push(line.trim()))
    this.#lines.on('close', () => {
      this.#hasInput = false
      this.#typed.end()
    })
  }

  onLine(line: string): void {
    this.#show(line)
  }

  onTest({ name, at, what }: Parameters<DebuggerEvents['onTest']>[0]): void {
    const { paint } = this.#options
    if (what === null) this.#show(paint('green', `passed: ${name}`))
    else this.#show(paint('red', `FAILED ${at}: ${name}: ${what}`))
  }

  onHalt(halt: Halt): void {
    this.#onHalt(halt)
  }

  onBroken(why: string): void {
    this.#show(`the program cannot go on: ${writeFlags(why)}`)
    this.#isOver = true
    this.#lines.close()
    this.#onHalt({ ended: { text: '', hasFailed: true } })
  }

  /** Serves a person until the end of the session. */
  async serve(program: Debugger): Promise<void> {
    this.#program = program
    this.#breakpoints = new TerminalBreakpoints(program, this.#options)
    this.#lines.on('SIGINT', () => {
      if (this.#isRunning) program.pause()
      else this.#show('quit ends the debugger')
    })
    await this.#move('restart')
    if (this.#isOver) return
    this.#prompt()
    for (let line = await this.#typed.next(); line !== null; line = await this.#typed.next()) {
      await this.#obey(line === '' ? this.#last : line)
      if (this.#isOver) break
      this.#prompt()
    }
    this.#lines.close()
  }

  /** Ends the session from outside. */
  close(): void {
    this.#isOver = true
    this.#lines.close()
    this.#onHalt({ ended: { text: '', hasFailed: false } })
  }

  /** Newer versions of Node refuse a prompt once the input has ended, although lines of it may wait. */
  #prompt(): void {
    if (this.#hasInput) this.#lines.prompt()
  }

  #show(line: string): void {
    this.#options.output.write(`${line}\n`)
  }

  async #obey(line: string): Promise<void> {
    if (line === '') return
    const [word] = line.split(/\s/, 1)
    const rest = line.slice(word.length).trim()
    const command = commandOf(word)
    if ('fault' in command) {
      this.#show(command.fault)
      return
    }
    const { name } = command
    this.#last = name in MOVES ? name : ''
    if (name in MOVES) await this.#move(this.#hasEnded && name !== 'previous' ? 'restart' : MOVES[name])
    else if (name in SCOPES) await this.#showScopes(name)
    else await this.#obeyOther(name, rest)
  }

  async #obeyOther(name: string, rest: string): Promise<void> {
    const breakpoints = this.#breakpoints as TerminalBreakpoints
    switch (name) {
      case 'quit':
        this.#isOver = true
        return
      case 'help':
        for (const line of helpLines()) this.#show(line)
        return
      case 'break':
      case 'watch':
      case 'catch':
      case 'delete':
        for (const line of await breakpoints[name](rest, await this.#readFrame())) this.#show(line)
        return
      case 'back': {
        const [table, ...key] = rest.split(/\s+/)
        const row: RowBreakpoint | undefined =
          table === '' ? undefined : { table, key: key.length === 0 ? null : key.join(' ').replace(/^"(.*)"$/, '$1') }
        await this.#move('toWrite', row)
        return
      }
      case 'where':
        await this.#showStack()
        return
      case 'list':
        await this.#list()
        return
      case 'up':
      case 'down':
        await this.#select(name === 'up' ? 1 : -1)
        return
      case 'print':
        await this.#print(rest)
    }
  }

  /** Lets the program go on, until it pauses or ends. */
  async #move(move: Move, row?: RowBreakpoint): Promise<void> {
    const halted = new Promise<Halt>((resolve) => {
      this.#onHalt = resolve
    })
    this.#isRunning = true
    this.#program?.move(move, row)
    const halt = await halted
    this.#isRunning = false
    this.#frame = 0
    this.#hasEnded = 'ended' in halt
    if (this.#isOver) return
    if ('ended' in halt) {
      const { text, hasFailed } = halt.ended
      for (const line of text.split('\n')) this.#show(this.#options.paint(hasFailed ? 'red' : 'green', line))
      this.#show('the program has ended: back and previous go back, run begins again')
      return
    }
    const { reason, text } = halt.stopped
    const here = await this.#readFrame()
    const place = here === null ? '' : ` in ${here.name}, ${this.#placeOf(here)}`
    this.#show(`${this.#options.paint('bold', REASONS[reason])}${place}${text === null ? '' : `: ${text}`}`)
    if (here !== null) await this.#list(here, 0)
  }

  async #readFrame(): Promise<ShownFrame | null> {
    return (await this.#stack())[this.#frame] ?? null
  }

  async #stack(): Promise<readonly ShownFrame[]> {
    return (await this.#program?.ask({ ask: 'stack' })) ?? []
  }

  #placeOf({ source, line, column }: ShownFrame): string {
    return `${this.#options.nameOf(source)}:${line + 1}:${column + 1}`
  }

  async #showStack(): Promise<void> {
    const stack = await this.#stack()
    if (stack.length === 0) this.#show('no code runs')
    for (const [i, frame] of stack.entries()) {
      this.#show(`${i === this.#frame ? '>' : ' '} ${i} ${frame.name}  ${this.#placeOf(frame)}`)
    }
  }

  async #select(by: number): Promise<void> {
    const stack = await this.#stack()
    const next = this.#frame + by
    if (stack[next] === undefined) {
      this.#show(by > 0 ? 'this is the outermost code' : 'this is the innermost code')
      return
    }
    this.#frame = next
    this.#show(`${stack[next].name}, ${this.#placeOf(stack[next])}`)
    await this.#list(stack[next], 0)
  }

  async #list(at?: ShownFrame, around = LIST_LINES): Promise<void> {
    const frame = at ?? (await this.#readFrame())
    if (frame === null) {
      this.#show('no code runs')
      return
    }
    const text = await this.#program?.ask({ ask: 'text', source: frame.source })
    const lines = (text ?? '').split('\n')
    const [first, last] = [Math.max(0, frame.line - around), Math.min(lines.length - 1, frame.line + around)]
    const width = String(last + 1).length
    for (let i = first; i <= last; i++) {
      const line = `${i === frame.line ? '>' : ' '} ${String(i + 1).padStart(width)}  ${lines[i] ?? ''}`.trimEnd()
      this.#show(i === frame.line ? this.#options.paint('cyan', line) : line)
    }
  }

  async #showScopes(command: string): Promise<void> {
    const lines: string[] = []
    for (const [scope] of SCOPES[command]) {
      const variables = (await this.#program?.ask({ ask: 'variables', frame: this.#frame, scope })) ?? []
      lines.push(...variables.map(variableText))
    }
    const none = SCOPES[command].at(-1)?.[2] ?? ''
    for (const line of lines.length === 0 ? [none] : lines) this.#show(line)
  }

  async #print(text: string): Promise<void> {
    if (text === '') {
      this.#show('print takes code, such as print (+ 1 2)')
      return
    }
    const value = await this.#program?.ask({ ask: 'evaluate', frame: this.#frame, text })
    if (value != null) this.#show('fault' in value ? value.fault : value.text)
  }
}

/** Lines that were typed and wait to be read. */
class LineQueue {
  readonly #lines: string[] = []
  #hasEnded = false
  #wake: () => void = () => undefined

  push(line: string): void {
    this.#lines.push(line)
    this.#wake()
  }

  end(): void {
    this.#hasEnded = true
    this.#wake()
  }

  /** Waits for the next line. @returns null after the last one */
  async next(): Promise<string | null> {
    while (this.#lines.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#lines.shift() ?? null
  }
}

function variableText({ name, text }: ShownVariable): string {
  return `  ${name}: ${text}`
}

function complete(line: string): [string[], string] {
  const names = terminalCommands.map(({ name }) => name)
  return [names.filter((name) => name.startsWith(line)), line]
}
