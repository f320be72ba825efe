/** The aim of a request: what stays equal when a client repeats it, even if it signs a new command for that. */
import { stringifyJson } from '#ground/base/json.ts'
import { type ClientRequest, keysOf, lineOf, parseBody } from './client-request.ts'

/** Parts of a JSON object. */
export type JsonParts = Readonly<Record<string, unknown>>

/** A command of a request, as far as its form allows. */
export interface CommandInRequest {
  readonly cmd: string
  readonly hash: string
  readonly sigs: readonly ({ readonly sig?: unknown } | null)[]
  /** The content of `cmd`; undefined if it is not valid JSON. */
  readonly content: JsonParts | undefined
}

/** Commands of a request to send or local; none if the body has another shape. */
export function commandsOf({ operation, json }: Pick<ClientRequest, 'operation' | 'json'>): CommandInRequest[] {
  const sent = (json ?? {}) as JsonParts
  const found = operation?.id === 'send' ? sent.cmds : operation?.id === 'local' ? [sent] : []
  return (Array.isArray(found) ? found : []).flatMap((each: unknown) => {
    const { cmd, hash, sigs } = (each ?? {}) as JsonParts
    if (typeof cmd !== 'string' || typeof hash !== 'string' || !Array.isArray(sigs)) return []
    return [{ cmd, hash, sigs, content: parseBody(Buffer.from(cmd)) as JsonParts | undefined }]
  })
}

/**
 * Texts for the aims of a request. Two requests have an aim in common if they have a text in common.
 *
 * A command counts by its code, data and chain: time, nonce and signatures differ when a client makes it again.
 * Requests for results count by their request keys, all others by their bytes.
 */
export function aimsOf(request: ClientRequest): string[] {
  const commands = commandsOf(request)
  const keys = commands.length > 0 ? [] : keysOf(request)
  const texts = [
    ...commands.map(({ content, cmd }) => (content === undefined ? cmd : stringifyJson(content.payload ?? null))),
    ...keys,
  ]
  if (texts.length === 0) return [requestNameOf(request)]
  // Poll and listen have one aim, the result.
  const subject = keys.length > 0 && request.operation?.id !== 'spv' ? 'result' : request.path
  return texts.map((text) => `${subject} ${text}`)
}

/** The line and the body of a request as one text. */
export const requestNameOf = (request: Pick<ClientRequest, 'method' | 'path' | 'query' | 'body'>): string =>
  `${lineOf(request)} ${request.body.toString('base64url')}`
