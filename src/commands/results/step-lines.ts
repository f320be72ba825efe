/** Steps of a command on its way into the chain, as lines on stderr. Only the result goes to stdout. */

import type { CommandStep } from '#client/wallet/command-sender.ts'
import { type ConsoleLine, linePrinter } from '#faces/cli/line.ts'
import type { Terminal } from '#faces/cli/terminal.ts'
import { describeError, NewcutError, withHint } from '#ground/base/errors.ts'
import { formatDuration } from '#ground/base/units.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { withoutControls } from './value-lines.ts'

/** Time until a hint. A block of the main network takes half a minute, and a command may miss one. */
const PATIENCE_MS = 90_000
const NOBODY_MINES: ConsoleLine = {
  label: 'pending',
  style: 'yellow',
  text: 'still in no block: is anyone mining there? newcut mine --node URL does',
}

/** Shows the steps, unless only the result is wanted. */
export class StepLines {
  readonly #print: (line: ConsoleLine) => void
  /** The command line that continues after the end of this program, or null if nothing was sent. */
  #goOn: string | null = null
  #isHalfway = false

  #stopTimer: () => void = () => undefined

  constructor(isQuiet: boolean, { err, environment, nowMs }: Terminal) {
    const print = linePrinter(err, environment, nowMs)
    this.#print = isQuiet ? () => undefined : (line) => print({ ...line, text: withoutControls(line.text) })
  }

  /** The hint on how to continue if this program ends now. */
  goOnWith(command: string): void {
    this.#goOn = command
  }

  /** Coins are now between two chains, and this command line completes the transfer. */
  halfway(command: string): void {
    this.#goOn = command
    this.#isHalfway = true
  }

  readonly show = (step: CommandStep): void => {
    for (const line of linesOf(step)) this.#print(line)
    this.#stopTimer()
    if (step.type === 'pending') this.#stopTimer = systemClock.after(PATIENCE_MS, () => this.#print(NOBODY_MINES))
    if (step.type === 'sent') this.#goOn ??= `newcut result ${step.requestKey} --chain ${step.chain}`
  }

  say(label: string, text: string): void {
    this.#print({ label, style: 'bold', text })
  }

  warn(text: string): void {
    this.#print({ label: 'warning', style: 'yellow', text })
  }

  /**
   * Runs a task. If it fails after a command was sent, the user sees how to continue.
   * @throws the error of the task, with a hint that says how to continue
   */
  async guide<T>(task: () => Promise<T>, stopped: AbortSignal): Promise<T> {
    try {
      return await task()
    } catch (error) {
      if (this.#goOn === null || !(stopped.aborted || error instanceof NewcutError)) throw error
      const state = this.#isHalfway ? 'the coins are in transit' : 'the command may still get into a block'
      const hint = `${state}; to continue: ${this.#goOn}`
      if (stopped.aborted) this.#print({ label: 'stopped', style: 'yellow', text: hint })
      if (!(error instanceof NewcutError) || (error.code === 'COMMAND_FAILED' && !this.#isHalfway)) throw error
      const hints = error.hint === undefined ? hint : `${error.hint}; ${hint}`
      throw withHint(error, hints)
    } finally {
      this.#stopTimer()
    }
  }
}

function linesOf(step: CommandStep): ConsoleLine[] {
  const chain = `chain ${String(step.chain).padEnd(2)}`
  switch (step.type) {
    case 'tried':
      return [{ label: 'tried', style: 'dim', text: `${chain} takes ${step.gas} gas` }]
    case 'time': {
      const side = step.aheadMs > 0 ? 'ahead' : 'behind'
      const text = `${chain} the node's clock is ${formatDuration(Math.abs(step.aheadMs))} ${side}: the command takes its time`
      return [{ label: 'time', style: 'yellow', text }]
    }
    case 'sent':
      return [
        { label: 'sent', style: 'cyan', text: `${chain} ${step.again ? 'again: ' : ''}request key ${step.requestKey}` },
      ]
    case 'pending': {
      const text = step.wasIncluded ? 'another branch has replaced its block; in no block now' : 'in no block yet'
      return [{ label: 'pending', style: step.wasIncluded ? 'yellow' : 'dim', text: `${chain} ${text}` }]
    }
    case 'included': {
      const depth = step.of === 0 ? '' : `  ${step.depth} of ${step.of} blocks on top`
      return [{ label: 'included', style: 'green', text: `${chain} height ${step.height}${depth}` }]
    }
    case 'proof': {
      const text = `${chain} the proof waits until chain ${step.targetChain} knows of that block`
      return [{ label: 'proof', style: 'dim', text }]
    }
    case 'trouble': {
      const next = step.retryInMs === 0 ? '' : `; again in ${formatDuration(step.retryInMs)}`
      return [{ label: 'trouble', style: 'yellow', text: describeError(step.error) + next }]
    }
  }
}
