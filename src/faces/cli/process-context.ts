/** This process, as the command line sees it. */
import { MAX_INPUT_BYTES, readBounded } from '#ground/base/user-file.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { untilStopped } from '#ground/platform/shutdown.ts'
import { packageVersion } from '#ground/platform/version.ts'
import type { CommandContext } from './terminal.ts'

export const processContext: CommandContext = {
  version: packageVersion,
  environment: process.env,
  out: process.stdout,
  err: process.stderr,
  input: () => readBounded(0, MAX_INPUT_BYTES),
  get keyboard() {
    return process.stdin
  },
  nowMs: systemClock.wallMs,
  untilStopped,
}
