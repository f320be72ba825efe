/** Answers of the debugger to what a program needs. */
import type { DebuggerEvents } from '#language/debugger/debugger.ts'

/** The same events, with answers. */
export function withNeeds(events: DebuggerEvents, onNeed: DebuggerEvents['onNeed'] & object): DebuggerEvents {
  return {
    onLine: (line) => events.onLine(line),
    onTest: (test) => events.onTest(test),
    onHalt: (halt) => events.onHalt(halt),
    onBroken: (why) => events.onBroken(why),
    onNeed,
  }
}
