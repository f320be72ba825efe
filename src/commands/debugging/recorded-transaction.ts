/** Transactions of a development network, recorded for the debugger. */
import { NodeRefusal } from '#client/node/errors.ts'
import type { NodeHttp } from '#client/node/http.ts'
import { Requests } from '#client/node/requests.ts'
import { TRANSACTION_SOURCE, transactionThread } from '#devnet/debugging/transaction-thread.ts'
import { operatingError } from '#ground/base/errors.ts'
import { MAX_CODE_BYTES, readUserText } from '#ground/base/user-file.ts'
import { replayOperation } from '#ground/schema/replay.ts'
import { Debugger, type DebuggerEvents } from '#language/debugger/debugger.ts'
import type { DebugTarget } from '#language/debugger/protocol/adapter.ts'
import { commandErrors } from '../input/errors.ts'
import { withNeeds } from './needs.ts'

/** A run of the node has at most 20 s, and may wait for others. */
const TIMEOUT_MS = 60_000

interface TransactionPlace {
  readonly requestKey: string
  /** Hash of the block; default: that of the chain. */
  readonly block?: string | undefined
}

/**
 * Opens a transaction as a program. The node serves on: it executes the transaction once, and only records it.
 * @throws NodeRefusal for a key that has no recording
 */
export async function openTransaction(
  http: NodeHttp,
  place: TransactionPlace,
  events: DebuggerEvents,
  signal?: AbortSignal,
): Promise<DebugTarget> {
  const record = async (reads: readonly unknown[]) => {
    const body = { ...place, ...(reads.length > 0 && { reads }) }
    const call = { body, timeoutMs: TIMEOUT_MS, ...(signal && { signal }) }
    return (await new Requests(http, '').json(replayOperation, call)).body.recording
  }
  const recording = await record([]).catch((error: unknown) => {
    const isUnserved = error instanceof NodeRefusal && error.status === 404 && error.excerpt === ''
    throw isUnserved ? operatingError(commandErrors.noTraces, undefined, error) : error
  })
  // A node that has gone meanwhile has no answer.
  const onNeed = (needs: unknown) => record([needs]).catch(() => null)
  const program = new Debugger(transactionThread, { recording }, withNeeds(events, onNeed))
  return {
    program,
    sourceOf: (path) => sourceOfFile(program, path),
    describe: (source) => ({ name: `${source}.pact` }),
  }
}

/** The module of the program whose text is a file's; else the code of the transaction. */
async function sourceOfFile(program: Debugger, path: string): Promise<string> {
  const content = readUserText(path, MAX_CODE_BYTES).trim()
  for (const source of await program.ask({ ask: 'sources' })) {
    if ((await program.ask({ ask: 'text', source }))?.trim() === content) return source
  }
  return TRANSACTION_SOURCE
}
