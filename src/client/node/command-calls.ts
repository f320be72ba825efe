/** Calls for signed commands: execution, submission, and results. */
import type { Command } from '#ground/schema/bodies.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import type { Operation } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import { type ClientContext, callOf, chainText, type Hash, textOfHash } from './chain-calls.ts'
import { type CallOptions, misbehaviourOf } from './requests.ts'

/** Options of local. */
export interface LocalOptions extends CallOptions {
  /** Apply all rules and all gas of a block. Default: run the code alone, which pays nothing. */
  readonly preflight?: boolean
  /** If false, signers count without signatures. Default true. */
  readonly signatureVerification?: boolean
  /** Run on the state this many blocks below the head of the chain. Default 0. */
  readonly rewindDepth?: number
}

/** The result of local, with the warnings of preflight. */
export type LocalResult = CommandResult & { readonly preflightWarnings: readonly string[] }

/** A chain, and the options of a call to it. */
interface ChainCall<Call extends CallOptions = CallOptions> {
  readonly chain: number
  readonly call: Call
}

/** A node responds to listen after 180 s at the latest, if need be without a result. */
const LISTEN_TIMEOUT_MS = 190_000

const paramsOf = (operation: Operation, chain: number) => ({ chain: chainText(operation, chain) })

/** Copies only the properties of a command: tools store more in theirs. */
function commandOf({ hash, sigs, cmd }: Command): Command {
  return { hash, sigs, cmd }
}

/** Executes a command on this node alone. @throws NodeRefusal 400 for a command that cannot run */
export async function evaluateLocally(
  { requests }: ClientContext,
  command: Command,
  { chain, call }: ChainCall<LocalOptions>,
): Promise<LocalResult> {
  const { local: operation } = operations
  const { preflight, signatureVerification, rewindDepth } = call
  const query = { preflight, signatureVerification, rewindDepth }
  const request = { ...callOf(call), params: paramsOf(operation, chain), query, body: commandOf(command) }
  const { body } = await requests.json(operation, request)
  return 'preflightResult' in body
    ? { ...body.preflightResult, preflightWarnings: body.preflightWarnings }
    : { ...body, preflightWarnings: [] }
}

/** Submits commands: all or none. @returns their request keys. @throws NodeRefusal 400 for a wrong command */
export async function send(
  { requests }: ClientContext,
  commands: readonly Command[],
  { chain, call }: ChainCall,
): Promise<string[]> {
  const { send: operation } = operations
  const body = { cmds: commands.map(commandOf) }
  const request = { ...callOf(call), params: paramsOf(operation, chain), body }
  const { body: sent, answer } = await requests.json(operation, request)
  const keys = sent.requestKeys.join()
  const hashes = commands.map(({ hash }) => hash).join()
  if (keys !== hashes) throw misbehaviourOf(operation, answer, `request keys of other commands: ${keys}`)
  return sent.requestKeys
}

/** Fetches the results that exist, by request key. @throws NodeMisbehaved if the node returns other results */
export async function poll(
  { requests }: ClientContext,
  keys: readonly Hash[],
  { chain, call }: ChainCall<CallOptions & { readonly confirmationDepth?: number }>,
): Promise<ReadonlyMap<string, CommandResult>> {
  const { poll: operation } = operations
  const { confirmationDepth } = call
  const requestKeys = keys.map(textOfHash)
  const request = { ...callOf(call), params: paramsOf(operation, chain), query: { confirmationDepth } }
  const { body, answer } = await requests.json(operation, { ...request, body: { requestKeys } })
  for (const [key, result] of Object.entries(body)) {
    if (!requestKeys.includes(key)) throw misbehaviourOf(operation, answer, `a result that was not requested: ${key}`)
    if (result.reqKey !== key)
      throw misbehaviourOf(operation, answer, `the result of ${result.reqKey} under the key ${key}`)
  }
  return new Map(Object.entries(body))
}

/** Waits for the result of a command. @throws NodeMisbehaved if the node returns the result of another one */
export async function listenForResult(
  { requests }: ClientContext,
  key: Hash,
  { chain, call }: ChainCall,
): Promise<CommandResult> {
  const { listen: operation } = operations
  const requestKey = textOfHash(key)
  const request = { timeoutMs: LISTEN_TIMEOUT_MS, ...callOf(call), params: paramsOf(operation, chain) }
  const { body, answer } = await requests.json(operation, { ...request, body: { listen: requestKey } })
  if (body.reqKey === requestKey) return body
  throw misbehaviourOf(operation, answer, `the result of another command: ${body.reqKey}`)
}

/** Fetches the proof of a result for another chain. @throws NodeRefusal 400 without one */
export async function fetchProof(
  { requests }: ClientContext,
  { key, targetChain }: { readonly key: Hash; readonly targetChain: number },
  { chain, call }: ChainCall,
): Promise<string> {
  const { spv: operation } = operations
  const body = { requestKey: textOfHash(key), targetChainId: chainText(operation, targetChain) }
  return (await requests.json(operation, { ...callOf(call), params: paramsOf(operation, chain), body })).body
}

/**
 * Submits a command to the nodes that it names.
 * @returns its request key
 * @throws NodeMisbehaved if the node returns other request keys
 */
export async function submitPrivately(
  { requests }: ClientContext,
  command: Command,
  { chain, call }: ChainCall,
): Promise<string> {
  const { private: operation } = operations
  const request = { ...callOf(call), params: paramsOf(operation, chain), body: commandOf(command) }
  const { body, answer } = await requests.json(operation, request)
  if (body.requestKeys.join() === command.hash) return command.hash
  throw misbehaviourOf(operation, answer, `request keys of other commands: ${body.requestKeys}`)
}
