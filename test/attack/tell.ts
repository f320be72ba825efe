/** How to lie: what lies are made of. */
import { once } from 'node:events'
import type http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeWork, type WorkFields } from '../../src/core/header.ts'
import { decodeWorkResponse, encodeWorkResponse } from '../../src/core/work.ts'
import { type Answer, type Endpoint, type Exchange, send, type Tell, type Told } from './proxy.ts'

export const JSON_TYPE = 'application/json;charset=utf-8'
export const BINARY = 'application/octet-stream'
export const TEXT = 'text/plain;charset=utf-8'

/** Lies at these endpoints alone. */
export function at(endpoints: readonly Endpoint[], tell: Tell): Tell {
  return (exchange) => (endpoints.includes(exchange.endpoint) ? tell(exchange) : null)
}

/** One tell or the other, by endpoint. */
export function either(tells: Partial<Record<Endpoint, Tell>>): Tell {
  return (exchange) => tells[exchange.endpoint]?.(exchange) ?? null
}

/** Always this answer. */
export function says(status: number, body: string | Uint8Array = '', headers: http.OutgoingHttpHeaders = {}): Tell {
  const bytes = Buffer.from(body as Uint8Array)
  return () => ({ status, headers: { 'content-type': TEXT, ...headers }, body: bytes })
}

export function saysJson(value: unknown): Tell {
  return says(200, typeof value === 'string' ? value : JSON.stringify(value), { 'content-type': JSON_TYPE })
}

/** The node's answer, changed. */
export function alters(change: (answer: Answer, exchange: Exchange) => Answer | Promise<Answer>): Tell {
  return async (exchange) => change(await exchange.forward(), exchange)
}

/** The node's answer with another body. */
export function altersBody(change: (body: Buffer, exchange: Exchange) => Uint8Array | string): Tell {
  return alters((answer, exchange) => ({ ...answer, body: Buffer.from(change(answer.body, exchange) as Uint8Array) }))
}

/** The node's JSON with other members. */
export function altersJson<T>(change: (value: T) => unknown): Tell {
  return altersBody((body) => JSON.stringify(change(JSON.parse(body.toString()))))
}

/** The node's work with other fields, in front of it as well. */
export function altersWork(change: (fields: WorkFields, exchange: Exchange) => WorkFields): Tell {
  return alters((answer, exchange) => {
    if (answer.status !== 200) return answer
    const fields = change(decodeWorkResponse(answer.body).fields, exchange)
    return { ...answer, body: Buffer.from(encodeWorkResponse({ bytes: encodeWork(fields), fields })) }
  })
}

/** The node's answer with other headers. */
export function altersHeaders(headers: http.OutgoingHttpHeaders): Tell {
  return alters((answer) => ({ ...answer, headers: { ...answer.headers, ...headers } }))
}

/** No answer. */
export const hangs: Tell = () => 'done'

/** The connection ends without an answer. */
export const closes: Tell = ({ response }) => {
  response.socket?.destroy()
  return 'done'
}

/** The connection is reset. */
export const resets: Tell = ({ response }) => {
  response.socket?.resetAndDestroy()
  return 'done'
}

/** The node hears of the request, but its answer is lost. */
export const losesAnswer: Tell = async ({ forward, response }): Promise<Told> => {
  await forward()
  response.socket?.destroy()
  return 'done'
}

/** The node hears of the request, but this is the answer. */
export function takesButSays(tell: Tell): Tell {
  return async (exchange) => {
    await exchange.forward()
    return tell(exchange)
  }
}

/** Bytes instead of HTTP. */
export function speaks(bytes: string | Uint8Array, stays = false): Tell {
  return ({ response }) => {
    response.socket?.write(bytes)
    if (!stays) response.socket?.end()
    return 'done'
  }
}

/** Head and body as bytes, whatever they say of themselves. */
export function speaksHttp(head: readonly string[], body: string | Uint8Array = '', stays = false): Tell {
  return speaks(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body as Uint8Array)]), stays)
}

/** The answer comes this late: the miner has clocks of its own, for which a slow node is slow. So are those below. */
export function late(ms: number, tell: Tell = alters((answer) => answer)): Tell {
  return async (exchange) => {
    const told = await tell(exchange)
    await delay(ms, undefined, { signal: exchange.over }).catch(() => undefined)
    return told
  }
}

/** The answer comes byte by byte. */
export function dribbles(everyMs: number): Tell {
  return async ({ forward, response, over }): Promise<Told> => {
    const { status, headers, body } = await forward()
    response.writeHead(status, { ...headers, 'content-length': body.length })
    const dribble = async () => {
      for (const byte of body) {
        response.write(Uint8Array.of(byte))
        await delay(everyMs, undefined, { signal: over })
      }
      response.end()
    }
    dribble().catch(() => response.destroy())
    return 'done'
  }
}

/** The answer breaks off in the middle of its body. */
export const breaksOff: Tell = async ({ forward, response }): Promise<Told> => {
  const { status, headers, body } = await forward()
  response.writeHead(status, { ...headers, 'content-length': body.length })
  response.write(body.subarray(0, body.length / 2), () => response.socket?.destroy())
  return 'done'
}

/** A body without end. */
export function floods(piece: string, headers: http.OutgoingHttpHeaders): Tell {
  return ({ response, over }) => {
    response.writeHead(200, headers)
    void pour(response, piece, over, 1)
    return 'done'
  }
}

/** An update stream that says this over and over; 0 ms: once. */
export function streams(text: string | Uint8Array, everyMs: number, type = 'text/event-stream'): Tell {
  return ({ response, over }) => {
    response.writeHead(200, { 'content-type': type })
    response.flushHeaders()
    if (everyMs === 0) response.write(text)
    else void pour(response, text, over, everyMs)
    return 'done'
  }
}

/** An update stream that says this, and ends. */
export function streamsOnce(text: string | Uint8Array, type = 'text/event-stream'): Tell {
  return ({ response }) => {
    response.writeHead(200, { 'content-type': type })
    response.end(text)
    return 'done'
  }
}

async function pour(response: http.ServerResponse, piece: string | Uint8Array, over: AbortSignal, everyMs: number) {
  try {
    while (!over.aborted && !response.destroyed) {
      if (!response.write(piece)) await once(response, 'drain', { signal: over })
      await delay(everyMs, undefined, { signal: over })
    }
  } catch {
    // The lie is over, or nobody listens any more.
  }
}

/** The first answer of the lie again and again, whatever is asked for. */
export function replays(): Tell {
  let first: Promise<Answer> | null = null
  return async ({ number, forward }) => {
    if (number === 1 || first === null) first = forward()
    return first
  }
}

/** Honest for some of the requests: the lie is told to those whose turn the seeded dice say. */
export function sometimes(share: number, tell: Tell, seed = 1): Tell {
  let state = seed
  return (exchange): Told | Promise<Told> => {
    // Numerical Recipes' generator: a fixed sequence is all that is wanted.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 < share ? tell(exchange) : null
  }
}

/** Answers twice on one connection. */
export function answersTwice(): Tell {
  return async ({ forward, response }): Promise<Told> => {
    const answer = await forward()
    const { body } = answer
    const socket = response.socket
    response.once('finish', () => {
      socket?.write(`HTTP/1.1 200 OK\r\ncontent-type: ${BINARY}\r\ncontent-length: ${body.length}\r\n\r\n`)
      socket?.write(body)
    })
    send(response, answer)
    return 'done'
  }
}
