/** Who may change anything: those who send the token of the miner. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Present token of the miner; null: nobody may change anything. */
export type PresentToken = () => string | null

/** Answers a request that may change nothing, with 401 or 403 and the reason. null: it may, and is not answered yet. */
export function refuse(request: FastifyRequest, reply: FastifyReply, token: PresentToken): FastifyReply | null {
  const refused = refusal(request.headers.authorization, token())
  if (refused === null) return null
  if (refused.code === 401) void reply.header('www-authenticate', 'Bearer')
  return reply.code(refused.code).send({ error: refused.error })
}

function refusal(header: string | undefined, token: string | null): { code: 401 | 403; error: string } | null {
  if (token === null) {
    const error = 'this miner can only be read: no token is configured'
    return { code: 403, error: `${error} (--http-token TOKEN, or http-token in the configuration file)` }
  }
  const [, given] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? []
  if (given === undefined) return { code: 401, error: 'expected the header Authorization: Bearer TOKEN' }
  return isSame(given, token) ? null : { code: 401, error: 'the token is not that of this miner' }
}

/** Takes the same time whatever is different. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
