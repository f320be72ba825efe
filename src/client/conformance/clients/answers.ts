/** Answers of a situation: recorded ones, and true ones in another form. */
import type http from 'node:http'
import type { Clock } from '#ground/base/clock.ts'
import { isJsonObject, parseJson, stringifyJson } from '#ground/base/json.ts'
import type { ClientAnswer } from './client-request.ts'
import type { ClientSituation } from './situation-file.ts'

/** Bytes of a piece of an answer in pieces. So few that no piece holds a whole line. */
const PIECE_BYTES = 7
/** Pieces that are sent on their own. The rest comes as one. */
const MAX_PIECES = 40
/** Delay of a late answer. */
const LATE_MS = 1500

/** Headers that let a page read an answer, its status and when to ask again (PROTOCOL.md E.0, CORS). */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'retry-after',
} as const

/** The answer that stands in the situation. */
export function recordedAnswerOf({ answer }: ClientSituation): ClientAnswer {
  const { status = 200, headers = {}, text, json } = answer ?? {}
  const type = json === undefined ? 'text/plain;charset=utf-8' : 'application/json;charset=utf-8'
  const body = json === undefined ? (text ?? '') : stringifyJson(json)
  const typed = body === '' ? {} : { 'content-type': type }
  return { status, headers: { ...CORS_HEADERS, ...typed, ...headers }, body: Buffer.from(body) }
}

/** A true answer as the situation changes it. Answers that are not JSON objects stay as they are. */
export function changeAnswer({ merge, shape }: ClientSituation, answer: ClientAnswer): ClientAnswer {
  if (merge !== undefined) return changeJson(answer, (json) => mergePatch(json, merge))
  if (shape === 'other-order') return changeJson(answer, reverseKeys)
  if (shape === 'spaces')
    return changeJson(
      answer,
      (json) => json,
      (text) => `\n${addSpaces(text)}\n`,
    )
  if (shape === 'plain-type') {
    const type = (answer.headers['content-type'] ?? '').split(';')[0]
    return { ...answer, headers: { ...answer.headers, 'content-type': type } }
  }
  return answer
}

/** Sends an answer in the form of the situation. */
export async function sendAnswer(
  response: http.ServerResponse,
  { status, headers, body }: ClientAnswer,
  { shape, clock }: { readonly shape: ClientSituation['shape']; readonly clock: Clock },
): Promise<void> {
  const given = Object.entries(headers).filter(([, value]) => value !== undefined) as [string, string][]
  const named = shape === 'upper-case-headers' ? given.map(([name, value]) => [name.toUpperCase(), value]) : given
  if (shape === 'late') await pause(clock, LATE_MS)
  const hasNoBody = body.length === 0 && (status === 204 || status === 304)
  const length = shape === 'chunks' || hasNoBody ? [] : [['content-length', String(body.length)]]
  response.writeHead(status, Object.fromEntries([...named, ...length]))
  if (shape !== 'chunks') {
    response.end(body)
    return
  }
  for (let i = 0; i < MAX_PIECES && i * PIECE_BYTES < body.length; i++) {
    response.write(body.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES))
    await pause(clock, 0)
  }
  response.end(body.subarray(MAX_PIECES * PIECE_BYTES))
}

const pause = (clock: Clock, delayMs: number) => new Promise<void>((resolve) => void clock.after(delayMs, resolve))

function changeJson(
  answer: ClientAnswer,
  change: (json: unknown) => unknown,
  write = (text: string) => text,
): ClientAnswer {
  if (!/^application\/json/.test(answer.headers['content-type'] ?? '')) return answer
  const changed = change(parseJson(answer.body.toString()))
  return { ...answer, body: Buffer.from(write(stringifyJson(changed))) }
}

/** RFC 7396: null removes a field. Other fields than objects replace. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const result: Record<string, unknown> = isJsonObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = mergePatch(result[name], value)
  }
  return result
}

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, part]) => [name, reverseKeys(part)]),
  )
}

/** Adds white space around every mark of a JSON text. Strings stay as they are. */
const addSpaces = (json: string) =>
  json.replace(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (part) => (part.startsWith('"') ? part : ` ${part}\n\t`))
