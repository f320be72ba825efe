/** Test files for the debugger. */
import { randomInt } from 'node:crypto'
import type { CommandContext } from '#faces/cli/terminal.ts'
import type { NetworkCopyOptions } from '#language/copy/network-copy.ts'
import { Debugger, type DebuggerEvents, testFileThread } from '#language/debugger/debugger.ts'
import type { EnvForkCall } from '#language/testing/env-forks.ts'
import { withNeeds } from './needs.ts'

const RUNS = 256

/** Opens a test file as a program. Property tests draw values at random once, and the same each time the file runs. */
export function openTestFile(
  { file, fork }: { readonly file: string; readonly fork: NetworkCopyOptions | null },
  events: DebuggerEvents,
  { environment }: Pick<CommandContext, 'environment'>,
): Debugger {
  const chance = { seed: randomInt(2 ** 32 - 1), runs: RUNS }
  const replyTo = async (call: unknown) => {
    const { envForkReply } = await import('../input/env-fork.ts')
    return envForkReply(call as EnvForkCall, environment)
  }
  return new Debugger(testFileThread, { file, chance, fork }, withNeeds(events, replyTo))
}
