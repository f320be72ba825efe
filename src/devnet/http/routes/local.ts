/** POST local: executes a command on this node alone (PROTOCOL.md E.3). */
import type { FastifyReply } from 'fastify'
import type { LocalQuery } from '#ground/schema/command-bodies.ts'
import { JSON_TYPE } from '#ground/schema/operation.ts'
import type { Command } from '../../command/command.ts'
import { CommandFault, readCommand, type SignedCommand } from '../../command/read.ts'
import type { Calls } from '../../execution/calls.ts'
import { isSealed, localSignaturesFault, preflightFaults } from '../../mempool/checks.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import type { Chains } from '../../rules/chains.ts'
import { sendJson, writeRefusal } from '../app.ts'
import type { HttpRefusal } from '../refusal.ts'
import { answerAfter } from './command-router.ts'

interface LocalCall {
  readonly chain: number
  readonly local: LocalCommand
  readonly query: LocalQuery
}

/** A command to execute on this node alone. */
interface LocalCommand {
  /** Has metadata even if the client sent none. */
  readonly read: Command | CommandFault
  /** The signed text, as sent. */
  readonly cmd: string
}

/**
 * Parses a command for /local.
 * @param chain chain of the path; null at the root, where the metadata must name the chain
 * @param gasLimit limit of a command without metadata
 */
export function readLocal(
  { body: signed, query }: { readonly body: SignedCommand; readonly query: LocalQuery },
  chain: number | null,
  gasLimit: number,
): LocalCommand {
  const { cmd } = signed
  const isComplete = chain === null || query.preflight === true
  return { read: readCommand(isComplete ? signed : { ...signed, cmd: withMeta(cmd, chain, gasLimit) }), cmd }
}

const invalid = (why: string): HttpRefusal => ({ status: 400, message: `Validation failed: ${why}` })
const wrongMetadata = (texts: readonly string[]): HttpRefusal => ({
  status: 400,
  message: `Metadata validation failed: ${JSON.stringify(texts)}`,
})

/** Parts of the node that answer the call. */
interface LocalParts {
  readonly chains: Chains
  readonly calls: Calls
  readonly pools: Pick<Mempools, 'impersonation' | 'gas' | 'verify'>
}

export function answerLocal(
  reply: FastifyReply,
  { chain, local, query }: LocalCall,
  parts: LocalParts,
): FastifyReply | Promise<FastifyReply> {
  const { pools } = parts
  const { read: command, cmd } = local
  if (command instanceof CommandFault) return writeRefusal(reply, invalid(command.message))
  const sealed = { ...command, cmd }
  const run = () => runLocal(reply, { chain, command, query }, parts)
  if (query.signatureVerification === false) {
    return isSealed(sealed) ? run() : writeRefusal(reply, invalid('The hash of the payload was invalid.'))
  }
  return answerAfter(isSealed(sealed) ? pools.verify(chain, sealed) : null, (unverified) => {
    const fault = unverified ?? localSignaturesFault(sealed, pools.impersonation.fault)
    return fault === null ? run() : writeRefusal(reply, wrongMetadata([fault]))
  })
}

/** Runs a command whose signatures are checked, or need not be. */
function runLocal(
  reply: FastifyReply,
  { chain, command, query }: Pick<LocalCall, 'chain' | 'query'> & { readonly command: Command },
  { chains, calls, pools }: LocalParts,
): FastifyReply | Promise<FastifyReply> {
  const { preflight = false } = query
  const depth = () => depthOf(chains, chain, query)
  if (!preflight) return answerAfter(calls.local(chain, command, depth), (text) => sendJson(reply, JSON_TYPE, text))
  const nowSeconds = parentSeconds(chains, chain, depth())
  const { blockLimit } = pools.gas
  const faults = preflightFaults(command, { network: chains.network.name, chain, nowSeconds, blockLimit })
  if (faults.length > 0) return writeRefusal(reply, wrongMetadata(faults))
  return answerAfter(calls.preflight(chain, command, depth), (tried) => {
    if ('refused' in tried) return writeRefusal(reply, invalid(tried.refused))
    const { text, isPlain } = tried
    return sendJson(reply, JSON_TYPE, isPlain ? text : `{"preflightResult":${text},"preflightWarnings":[]}`)
  })
}

/**
 * Adds metadata to `cmd` if it has none. Some clients leave it out of read-only code (@kadena/client runPact), which
 * live nodes refuse. The hash stays that of the command as sent.
 */
function withMeta(cmd: string, chain: number, gasLimit: number): string {
  // Nearly all commands have metadata: skip parsing them a second time.
  if (cmd.includes('"meta"') || !/^\s*\{\s*".*\}\s*$/s.test(cmd)) return cmd
  const meta = { chainId: String(chain), sender: '', gasLimit, gasPrice: 0, ttl: 0, creationTime: 0 }
  return `${cmd.slice(0, cmd.lastIndexOf('}'))},"meta":${JSON.stringify(meta)}}`
}

/** Blocks below the head at which a command runs now. A head below the height is taken as it is. */
function depthOf(chains: Chains, chain: number, { rewindDepth = 0, rewindHeight }: LocalQuery): number {
  if (rewindHeight === undefined) return rewindDepth
  return Math.max(0, Number(headOf(chains, chain).height) - rewindHeight)
}

/** Unix time, in seconds, of the block that the command runs on. */
function parentSeconds(chains: Chains, chain: number, rewindDepth: number): number {
  const head = headOf(chains, chain)
  const { creationTime } = chains.ancestor(head.hash, Math.max(0, Number(head.height) - rewindDepth))
  return Number(creationTime / 1_000_000n)
}

function headOf({ cut }: Chains, chain: number) {
  const head = cut.get(chain)
  if (head === undefined) throw new Error(`chain ${chain} has no head`)
  return head
}
