/** Replies to requests: a result or a refusal. */
import { type FailureCode, failureLine, type MessageId, resultLine } from '../../stratum/messages.ts'
import { type Refusal, refusals } from '../../stratum/refusals.ts'

/** A `Refusal` is counted by its reason, a failed share by its verdict. */
export type ReplyTo = { readonly result: unknown } | { readonly failure: FailureCode } | Refusal

export const replyWith = (result: unknown): ReplyTo => ({ result })

/** The line that answers a request. */
export function replyLine(id: MessageId, reply: ReplyTo): string {
  if ('result' in reply) return resultLine(id, reply.result)
  return failureLine(id, reply.failure, 'text' in reply ? (reply.text ?? undefined) : undefined)
}

/** Requests with the same result for all rigs. */
const CONSTANTS: ReadonlyMap<string, string> = new Map([
  ['mining.ping', 'pong'],
  ['client.get_version', 'newcut'],
])

/** The reply to a request of another method than those of a session. */
export function constantReply(method: string): ReplyTo {
  const constant = CONSTANTS.get(method)
  if (constant !== undefined) return replyWith(constant)
  return method.startsWith('client.') ? replyWith(null) : refusals.method
}

/** The answer to `mining.configure`: these networks use none of the extensions. */
export function configureReply([extensions]: readonly unknown[]): ReplyTo {
  const names = Array.isArray(extensions) ? extensions.filter((name) => typeof name === 'string') : []
  return replyWith(Object.fromEntries(names.slice(0, 8).map((name) => [name.slice(0, 64), false])))
}
