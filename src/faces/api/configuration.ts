/** Serves the configuration of a miner over HTTP. Reading needs no token, changing does. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { NewcutError, operatingError } from '#ground/base/errors.ts'
import { jsonObjectIn } from '#ground/base/json.ts'
import { apiErrors } from './errors.ts'
import { type CurrentToken, refuseWithoutToken } from './token.ts'

export const CONFIGURATION_PATH = '/2/config'

/** Option name -> value, as JSON. */
export type Options = Readonly<Record<string, unknown>>

export interface Configuration {
  /** Returns the options in use, without secrets. */
  read(): Options
  /**
   * Applies all of these options, or none. Null removes an option. Resolves when the change is in effect.
   * @throws NewcutError for invalid options; nothing has changed then
   */
  change(options: Options): Promise<void>
}

const MAX_BODY_BYTES = 64 * 1024

/** Adds the routes. */
export function addConfiguration(app: FastifyInstance, configuration: Configuration, token: CurrentToken): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.get(CONFIGURATION_PATH, (_request, reply) => reply.send(configuration.read()))
    scope.put(CONFIGURATION_PATH, { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
      const refused = refuseWithoutToken(request, reply, token)
      if (refused !== null) return refused
      const options = jsonObjectIn(String(request.body ?? ''))
      if (options === null) {
        return sendBadRequest(reply, operatingError(apiErrors.notOptions))
      }
      try {
        await configuration.change(options)
      } catch (error) {
        if (!(error instanceof NewcutError)) throw error
        return sendBadRequest(reply, error)
      }
      return reply.code(204).send()
    })
  })
}

function sendBadRequest(reply: FastifyReply, { message, hint }: NewcutError): FastifyReply {
  return reply.code(400).send({ error: hint === undefined ? message : `${message} (${hint})` })
}
