/** The thread of a debugged program: it answers the debugger, also while the program is paused. */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import type { DebuggedProgram } from './debug-program.ts'
import { DebugRun } from './debug-run.ts'
import { type FromProgram, TO_PROGRAM, type ToProgram } from './messages.ts'

/** Given to the thread when it starts. */
export interface DebugThreadData {
  readonly port: MessagePort
  readonly signals: Int32Array<SharedArrayBuffer>
}

/**
 * Runs the program for the debugger at the port, which ends the thread.
 * @param programOf makes the program, which may ask the debugger for more, and waits for the answer
 */
export function serveDebugger(
  { port, signals }: DebugThreadData,
  programOf: (ask: (needs: unknown) => unknown) => DebuggedProgram | Promise<DebuggedProgram>,
): void {
  const send = (message: FromProgram) => port.postMessage(message)
  let seen = 0
  const poll = () => {
    const now = Atomics.load(signals, TO_PROGRAM)
    if (now === seen) return
    seen = now
    for (;;) {
      const received = receiveMessageOnPort(port) as { readonly message: ToProgram } | undefined
      if (received === undefined) return
      handle(received.message)
    }
  }
  const wait = () => {
    Atomics.wait(signals, TO_PROGRAM, seen)
    poll()
  }
  /** Messages from before there is a program. */
  const early: ToProgram[] = []
  let supplied: { readonly answer: unknown } | null = null
  const ask = (needs: unknown) => {
    supplied = null
    send({ needs })
    while (supplied === null) wait()
    return (supplied as { readonly answer: unknown }).answer
  }
  let run: DebugRun | null = null
  const handle = (message: ToProgram) => {
    if ('supplied' in message) supplied = { answer: message.supplied }
    else if (run === null) early.push(message)
    else if ('breakpoints' in message) run.setBreakpoints(message.breakpoints)
    else if ('move' in message) run.askMove(message.move, message.row)
    else if ('pause' in message) run.askPause()
    else run.answer(message.question, (answer) => send({ id: message.id, answer }))
  }
  const serve = async () => {
    run = new DebugRun(await programOf(ask), { send, poll, wait })
    for (const message of early.splice(0)) handle(message)
    await run.serve()
  }
  serve().catch((error: unknown) => {
    const hint = error instanceof NewcutError && error.hint !== undefined ? ` (${error.hint})` : ''
    send({ broken: `${describeError(error)}${hint}` })
  })
}
