/** Controls a miner over HTTP: JSON-RPC 2.0 on POST /json_rpc, for clients with the token. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { parsePlainJson, tryParse } from '#ground/base/json.ts'
import { type CurrentToken, refuseWithoutToken } from './token.ts'

/** The operations on a running miner. */
export interface MinerControl {
  readonly pause: () => void
  readonly resume: () => void
  /** Shuts down gracefully, like Ctrl-C. */
  readonly stop: () => void
}

type Id = string | number | null

interface RpcAnswer {
  readonly jsonrpc: '2.0'
  readonly id: Id
  readonly result?: { readonly status: 'OK' }
  readonly error?: { readonly code: number; readonly message: string }
}

interface RpcOutcome {
  /** The answer, or undefined for a notification. */
  readonly answer: RpcAnswer | undefined
  readonly stops: boolean
}

const METHODS = ['pause', 'resume', 'stop'] as const

/** Adds the route. */
export function addControl(app: FastifyInstance, control: MinerControl, token: CurrentToken): void {
  // Clients send various content types, or none.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.post('/json_rpc', (request, reply) => {
      return refuseWithoutToken(request, reply, token) ?? answer(reply, String(request.body ?? ''), control)
    })
  })
}

function answer(reply: FastifyReply, body: string, control: MinerControl): FastifyReply {
  const requests = parseBody(body)
  if (requests === null) return reply.code(400).send(failure(null, -32700, 'the body is not JSON'))
  const isBatch = Array.isArray(requests)
  if (isBatch && requests.length === 0) return reply.code(400).send(failure(null, -32600, 'an empty batch'))
  const done = (isBatch ? requests : [requests]).map((request) => perform(request, control))
  // Stop only once the answer has been sent.
  if (done.some(({ stops }) => stops)) reply.raw.once('finish', control.stop)
  const answers = done.flatMap((each) => each.answer ?? [])
  if (answers.length === 0) return reply.code(204).send()
  const isInvalid = !isBatch && answers[0].error?.code === -32600
  return reply.code(isInvalid ? 400 : 200).send(isBatch ? answers : answers[0])
}

/** @returns null if the body is not JSON */
function parseBody(body: string): unknown {
  const json = tryParse(body, parsePlainJson)
  return json === undefined ? null : (json ?? {})
}

function perform(request: unknown, control: MinerControl): RpcOutcome {
  const { jsonrpc, id, method } = (typeof request === 'object' && request !== null ? request : {}) as Record<
    string,
    unknown
  >
  const isId = id === undefined || id === null || typeof id === 'string' || typeof id === 'number'
  if (!isId || typeof method !== 'string' || (jsonrpc !== undefined && jsonrpc !== '2.0')) {
    const example = '{"jsonrpc":"2.0","id":1,"method":"pause"}'
    return { answer: failure(null, -32600, `expected a request such as ${example}`), stops: false }
  }
  const known = METHODS.find((each) => each === method)
  if (known === undefined) {
    const message = `no such method; there are ${METHODS.join(', ')}`
    return { answer: id === undefined ? undefined : failure(id, -32601, message), stops: false }
  }
  if (known !== 'stop') control[known]()
  const result = { jsonrpc: '2.0', id: id ?? null, result: { status: 'OK' } } as const
  return { answer: id === undefined ? undefined : result, stops: known === 'stop' }
}

function failure(id: Id, code: number, message: string): RpcAnswer {
  return { jsonrpc: '2.0', id, error: { code, message } }
}
