/**
 * Where operations of commands are served: for a chain, and below /api/v1 at the root, where commands name their chain
 * themselves, and results are looked for on all chains.
 */
import type { FastifyReply } from 'fastify'
import type { Command } from '../../../schema/bodies.ts'
import { None, type Operation } from '../../../schema/operation.ts'
import { Fault, readCommand } from '../../command/read.ts'
import { refuse } from '../app.ts'
import { type Refusal, unknownChain } from '../refusal.ts'
import type { Call, Handler, Router } from '../router.ts'

const ROOT = '/api/v1'

/** The paths at which an operation is served; parameters as `{name}`. */
export const pathsOf = (router: Router, operation: Operation) => [router.pathOf(operation), `${ROOT}/${operation.id}`]

/** The chains that a request is about. */
type ChainsOf<O extends Operation> = (body: Call<O>['body']) => readonly number[] | Refusal
type CommandHandler<O extends Operation> = (
  chains: readonly number[],
  call: Call<O>,
  reply: FastifyReply,
) => FastifyReply | Promise<FastifyReply>

/** Serves an operation for the chain of its path, and at the root for those that `chainsOf` finds in its body. */
export function serveCommands<const O extends Operation>(
  router: Router,
  operation: O,
  chainsOf: ChainsOf<O>,
  handler: CommandHandler<O>,
): void {
  const onChain: Handler<O> = (call, reply) => handler([call.chain], call, reply)
  const atRoot: Handler<O> = (call, reply) => {
    const found = chainsOf(call.body)
    return 'status' in found ? refuse(reply, found) : handler(found, call, reply)
  }
  const [, atRootPath] = pathsOf(router, operation)
  router.serve(operation, onChain)
  router.serveAt(atRootPath, { ...operation, params: None }, atRoot as never)
}

/** The one chain that all of these commands name. */
export function chainOf(commands: readonly Command[], chains: readonly number[]): readonly [number] | Refusal {
  const names = new Set<string>()
  for (const [i, command] of commands.entries()) {
    const read = readCommand(command)
    if (read instanceof Fault) return { status: 400, message: `Validation failed: element ${i}: ${read.message}` }
    names.add(read.payload.meta.chainId)
  }
  const [name] = names
  if (names.size > 1) {
    const message = `commands for several chains (${[...names].join(', ')}): send those of each chain for themselves`
    return { status: 400, message }
  }
  const chain = chains.find((each) => String(each) === name)
  return chain === undefined ? { ...unknownChain(name, chains.length), status: 400 } : [chain]
}
