/** The aim of a request: what stays equal when a client repeats it, even if it signs a new command for that. */
import { stringifyJson } from '#ground/base/json.ts'
import { type Asked, jsonIn, keysOf, lineOf } from './asked.ts'

/** Parts of a JSON object. */
export type JsonParts = Readonly<Record<string, unknown>>

/** A command of a request, as far as its form allows. */
export interface AskedCommand {
  readonly cmd: string
  readonly hash: string
  readonly sigs: readonly ({ readonly sig?: unknown } | null)[]
  /** The content of `cmd`; undefined if it is no JSON. */
  readonly content: JsonParts | undefined
}

/** Commands of a request to send or local; none if the body has another shape. */
export function commandsOf({ operation, json }: Pick<Asked, 'operation' | 'json'>): AskedCommand[] {
  const sent = (json ?? {}) as JsonParts
  const found = operation?.id === 'send' ? sent.cmds : operation?.id === 'local' ? [sent] : []
  return (Array.isArray(found) ? found : []).flatMap((each: unknown) => {
    const { cmd, hash, sigs } = (each ?? {}) as JsonParts
    if (typeof cmd !== 'string' || typeof hash !== 'string' || !Array.isArray(sigs)) return []
    return [{ cmd, hash, sigs, content: jsonIn(Buffer.from(cmd)) as JsonParts | undefined }]
  })
}

/**
 * Texts for the aims of a request. Two requests have an aim in common if they have a text in common.
 *
 * A command counts by its code, data and chain: time, nonce and signatures differ when a client makes it again.
 * Questions about results count by their request keys, all others by their bytes.
 */
export function aimsOf(asked: Asked): string[] {
  const commands = commandsOf(asked)
  const keys = commands.length > 0 ? [] : keysOf(asked)
  const texts = [
    ...commands.map(({ content, cmd }) => (content === undefined ? cmd : stringifyJson(content.payload ?? null))),
    ...keys,
  ]
  if (texts.length === 0) return [requestNameOf(asked)]
  // Poll and listen have one aim, the result.
  const of = keys.length > 0 && asked.operation?.id !== 'spv' ? 'result' : asked.path
  return texts.map((text) => `${of} ${text}`)
}

/** The line and the body of a request as one text. */
export const requestNameOf = (asked: Pick<Asked, 'method' | 'path' | 'query' | 'body'>): string =>
  `${lineOf(asked)} ${asked.body.toString('base64url')}`
