/** Faulty answers, as bytes on the wire. */
import type { NodeAnswer, NodeRequest } from './routes.ts'

/**
 * `ignored`: no answer ever. `lostRequest`, `lostAnswer`: the connection is reset before or after the node has acted.
 * `late`: up to 8 s. The next five come from a proxy before the node, and the node does not see the request. All others
 * are the node's answer, damaged in transit.
 */
export const answerFaultKinds = [
  'ignored',
  'lostRequest',
  'lostAnswer',
  'late',
  'refused4xx',
  'failed5xx',
  'redirect',
  'empty',
  'page',
  'truncated',
  'garbage',
  'notHttp',
  'endless',
  'slow',
  'tooLong',
  'tooShort',
  'wrongType',
  'badHead',
] as const
export type AnswerFaultKind = (typeof answerFaultKinds)[number]

/** @returns the fault of the answer to a request, or null */
export type AnswerFault = (request: NodeRequest, random: () => number) => AnswerFaultKind | null

/** Bytes on the wire: pieces, at once or slowly, and then the ending. */
export interface OnWire {
  readonly bytes: readonly Buffer[]
  readonly everyMs: number
  /** `again`: the last piece, repeated without end. */
  readonly ending: 'keep' | 'end' | 'reset' | 'again'
}

const REFUSED = [400, 401, 403, 404, 408, 409, 413, 429]
const FAILED = [500, 502, 503, 504]
const PIECE = Buffer.alloc(256 * 1024, 'x')
const PAGE = Buffer.from('<html><body>The site is being maintained.</body></html>')

export function mangled(fault: AnswerFaultKind | null, answer: NodeAnswer | null, random: () => number): OnWire {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]
  const whole = (given: NodeAnswer, ending: OnWire['ending'] = 'keep'): OnWire => {
    return { bytes: [Buffer.concat([headOf(given, given.body.length), given.body])], everyMs: 0, ending }
  }
  const page = (status: number, headers: Record<string, string> = {}, body = PAGE) =>
    whole({ status, headers: { 'content-type': 'text/html', ...headers }, body })
  switch (fault) {
    case 'refused4xx':
      return page(pick(REFUSED))
    case 'failed5xx':
      return page(pick(FAILED))
    case 'redirect':
      return page(pick([301, 302, 307, 308]), { location: 'http://elsewhere.example/' })
    case 'empty':
      return page(200, {}, Buffer.alloc(0))
    case 'page':
      return page(200)
  }
  if (answer === null) throw new Error(`${fault} needs an answer of the node`)
  const { body } = answer
  const half = Math.floor(body.length / 2)
  switch (fault) {
    case 'truncated': {
      const bytes = [Buffer.concat([headOf(answer, body.length), body.subarray(0, half)])]
      return { bytes, everyMs: 0, ending: pick(['end', 'reset']) }
    }
    case 'garbage':
      return whole({ ...answer, body: randomBytes(random, body.length) })
    case 'notHttp':
      return {
        bytes: [randomBytes(random, 64)],
        everyMs: 0,
        ending: 'end',
      }
    case 'endless': {
      const head = headOf({ ...answer, headers: { ...answer.headers, connection: 'close' } }, null)
      return { bytes: [head, PIECE], everyMs: 5, ending: 'again' }
    }
    case 'slow': {
      const pieces = [...body].map((byte) => Buffer.of(byte))
      return { bytes: [headOf(answer, body.length), ...pieces], everyMs: 200, ending: 'keep' }
    }
    case 'tooLong':
      // More bytes than the head announces.
      return { bytes: [Buffer.concat([headOf(answer, half), body])], everyMs: 0, ending: 'keep' }
    case 'tooShort':
      // Fewer bytes than the head announces, and the connection stays open.
      return { bytes: [Buffer.concat([headOf(answer, body.length + 10), body])], everyMs: 0, ending: 'keep' }
    case 'wrongType':
      return whole({ ...answer, headers: { ...answer.headers, 'content-type': 'image/png' } })
    case 'badHead':
      return { bytes: [Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n')], everyMs: 0, ending: 'keep' }
    default:
      return whole(answer)
  }
}

export function randomBytes(random: () => number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)))
}

/** @param length null for a body that ends with the connection */
function headOf({ status, headers }: NodeAnswer, length: number | null): Buffer {
  const all = { ...headers, ...(length === null ? {} : { 'content-length': String(length) }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('\r\n')}\r\n\r\n`)
}
