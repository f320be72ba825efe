/** Orders blocks from a miner that makes them on demand: POST /make-blocks, at the path of other such miners. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { NewcutError } from '#ground/base/errors.ts'
import { foreignPage } from '#ground/base/host.ts'
import type { ServedPart } from './server.ts'
import { type CurrentToken, refuseUnlessOpen } from './token.ts'

const MAKE_BLOCKS_PATH = '/make-blocks'

export interface BlockOrders {
  /**
   * Makes blocks. Resolves when the chains have them.
   * @param body of the request: chain -> number of blocks
   * @param signal aborts when the client is gone
   * @returns the answer, as JSON
   * @throws NewcutError BAD_INPUT for a wrong body, another one for an order that cannot be carried out
   */
  make(body: string, signal: AbortSignal): Promise<object>
}

/**
 * The route. With a token, clients must send it. Without one, every program that reaches the address may order blocks,
 * but no page of another site.
 */
export function makeBlocksPart(orders: BlockOrders, token: CurrentToken): ServedPart {
  const addTo = (app: FastifyInstance) => {
    void app.register(async (scope) => {
      // Clients send various content types, or none.
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
      scope.post(MAKE_BLOCKS_PATH, async (request, reply) => {
        const page = foreignPage(request.headers)
        if (page !== null) return reply.code(403).send({ error: `blocks are for programs, not for ${page}` })
        return refuseUnlessOpen(request, reply, token) ?? answer(reply, orders, String(request.body ?? ''))
      })
    })
  }
  return { path: MAKE_BLOCKS_PATH, addTo }
}

async function answer(reply: FastifyReply, orders: BlockOrders, body: string): Promise<FastifyReply> {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  try {
    return reply.send(await orders.make(body, gone.signal))
  } catch (error) {
    if (gone.signal.aborted) return reply
    if (!(error instanceof NewcutError)) throw error
    const { code, message, hint } = error
    const text = hint === undefined ? message : `${message} (${hint})`
    return reply.code(code === 'BAD_INPUT' ? 400 : 409).send({ error: text })
  }
}
