/** This process, as the command line sees it. */
import { readFileSync } from 'node:fs'
import type { Surroundings } from '../cli/terminal.ts'
import { systemClock } from '../platform/clock.ts'
import { untilStopped } from '../platform/shutdown.ts'
import { packageVersion } from '../platform/version.ts'

export const surroundings: Surroundings = {
  version: packageVersion,
  environment: process.env,
  out: process.stdout,
  err: process.stderr,
  input: () => readFileSync(0),
  get keyboard() {
    return process.stdin
  },
  nowMs: systemClock.wallMs,
  untilStopped,
}
