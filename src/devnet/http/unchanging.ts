/** Answers that never change, because a hash in their path names their content: caches may keep them forever. */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A year, and no revalidation meanwhile (RFC 8246). */
const CACHE_CONTROL = 'public, max-age=31536000, immutable'

/**
 * Gives an answer its entity tag (RFC 9110 section 8.8.3).
 * @param key hash of the content
 * @param form media type of the answer, or another name of its form
 * @returns the reply with status 304 if the client has that content already, otherwise null
 */
export function replyIfCached(request: FastifyRequest, reply: FastifyReply, key: string, form: string) {
  const tag = `"${key}+${form}"`
  reply.header('cache-control', CACHE_CONTROL).header('etag', tag).header('vary', 'Accept')
  const tags = request.headers['if-none-match']
  if (tags === undefined) return null
  const isKnown = tags.trim() === '*' || tags.split(',').some((each) => each.trim().replace(/^W\//, '') === tag)
  return isKnown ? reply.code(304).send() : null
}
