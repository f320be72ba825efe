/** Payloads of a chain, single and in batches (PROTOCOL.md E.1). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { decodeHash } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import type { PayloadBatch } from '#ground/schema/bodies.ts'
import { BINARY, JSON_TYPE } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { StoredPayload } from '../../store/payload.ts'
import { keyNotFound, sendJson, writeRefusal } from '../app.ts'
import { payloadBytes, payloadOutputsBytes, payloadOutputsText, payloadText } from '../encode/payload-text.ts'
import type { Router } from '../router.ts'
import { replyIfCached } from '../unchanging.ts'

/** Maximum payloads in a batch; further ones are left out (PROTOCOL.md E.0). */
export const MAX_BATCH_PAYLOADS = 1000
/** Maximum characters of payloads in one response: a thousand large ones exceed the length of a string. */
export const MAX_BATCH_LENGTH = 32 * 1024 * 1024

interface Forms {
  readonly text: (payload: StoredPayload) => string
  readonly bytes: (payload: StoredPayload) => Buffer
}

const plain: Forms = { text: payloadText, bytes: payloadBytes }
const withOutputs: Forms = { text: payloadOutputsText, bytes: payloadOutputsBytes }

export function addPayloadRoutes(router: Router, store: BlockStore): void {
  type Call = { chain: number; params: { hash: string }; type: string; request: FastifyRequest }
  const one = ({ chain, params, type, request }: Call, reply: FastifyReply, forms: Forms) => {
    const payload = payloadOf(store, chain, params.hash)
    if (payload === undefined) return keyNotFound(reply, params.hash)
    const form = `${forms === plain ? 'payload' : 'outputs'}+${type}`
    const notModified = replyIfCached(request, reply, params.hash, form)
    if (notModified !== null) return notModified
    if (type === BINARY) return reply.type(BINARY).send(forms.bytes(payload))
    return sendJson(reply, JSON_TYPE, forms.text(payload))
  }
  const several = ({ chain, body }: { chain: number; body: PayloadBatch }, reply: FastifyReply, forms: Forms) => {
    const hashes = 'hashes' in body ? body.hashes : body
    // Send each payload once: otherwise a batch could repeat the same large one a thousand times.
    const texts: string[] = []
    let length = 0
    for (const hash of new Set(hashes.slice(0, MAX_BATCH_PAYLOADS))) {
      const payload = payloadOf(store, chain, hash)
      if (payload === undefined) continue
      const text = forms.text(payload)
      length += text.length
      if (length > MAX_BATCH_LENGTH) {
        const message = `the answer would exceed ${MAX_BATCH_LENGTH} bytes; ask for fewer payloads at once`
        return writeRefusal(reply, { status: 400, message })
      }
      texts.push(text)
    }
    return sendJson(reply, JSON_TYPE, `[${texts.join(',')}]`)
  }
  router.serve(operations.payload, (call, reply) => one(call, reply, plain))
  router.serve(operations.payloadOutputs, (call, reply) => one(call, reply, withOutputs))
  router.serve(operations.payloads, (call, reply) => several(call, reply, plain))
  router.serve(operations.payloadsOutputs, (call, reply) => several(call, reply, withOutputs))
}

/** Payload of a block of this chain. @returns undefined if there is none, or if the text encodes no hash */
function payloadOf(store: BlockStore, chain: number, payloadHash: string): StoredPayload | undefined {
  try {
    return store.withPayload(decodeHash(payloadHash), chain)?.payload
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}
