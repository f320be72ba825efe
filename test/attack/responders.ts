/** The building blocks of lies. */
import { once } from 'node:events'
import type http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeWork, type WorkFields } from '../../src/ground/chain/header.ts'
import { decodeWorkResponse, encodeWorkResponse } from '../../src/ground/chain/work.ts'
import { type Answer, type Endpoint, type Exchange, type ProxyReply, type Responder, send } from './proxy.ts'

export const JSON_TYPE = 'application/json;charset=utf-8'
export const BINARY = 'application/octet-stream'
export const TEXT = 'text/plain;charset=utf-8'

/** Lies at these endpoints only. */
export function at(endpoints: readonly Endpoint[], respond: Responder): Responder {
  return (exchange) => (endpoints.includes(exchange.endpoint) ? respond(exchange) : null)
}

/** Chooses the responder by endpoint. */
export function either(responders: Partial<Record<Endpoint, Responder>>): Responder {
  return (exchange) => responders[exchange.endpoint]?.(exchange) ?? null
}

/** Always sends this answer. */
export function says(
  status: number,
  body: string | Uint8Array = '',
  headers: http.OutgoingHttpHeaders = {},
): Responder {
  const bytes = Buffer.from(body as Uint8Array)
  return () => ({ status, headers: { 'content-type': TEXT, ...headers }, body: bytes })
}

export function saysJson(value: unknown): Responder {
  return says(200, typeof value === 'string' ? value : JSON.stringify(value), { 'content-type': JSON_TYPE })
}

/** Sends the node's answer after a change. */
export function alters(change: (answer: Answer, exchange: Exchange) => Answer | Promise<Answer>): Responder {
  return async (exchange) => change(await exchange.forward(), exchange)
}

/** Sends the node's answer with another body. */
export function altersBody(change: (body: Buffer, exchange: Exchange) => Uint8Array | string): Responder {
  return alters((answer, exchange) => ({ ...answer, body: Buffer.from(change(answer.body, exchange) as Uint8Array) }))
}

/** Sends the node's JSON with changed members. */
export function altersJson<T>(change: (value: T) => unknown): Responder {
  return altersBody((body) => JSON.stringify(change(JSON.parse(body.toString()))))
}

/** Sends the node's work with changed fields, including the chain and target in front of it. */
export function altersWork(change: (fields: WorkFields, exchange: Exchange) => WorkFields): Responder {
  return alters((answer, exchange) => {
    if (answer.status !== 200) return answer
    const fields = change(decodeWorkResponse(answer.body).fields, exchange)
    return { ...answer, body: Buffer.from(encodeWorkResponse({ bytes: encodeWork(fields), fields })) }
  })
}

/** Sends the node's answer with additional headers. */
export function altersHeaders(headers: http.OutgoingHttpHeaders): Responder {
  return alters((answer) => ({ ...answer, headers: { ...answer.headers, ...headers } }))
}

/** Never answers. */
export const hangs: Responder = () => 'done'

/** Closes the connection without an answer. */
export const closes: Responder = ({ response }) => {
  response.socket?.destroy()
  return 'done'
}

/** Resets the connection. */
export const resets: Responder = ({ response }) => {
  response.socket?.resetAndDestroy()
  return 'done'
}

/** Forwards the request to the node and drops the answer. */
export const losesAnswer: Responder = async ({ forward, response }): Promise<ProxyReply> => {
  await forward()
  response.socket?.destroy()
  return 'done'
}

/** Forwards the request to the node, but sends another answer. */
export function takesButSays(respond: Responder): Responder {
  return async (exchange) => {
    await exchange.forward()
    return respond(exchange)
  }
}

/** Sends raw bytes instead of HTTP. */
export function speaks(bytes: string | Uint8Array, stays = false): Responder {
  return ({ response }) => {
    response.socket?.write(bytes)
    if (!stays) response.socket?.end()
    return 'done'
  }
}

/** Sends head and body as given, whether or not they are consistent. */
export function speaksHttp(head: readonly string[], body: string | Uint8Array = '', stays = false): Responder {
  return speaks(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body as Uint8Array)]), stays)
}

/**
 * Sends the answer late. The delay is real time, since the miner has its own clock; this holds for the next
 * responders too.
 */
export function late(ms: number, respond: Responder = alters((answer) => answer)): Responder {
  return async (exchange) => {
    const reply = await respond(exchange)
    await delay(ms, undefined, { signal: exchange.over }).catch(() => undefined)
    return reply
  }
}

/** Sends the answer byte by byte. */
export function dribbles(everyMs: number): Responder {
  return async ({ forward, response, over }): Promise<ProxyReply> => {
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

/** Cuts the answer off in the middle of its body. */
export const breaksOff: Responder = async ({ forward, response }): Promise<ProxyReply> => {
  const { status, headers, body } = await forward()
  response.writeHead(status, { ...headers, 'content-length': body.length })
  response.write(body.subarray(0, body.length / 2), () => response.socket?.destroy())
  return 'done'
}

/** Sends a body without end. */
export function floods(piece: string, headers: http.OutgoingHttpHeaders): Responder {
  return ({ response, over }) => {
    response.writeHead(200, headers)
    void pour(response, piece, over, 1)
    return 'done'
  }
}

/** An update stream that repeats this text every `everyMs`; 0 sends it once. */
export function streams(text: string | Uint8Array, everyMs: number, type = 'text/event-stream'): Responder {
  return ({ response, over }) => {
    response.writeHead(200, { 'content-type': type })
    response.flushHeaders()
    if (everyMs === 0) response.write(text)
    else void pour(response, text, over, everyMs)
    return 'done'
  }
}

/** An update stream that sends this text and ends. */
export function streamsOnce(text: string | Uint8Array, type = 'text/event-stream'): Responder {
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
    // The lie is over, or the client has disconnected.
  }
}

/** Repeats the first answer of the lie for every request. */
export function replays(): Responder {
  let first: Promise<Answer> | null = null
  return async ({ number, forward }) => {
    if (number === 1 || first === null) first = forward()
    return first
  }
}

/** Lies to a share of the requests, chosen by a seeded generator; answers the others honestly. */
export function sometimes(share: number, respond: Responder, seed = 1): Responder {
  let state = seed
  return (exchange): ProxyReply | Promise<ProxyReply> => {
    // The linear congruential generator of Numerical Recipes; any fixed sequence will do.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 < share ? respond(exchange) : null
  }
}

/** Sends two answers on one connection. */
export function answersTwice(): Responder {
  return async ({ forward, response }): Promise<ProxyReply> => {
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
