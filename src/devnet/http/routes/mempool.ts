/** mempool/getPending, member, lookup and insert (PROTOCOL.md E.1). */
import { stringifyJson } from '#ground/base/json.ts'
import { JSON_TYPE } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import { readCommandText } from '../../command/read.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import { runAtOnce } from '../../time-slicer.ts'
import { sendJson, writeRefusal } from '../app.ts'
import { isUnreadable, readAll } from '../read-all.ts'
import { insertRefusal } from '../refusal.ts'
import type { Router } from '../router.ts'

/** Maximum request keys in one request: as many as a full pool has. */
const MAX_KEYS = 10_000
/** Maximum bytes of transactions in one response: a request may name one transaction many times. */
const MAX_LOOKUP_BYTES = 32 * 1024 * 1024

const decoder = new TextDecoder()

export function addMempoolRoutes(router: Router, pools: Mempools): void {
  router.serve(operations.mempoolPending, ({ chain, query: { nonce, since } }, reply) => {
    const isOwnMark = nonce !== undefined && since !== undefined && BigInt(nonce) === pools.nonce
    const { hashes, newest } = pools.poolOf(chain).pending(isOwnMark ? BigInt(since) : null)
    return sendJson(reply, JSON_TYPE, stringifyJson({ hashes, highwaterMark: [pools.nonce, newest] }))
  })
  router.serve(operations.mempoolMember, ({ chain, body }, reply) => {
    if (body.length > MAX_KEYS) return writeRefusal(reply, tooManyKeys(body.length))
    const pool = pools.poolOf(chain)
    return sendJson(reply, JSON_TYPE, JSON.stringify(body.map((key) => pool.get(key) !== undefined)))
  })
  router.serve(operations.mempoolLookup, ({ chain, body }, reply) => {
    if (body.length > MAX_KEYS) return writeRefusal(reply, tooManyKeys(body.length))
    const pool = pools.poolOf(chain)
    const found = body.map((key) => pool.get(key))
    if (found.reduce((sum, each) => sum + (each?.bytes.length ?? 0), 0) > MAX_LOOKUP_BYTES) {
      const message = `the answer would exceed ${MAX_LOOKUP_BYTES} bytes; ask for fewer transactions at once`
      return writeRefusal(reply, { status: 400, message })
    }
    const results = found.map((each) =>
      each === undefined ? { tag: 'Missing' } : { tag: 'Pending', contents: decoder.decode(each.bytes) },
    )
    return sendJson(reply, JSON_TYPE, JSON.stringify(results))
  })
  router.serve(operations.mempoolInsert, async ({ chain, body }, reply) => {
    // Without slices: peers send few commands at a time.
    const read = runAtOnce(readAll(body, readCommandText))
    const refused = isUnreadable(read) ? read : await pools.submit(chain, read)
    if (refused !== null) return writeRefusal(reply, insertRefusal(refused))
    return reply.code(200).type(JSON_TYPE).send('')
  })
}

const tooManyKeys = (count: number) => ({
  status: 400,
  message: `${count} request keys; at most ${MAX_KEYS} at once`,
})
