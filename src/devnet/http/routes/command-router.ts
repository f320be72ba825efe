/**
 * Serves command operations at two paths: below a chain, and below /api/v1 at the root. At the root, commands name
 * their chain themselves, and results are searched on all chains.
 */
import type { FastifyReply } from 'fastify'
import { None, type Operation } from '#ground/schema/operation.ts'
import type { Command } from '../../command/command.ts'
import { writeRefusal } from '../app.ts'
import { isUnreadable, type UnreadableCommand } from '../read-all.ts'
import { type HttpRefusal, unknownChain } from '../refusal.ts'
import type { Handler, RoutedCall, Router } from '../router.ts'

const ROOT = '/api/v1'

/** Paths at which an operation is served, with parameters as `{name}`. */
export const pathsOf = (router: Router, operation: Operation) => [router.pathOf(operation), `${ROOT}/${operation.id}`]

/** Parses a request once, before anything else uses it. */
interface RequestParser<O extends Operation, Read> {
  /** `chain` is that of the path; null at the root. */
  readonly read: (call: RoutedCall<O>, chain: number | null) => Read | Promise<Read>
  /** Chains that a request at the root addresses. */
  readonly chainsOf: (read: Read) => readonly number[] | HttpRefusal
}

/** A parsed request. */
interface ParsedCall<O extends Operation, Read> {
  readonly chains: readonly number[]
  readonly read: Read
  readonly call: RoutedCall<O>
}

type SentReply = FastifyReply | Promise<FastifyReply>

/** Serves an operation for the chain of its path, and at the root for the chains that its request names. */
export function serveCommands<const O extends Operation, Read>(
  router: Router,
  operation: O,
  { read, chainsOf }: RequestParser<O, Read>,
  handler: (request: ParsedCall<O, Read>, reply: FastifyReply) => SentReply,
): void {
  const onChain: Handler<O> = (call, reply) =>
    answerAfter(read(call, call.chain), (found) => handler({ chains: [call.chain], read: found, call }, reply))
  const atRoot: Handler<O> = (call, reply) =>
    answerAfter(read(call, null), (found) => {
      const chains = chainsOf(found)
      return 'status' in chains ? writeRefusal(reply, chains) : handler({ chains, read: found, call }, reply)
    })
  const [, atRootPath] = pathsOf(router, operation)
  router.serve(operation, onChain)
  router.serveAt(atRootPath, { ...operation, params: None }, atRoot as never)
}

/** Answers with a value, or with that of a promise: most requests are handled synchronously. */
export function answerAfter<T>(value: T | Promise<T>, answer: (value: T) => SentReply): SentReply {
  return value instanceof Promise ? value.then(answer) : answer(value)
}

/** For requests that name no chain: at the root they address all chains. */
export function parserForAll<O extends Operation>(all: readonly number[]): RequestParser<O, RoutedCall<O>['body']> {
  return { read: ({ body }) => body, chainsOf: () => all }
}

/** @returns the chain that all of these commands name, or the refusal if they do not parse or do not agree */
export function chainOf(
  commands: readonly Command[] | UnreadableCommand,
  chains: readonly number[],
): readonly [number] | HttpRefusal {
  if (isUnreadable(commands)) {
    const { element, fault } = commands.unread
    return { status: 400, message: `Validation failed: element ${element}: ${fault}` }
  }
  const names = new Set(commands.map(({ meta }) => meta.chainId))
  const [name] = names
  if (names.size > 1) {
    const message = `commands for several chains (${[...names].join(', ')}): send those of each chain for themselves`
    return { status: 400, message }
  }
  const chain = chains.find((each) => String(each) === name)
  return chain === undefined ? { ...unknownChain(name, chains.length), status: 400 } : [chain]
}
