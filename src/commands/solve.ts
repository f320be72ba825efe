/** `newcut solve TARGET`: one piece of work, as an external worker of another miner (PROTOCOL.md G). */

import { solveWork } from '#compose/solve.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { decodeHex, readU256LE } from '#ground/base/bytes.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { degreeOfSize } from '#ground/chain/header.ts'
import { tailLayout } from '#mining/engine/cpu/kernel.ts'
import type { KernelPreference } from '#mining/engine/cpu/names.ts'
import type { Priority } from '#mining/engine/cpu/priority.ts'
import { commandErrors } from './input/errors.ts'

export interface SolveOptions {
  /** 64 hex digits, little-endian. */
  readonly target: string
  readonly threads: number
  readonly kernel: KernelPreference
  readonly priority: Priority
}

/** Searches the work on stdin, and prints nonce, hashes and hashes per second. Resolves with 1 if it is stopped. */
export function runSolve(options: SolveOptions, { input, out, err, untilStopped }: CommandContext): Promise<number> {
  const target = parseTarget(options.target)
  const work = readWork(input)
  return untilStopped((stopped) => solve(work, target, { ...options, out, err }, stopped))
}

async function solve(
  work: Uint8Array,
  target: bigint,
  { out, err, ...options }: SolveOptions & Pick<CommandContext, 'out' | 'err'>,
  stopped: AbortSignal,
): Promise<number> {
  const onWarning = (message: string) => void err.write(`newcut: ${message}\n`)
  const solved = await solveWork({ ...options, work, target }, { onWarning, stopped })
  if (solved === null) return 1
  const nonce = solved.nonce.toString(16).padStart(16, '0')
  const hashesPerSecond = Math.round((solved.hashes * 1000) / solved.durationMs)
  out.write(`${nonce} ${solved.hashes} ${hashesPerSecond}\n`)
  return 0
}

function parseTarget(text: string): bigint {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) {
    throw operatingError(commandErrors.wrongTarget, { text })
  }
  return readU256LE(decodeHex(text), 0)
}

function readWork(input: CommandContext['input']): Uint8Array {
  try {
    const bytes = Uint8Array.from(input())
    // Only the length is checked: the miner that provides the work decides on its content.
    if (degreeOfSize(bytes.length, 'work') === null) throw new RangeError(`${bytes.length} bytes, which no work has`)
    tailLayout(bytes.length)
    return bytes
  } catch (error) {
    throw operatingError(commandErrors.wrongWork, { why: describeError(error) }, error)
  }
}
