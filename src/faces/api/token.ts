/** Authorizes changes: requests must send the miner's token. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The current token of the miner. Null disables all changes. */
export type CurrentToken = () => string | null

/**
 * Refuses a request without the right token, with status 401 or 403 and the reason.
 * @returns null if the request is authorized and still unanswered
 */
export function refuseWithoutToken(
  request: FastifyRequest,
  reply: FastifyReply,
  token: CurrentToken,
): FastifyReply | null {
  const refused = refusalOf(request.headers.authorization, token())
  if (refused === null) return null
  if (refused.code === 401) void reply.header('www-authenticate', 'Bearer')
  return reply.code(refused.code).send({ error: refused.error })
}

/** Like {@link refuseWithoutToken} if a token is configured. Without one, every request is authorized. */
export function refuseUnlessOpen(
  request: FastifyRequest,
  reply: FastifyReply,
  token: CurrentToken,
): FastifyReply | null {
  return token() === null ? null : refuseWithoutToken(request, reply, token)
}

function refusalOf(header: string | undefined, token: string | null): { code: 401 | 403; error: string } | null {
  if (token === null) {
    const error = 'this miner can only be read: no token is configured'
    return { code: 403, error: `${error} (--http-token TOKEN, or http-token in the configuration file)` }
  }
  const [, given] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? []
  if (given === undefined) return { code: 401, error: 'expected the header Authorization: Bearer TOKEN' }
  return isSame(given, token) ? null : { code: 401, error: 'the token is not that of this miner' }
}

/** Compares in constant time. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
