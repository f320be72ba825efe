/** `newcut debug`: runs a test file, or a transaction of a development network, step by step. */
import { existsSync } from 'node:fs'
import { basename, isAbsolute, resolve } from 'node:path'
import type { Config } from '#faces/cli/config.ts'
import { painter } from '#faces/cli/line.ts'
import type { debugOptions } from '#faces/cli/options/wallet.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import { suggestFile } from '#ground/base/user-file.ts'
import type { NetworkCopyOptions } from '#language/copy/network-copy.ts'
import type { Debugger } from '#language/debugger/debugger.ts'
import { debugErrors } from './debugging/errors.ts'
import { type TerminalOptions, TerminalSession } from './debugging/terminal-session.ts'
import { openTestFile } from './debugging/test-file.ts'
import { forkSetup } from './input/fork-setup.ts'
import { withNode } from './input/with-node.ts'

/**
 * Resolves with the exit code.
 * @param target a test file, or a request key
 * @throws NewcutError BAD_OPTION for a target that is neither, NodeRefusal for a key that the node does not have
 */
export async function runDebug(
  target: string,
  config: Config<typeof debugOptions>,
  context: CommandContext,
): Promise<number> {
  if (existsSync(target)) return debugFile(target, forkSetup(config.values, context.environment), context)
  if (!/^[\w-]{43}$/.test(target))
    throw operatingError(debugErrors.noDebugTarget, { target, guess: suggestFile(target) })
  const { openTransaction } = await import('./debugging/recorded-transaction.ts')
  const { TRANSACTION_SOURCE } = await import('#devnet/debugging/transaction-thread.ts')
  const { block } = config.values
  return withNode(config, context, async ({ http }, stopped) => {
    const nameOf = (source: string) => `${source}.pact`
    const session = new TerminalSession(terminalOptions(TRANSACTION_SOURCE, nameOf, context))
    const { program } = await openTransaction(http, { requestKey: target, block }, session, stopped)
    return serveSession(session, program, stopped)
  })
}

function debugFile(file: string, fork: NetworkCopyOptions | null, context: CommandContext): Promise<number> {
  return context.untilStopped((stopped) => {
    const session = new TerminalSession(terminalOptions(resolve(file), nameOfSource, context))
    return serveSession(session, openTestFile({ file, fork }, session, context), stopped)
  })
}

/** A file, or a module of a fork. */
function nameOfSource(source: string): string {
  return isAbsolute(source) ? basename(source) : `${source}.pact`
}

function terminalOptions(
  mainSource: string,
  nameOf: TerminalOptions['nameOf'],
  { out, err, environment }: CommandContext,
): TerminalOptions {
  // The session writes to the terminal itself, so the line of the start goes first.
  err.write('')
  const { stdin: input, stdout: output } = process
  const isTerminal = input.isTTY === true && output.isTTY === true
  return { input, output, isTerminal, paint: painter(out, environment), mainSource, nameOf }
}

async function serveSession(session: TerminalSession, program: Debugger, stopped: AbortSignal): Promise<number> {
  const close = () => {
    session.close()
    void program.close()
  }
  stopped.addEventListener('abort', close)
  try {
    await session.serve(program)
  } finally {
    stopped.removeEventListener('abort', close)
    await program.close()
  }
  return 0
}
