/** An environment without terminal, variables and input, for tests that run commands in this process. */
import type { CommandContext } from '../../src/faces/cli/terminal.ts'

const nowhere = { write: () => true }

export const silentContext: CommandContext = {
  version: '1',
  environment: {},
  out: nowhere,
  err: nowhere,
  nowMs: () => 0,
  input: () => new Uint8Array(),
  untilStopped: (task) => task(new AbortController().signal),
}
