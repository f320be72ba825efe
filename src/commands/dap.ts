/** `newcut dap`: a debug adapter for contracts, on stdin and stdout. */
import { existsSync } from 'node:fs'
import { basename, isAbsolute, resolve } from 'node:path'
import type { ProcessEnvironment } from '#faces/cli/line.ts'
import { debugOptions } from '#faces/cli/options/wallet.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import type { NetworkCopyOptions } from '#language/copy/network-copy.ts'
import type { DebuggerEvents } from '#language/debugger/debugger.ts'
import {
  type DapStreams,
  DebugAdapter,
  type DebugTarget,
  type RequestArguments,
  RequestFault,
} from '#language/debugger/protocol/adapter.ts'
import { debugErrors } from './debugging/errors.ts'
import { openTestFile } from './debugging/test-file.ts'

const DEFAULT_NODE = debugOptions.node.fallback

/** Serves an editor until it ends the session, or is gone. */
export function runDap({ err, environment }: CommandContext): Promise<number> {
  const { stdin, stdout } = process
  const warn = (line: string) => void err.write(`newcut dap: ${line}\n`)
  if (stdin.isTTY) warn('waiting for an editor on stdin; docs/EDITORS.md says how editors start it')
  return new Promise((end) => {
    serveDap({ input: stdin, output: stdout, warn }, environment, () => {
      // An editor may end the session and leave the stream open.
      stdin.destroy()
      end(0)
    })
  })
}

/** Serves an editor at these streams. */
export function serveDap(streams: DapStreams, environment: ProcessEnvironment, onEnd: () => void): void {
  new DebugAdapter({ ...streams, open: (args, events) => openTarget(args, events, environment), onEnd })
}

/** Opens what a launch names. Rejects with RequestFault. */
async function openTarget(
  args: RequestArguments,
  events: DebuggerEvents,
  environment: ProcessEnvironment,
): Promise<DebugTarget> {
  try {
    const requestKey = args.text('requestKey') ?? ''
    return requestKey === '' ? await openFile(args, events, environment) : await openKey(requestKey, args, events)
  } catch (error) {
    if (!(error instanceof NewcutError)) throw error
    throw new RequestFault(`launch: ${describeError(error)}${error.hint === undefined ? '' : ` (${error.hint})`}`)
  }
}

/** @throws NewcutError BAD_OPTION if there is no such file, or it cannot run on such a fork */
async function openFile(
  args: RequestArguments,
  events: DebuggerEvents,
  environment: ProcessEnvironment,
): Promise<DebugTarget> {
  const program = args.text('program') ?? ''
  if (program === '') throw operatingError(debugErrors.noProgram)
  const file = resolve(args.text('cwd') ?? '.', program)
  if (!existsSync(file)) throw operatingError(debugErrors.noProgramFile, { file })
  const fork = await forkIn(args, environment)
  return {
    program: openTestFile({ file, fork }, events, { environment }),
    sourceOf: async (path) => path,
    describe: (source) => (isAbsolute(source) ? { name: basename(source), path: source } : { name: `${source}.pact` }),
  }
}

/** The fork that `fork` and `forkOptions` of a launch mean, as the arguments of `env-fork` do; null for none. */
async function forkIn(args: RequestArguments, environment: ProcessEnvironment): Promise<NetworkCopyOptions | null> {
  const url = args.text('fork') ?? ''
  if (url === '') return null
  const { envForkOptions } = await import('./input/env-fork.ts')
  const fields = args.fields('forkOptions').map(([name, value]) => ({ name, value, shown: JSON.stringify(value) }))
  return envForkOptions({ folder: args.text('cwd') ?? '.', url, fields }, environment)
}

/** A transaction of the node that the launch names. */
async function openKey(requestKey: string, args: RequestArguments, events: DebuggerEvents): Promise<DebugTarget> {
  const { NodeClient } = await import('#client/node/client.ts')
  const { openTransaction } = await import('./debugging/recorded-transaction.ts')
  const client = await NodeClient.connect({ url: args.text('node') ?? DEFAULT_NODE, networks: [] })
  try {
    const place = { requestKey, block: args.text('block') ?? undefined }
    const target = await openTransaction(client.http, place, events)
    return { ...target, close: () => client.close() }
  } catch (error) {
    await client.close()
    throw error
  }
}
