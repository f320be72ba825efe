/** POST local: executes a command on this node alone (PROTOCOL.md E.3). */
import type { FastifyReply } from 'fastify'
import { isCommandHash } from '../../../core/command-hash.ts'
import { describeError } from '../../../core/errors.ts'
import type { Command } from '../../../schema/bodies.ts'
import type { LocalQuery } from '../../../schema/command-bodies.ts'
import { JSON_TYPE } from '../../../schema/operation.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { localSignaturesFault, preflightFaults } from '../../mempool/checks.ts'
import { Fault, readCommand } from '../../mempool/command.ts'
import type { Chains } from '../../rules/chains.ts'
import { refuse, sendJson } from '../app.ts'
import type { Refusal } from '../refusal.ts'

export interface LocalCall {
  readonly chain: number
  readonly command: Command
  readonly query: LocalQuery
}

const invalid = (why: string): Refusal => ({ status: 400, message: `Validation failed: ${why}` })
const wrongMetadata = (texts: readonly string[]): Refusal => ({
  status: 400,
  message: `Metadata validation failed: ${JSON.stringify(texts)}`,
})

export function answerLocal(
  reply: FastifyReply,
  { chain, command, query }: LocalCall,
  { chains, ledger }: { readonly chains: Chains; readonly ledger: Ledger },
): FastifyReply {
  const { preflight = false, signatureVerification = true, rewindDepth = 0 } = query
  const { hash, cmd } = command
  const read = readCommand(command)
  if (read instanceof Fault) return refuse(reply, invalid(read.message))
  let syntaxFault: string | null
  try {
    ledger.read(hash, cmd)
    syntaxFault = ledger.syntaxFault(cmd)
  } catch (error) {
    return refuse(reply, invalid(`/cmd: ${describeError(error)}`))
  }
  if (signatureVerification) {
    const fault = localSignaturesFault(read)
    if (fault !== null) return refuse(reply, wrongMetadata([fault]))
  } else if (!isCommandHash(read.hash, read.cmd)) {
    return refuse(reply, invalid('The hash of the payload was invalid.'))
  }
  if (!preflight) return sendJson(reply, JSON_TYPE, ledger.local(chain, cmd, hash, rewindDepth))
  const nowSeconds = parentSeconds(chains, chain, rewindDepth)
  const faults = preflightFaults(read, { network: chains.network.name, chain, nowSeconds })
  if (faults.length > 0) return refuse(reply, wrongMetadata(faults))
  // Live nodes tell of unreadable code in the plain form.
  if (syntaxFault !== null) return sendJson(reply, JSON_TYPE, ledger.local(chain, cmd, hash, rewindDepth))
  const result = ledger.preflight(chain, cmd, hash, rewindDepth)
  return sendJson(reply, JSON_TYPE, `{"preflightResult":${result},"preflightWarnings":[]}`)
}

/** When the block was made on top of which the command is tried. */
function parentSeconds(chains: Chains, chain: number, rewindDepth: number): number {
  const head = chains.cut.get(chain)
  if (head === undefined) throw new Error(`chain ${chain} has no head`)
  const { creationTime } = chains.ancestor(head.hash, Math.max(0, Number(head.height) - rewindDepth))
  return Number(creationTime / 1_000_000n)
}
