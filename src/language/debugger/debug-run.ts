/** One debugged program: it runs, pauses, and goes back by running again from the beginning. */

import { describeError } from '#ground/base/errors.ts'
import type { ContractError } from '../contracts/errors.ts'
import { MissingEntry } from '../contracts/machine/state.ts'
import type { Term } from '../contracts/machine/term.ts'
import { shortText } from '../contracts/trace/short-text.ts'
import { BreakpointJudge } from './breakpoint-judge.ts'
import { BreakpointSet, isRow } from './breakpoint-set.ts'
import { type Goal, type LateQuestion, QuestionEnd, Rewind, SearchEnd } from './debug-goal.ts'
import type { DebuggedProgram, ProgramEnd } from './debug-program.ts'
import { FrameView } from './frame-view.ts'
import {
  type Breakpoints,
  type FromProgram,
  type Move,
  missingText,
  type ProgramQuestion,
  type RowBreakpoint,
  type StopReason,
} from './messages.ts'
import type { Point } from './point.ts'
import { type PauseDecider, ProgramFollower } from './program-follower.ts'

/** The debugger, as the program sees it. */
interface DebuggerPort {
  send(message: FromProgram): void
  /** Handles the messages that have come; never waits. */
  poll(): void
  /** Waits for the next message, and handles it. */
  wait(): void
}

export class DebugRun implements PauseDecider {
  readonly #program: DebuggedProgram
  readonly #port: DebuggerPort
  #breakpoints = new BreakpointSet()
  readonly #judge = new BreakpointJudge()
  #follower: ProgramFollower
  #goal: Goal = { go: 'run' }
  /** Rows that were written in this run, with the beginnings of the expressions that wrote them. */
  #writes: { readonly tick: number; readonly table: string; readonly key: string }[] = []
  /** Newest match of a search. */
  #found: number | null = null
  #view: FrameView | null = null
  #late: LateQuestion | null = null
  /** Whether the program can be run to this pause again, which is at the beginning or end of an expression. */
  #isRepeatable = false
  /** The move that the debugger asks for, while the program is paused or has ended. */
  #move: Move | null = null
  #row: RowBreakpoint | null = null
  #isPauseAsked = false
  #hasEnded = false
  #isFirstStop = true
  /** Lines and expectations that were sent. A run that repeats sends them once. */
  readonly #sent = { lines: 0, tests: 0 }
  /** Failed expectations at the beginning of the expression at the top level. */
  #failed = 0

  constructor(program: DebuggedProgram, port: DebuggerPort) {
    this.#program = program
    this.#port = port
    this.#follower = new ProgramFollower(program, this)
  }

  setBreakpoints(breakpoints: Breakpoints): void {
    this.#breakpoints = new BreakpointSet(breakpoints)
  }

  askPause(): void {
    this.#isPauseAsked = true
  }

  /** @param row for `toWrite`: the row whose last write it is; default: any row */
  askMove(move: Move, row?: RowBreakpoint): void {
    this.#move = move
    this.#row = row ?? null
  }

  /** Runs the program until the debugger ends the thread. Rejects if the program cannot go on. */
  async serve(): Promise<never> {
    this.#awaitMove()
    this.#applyAtStart()
    for (;;) {
      const ended = await this.#runOnce()
      if (ended === null) continue
      this.#report()
      this.#hasEnded = true
      this.#view = new FrameView(this.#follower, this.#program)
      for (const line of this.#breakpoints.missedFunctions()) this.#port.send({ line })
      this.#port.send({ ended })
      this.#awaitMove()
      this.#applyAtEnd()
      this.#hasEnded = false
    }
  }

  /** @returns null if the program has to run again */
  async #runOnce(): Promise<ProgramEnd | null> {
    this.#follower = new ProgramFollower(this.#program, this)
    this.#writes = []
    this.#found = null
    this.#failed = 0
    try {
      const ended = this.#program.run(this.#follower)
      return this.#goal.go === 'find' ? this.#goToFound() : ended
    } catch (error) {
      if (error instanceof Rewind) return null
      if (error instanceof QuestionEnd) return this.#fetchForQuestion()
      if (error instanceof SearchEnd) return this.#goToFound()
      const { tick } = this.#follower
      if ((await this.#program.supply?.(error)) !== true && !this.#judge.refuse(error)) throw error
      // Goes on where the program missed something.
      const { go } = this.#goal
      if (go !== 'tick' && go !== 'again' && go !== 'find') this.#resumeAt = { tick, goal: this.#goal }
      return null
    }
  }

  /** The program runs to the same pause, where the question is asked once more. */
  async #fetchForQuestion(): Promise<null> {
    const late = this.#late
    this.#goal = { go: 'again', tick: this.#follower.tick }
    if (late === null) return null
    try {
      if ((await this.#program.supply?.(late.lack)) === true) return null
      late.reply({ fault: missingText(late.lack) })
    } catch (error) {
      late.reply({ fault: describeError(error) })
    }
    this.#late = null
    return null
  }

  /** After a fetch: the goal that counts once the program is there again. */
  #resumeAt: { readonly tick: number; readonly goal: Goal } | null = null

  #goToFound(): null {
    this.#goal = {
      go: 'tick',
      tick: this.#found ?? 1,
      text: this.#found === null ? 'the beginning of the program' : null,
    }
    return null
  }

  #awaitMove(): void {
    this.#move = null
    while (this.#move === null) {
      this.#port.wait()
      if (this.#late !== null) throw new QuestionEnd()
    }
  }

  #applyAtStart(): void {
    this.#goal = this.#move === 'run' ? { go: 'run' } : { go: 'into', depth: 0 }
  }

  #applyAtEnd(): void {
    const back = this.#backGoal(Number.POSITIVE_INFINITY, 1)
    if (back !== null) this.#goal = back
    else {
      this.#isFirstStop = true
      this.#applyAtStart()
    }
  }

  /** The goal of a move that goes back; null for the others, and where nothing is to go back to. */
  #backGoal(before: number, depth: number): Goal | null {
    switch (this.#move) {
      case 'toWrite': {
        const row = this.#row
        const isMeant = (table: string, key: string) => row === null || isRow(row, table, key)
        const write = this.#writes.findLast(({ tick, table, key }) => tick < before && isMeant(table, key))
        if (write !== undefined)
          return { go: 'tick', tick: write.tick, text: `before the write of ${write.table} ${write.key}` }
        return {
          go: 'tick',
          tick: 1,
          text: `the beginning: ${row === null ? 'no row' : `no row ${rowName(row)}`} was written before`,
        }
      }
      case 'toLine':
        return { go: 'find', before, what: 'line', depth }
      case 'toBreakpoint':
        return { go: 'find', before, what: 'breakpoint', depth }
      default:
        return null
    }
  }

  enter(point: Point, around: Point | null): void {
    const { frame, frames, tick } = this.#follower
    this.#port.poll()
    if (around === null && frames.length === 1) this.#failed = this.#program.failed
    if (frame === null || this.#isReplay(tick)) return
    const isStop = point.isStop && (around === null || around.line !== point.line || around.source !== point.source)
    const goal = this.#goal
    if (goal.go === 'find') {
      if (goal.what === 'line' ? isStop && frames.length <= goal.depth : isStop && this.#isBreakpoint(point)) {
        this.#found = tick
      }
      return
    }
    if (this.#isPauseAsked && this.#program.isStoppable !== false) this.#pause('pause', null)
    else if (isStop && this.#isBreakpoint(point)) this.#pause('breakpoint', null)
    else if (isStop && this.#isStep(frames.length) && this.#program.isStoppable !== false) {
      this.#pause(this.#isFirstStop ? 'entry' : 'step', null)
    }
  }

  leave(_: Point, value: Term): void {
    const { frames, tick, hasReturned } = this.#follower
    if (frames.length === 1) this.#report()
    if (this.#isReplay(tick)) return
    const goal = this.#goal
    if (goal.go === 'find') return
    const failed = this.#program.tests.findLast(({ what }) => what !== null)
    if (frames.length === 1 && this.#program.failed > this.#failed) {
      this.#failed = this.#program.failed
      if (this.#breakpoints.failures.expectations && failed !== undefined) {
        this.#pause('failure', `failed: ${failed.name}: ${failed.what}`)
        return
      }
    }
    const isReturn = hasReturned && 'depth' in goal && frames.length < goal.depth
    if (isReturn && this.#program.isStoppable !== false) this.#pause('return', shortText(value))
  }

  fail(_: Point, error: ContractError): void {
    const { catchers, tick } = this.#follower
    if (this.#isReplay(tick) || this.#goal.go === 'find') return
    const { all, uncaught, expectations } = this.#breakpoints.failures
    const catcher = catchers.findLast((each) => each !== 'attempt' || error.kind === 'TxFailure') ?? null
    const stops = all || (catcher === null && uncaught) || (catcher === 'expectation' && expectations)
    if (!stops) return
    // The expectation has been reported here.
    if (catcher === 'expectation') this.#failed = Number.POSITIVE_INFINITY
    this.#pause('failure', error.message)
  }

  noteWrite(table: string, key: string): void {
    const { frame, tick } = this.#follower
    const began = frame?.tick ?? tick
    this.#writes.push({ tick: began, table, key })
    if (this.#isReplay(tick)) return
    const isMet = this.#breakpoints.isRow(table, key)
    if (this.#goal.go !== 'find') {
      if (isMet) this.#pause('write', `${table} ${key}`)
    } else if (
      this.#goal.what === 'breakpoint' &&
      began < this.#goal.before &&
      (isMet || !this.#breakpoints.hasRows())
    ) {
      this.#found = Math.max(this.#found ?? 0, began)
    }
  }

  /** Whether the program only runs to a place where it was before. Pauses at that place. */
  #isReplay(tick: number): boolean {
    if (this.#resumeAt !== null && tick >= this.#resumeAt.tick) this.#resumeAt = null
    if (this.#resumeAt !== null) return true
    const goal = this.#goal
    if (goal.go === 'find' && tick >= goal.before) throw new SearchEnd()
    if (goal.go === 'again' && tick === goal.tick) this.#pauseAgain()
    else if (goal.go === 'tick' && tick === goal.tick) this.#pause('back', goal.text)
    return goal.go === 'tick' || goal.go === 'again'
  }

  #isStep(depth: number): boolean {
    const goal = this.#goal
    if (goal.go === 'out') return depth < goal.depth
    return goal.go === 'into' || (goal.go === 'over' && depth <= goal.depth)
  }

  #isBreakpoint(point: Point): boolean {
    const { frame } = this.#follower
    if (frame !== null && this.#breakpoints.isFunctionStart(frame)) return true
    const breakpoint = this.#breakpoints.atLine(point)
    if (breakpoint === null) return false
    const tell = this.#goal.go === 'find' ? null : (line: string) => this.#port.send({ line })
    const view = new FrameView(this.#follower, this.#program)
    return this.#judge.isMet(breakpoint, { source: point.source, tick: this.#follower.tick, view, tell })
  }

  /** Sends lines and expectations that are new. */
  #report(): void {
    const { output, tests } = this.#program
    for (; this.#sent.lines < output.length; this.#sent.lines++) this.#port.send({ line: output[this.#sent.lines] })
    for (; this.#sent.tests < tests.length; this.#sent.tests++) this.#port.send({ test: tests[this.#sent.tests] })
  }

  #pause(reason: StopReason, text: string | null): void {
    this.#isPauseAsked = false
    this.#isFirstStop = false
    this.#report()
    this.#isRepeatable = reason !== 'write'
    this.#view = new FrameView(this.#follower, this.#program)
    this.#port.send({ stopped: { reason, text } })
    this.#stay()
  }

  /** The pause that a question has left. References to values of before are of no use any more. */
  #pauseAgain(): void {
    const late = this.#late
    this.#late = null
    this.#view = new FrameView(this.#follower, this.#program)
    if (late !== null) this.answer(late.question, late.reply)
    if (this.#late !== null) throw new QuestionEnd()
    this.#stay()
  }

  #stay(): void {
    this.#awaitMove()
    this.#view = null
    this.#apply()
  }

  #apply(): void {
    const { frames, tick } = this.#follower
    const back = this.#backGoal(tick, frames.length)
    if (back !== null) {
      this.#goal = back
      throw new Rewind()
    }
    switch (this.#move) {
      case 'restart':
        this.#goal = { go: 'into', depth: 0 }
        this.#isFirstStop = true
        throw new Rewind()
      case 'into':
      case 'over':
      case 'out':
        this.#goal = { go: this.#move, depth: frames.length }
        return
      default:
        this.#goal = { go: 'run' }
    }
  }

  /** Answers a question, perhaps later. */
  answer(question: ProgramQuestion, reply: (answer: unknown) => void): void {
    try {
      reply(this.#answerTo(question))
    } catch (error) {
      if (!(error instanceof MissingEntry)) throw error
      const canFetch =
        this.#view !== null && this.#isRepeatable && !this.#hasEnded && this.#program.supply !== undefined
      if (canFetch) this.#late = { question, reply, lack: error }
      else reply({ fault: missingText(error) })
    }
  }

  /** @throws MissingEntry if the state misses what an expression reads */
  #answerTo(question: ProgramQuestion): unknown {
    if (question.ask === 'text') return this.#program.textOf(question.source)
    if (question.ask === 'sources') return this.#program.sources
    if (question.ask === 'line') {
      const text = this.#program.textOf(question.source)
      return text === null ? null : this.#program.stopsIn(question.source).lineFrom(question.line)
    }
    const view = this.#view
    if (question.ask === 'evaluate') {
      if (view === null) return { fault: 'the program runs' }
      const value = view.evaluate(question.frame, question.text)
      return 'value' in value ? view.describe(question.text, value.value) : value
    }
    if (view === null) return []
    if (question.ask === 'stack') return this.#hasEnded ? [] : view.stack()
    if (question.ask === 'children') return view.children(question.ref)
    return view.variables(question.frame, question.scope)
  }
}

function rowName({ table, key }: RowBreakpoint): string {
  return key === null ? `of ${table}` : `${table} ${key}`
}
