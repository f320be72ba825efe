/** Headers, cut and header stream (PROTOCOL.md E.1). */
import { encodeBase64Url, encodeHex, u256LE } from '../core/bytes.ts'
import { cutHeight, cutId, cutWeight } from '../core/cut.ts'
import { encodeWork } from '../core/header.ts'
import { headerToJson, type ProductWord } from '../core/header-json.ts'
import { stringifyJson } from '../core/json.ts'
import { powHash } from '../core/pow.ts'
import { BINARY, JSON_TYPE, operations } from '../schema/operations.ts'
import type { Chains } from './chains.ts'
import { keyNotFound, sendJson } from './http.ts'
import { pageOf } from './page.ts'
import type { Router } from './serve.ts'
import type { Block } from './store.ts'
import type { StreamGate } from './stream-gate.ts'

/** Most headers in a page (PROTOCOL.md E.0, service API). */
const PAGE_LIMIT = 360

export interface ChainRouteOptions {
  readonly chains: Chains
  readonly product: ProductWord
  /** Names this run of the node in its cuts. */
  readonly instance: string
  readonly streams: StreamGate
}

export function addChainRoutes(router: Router, options: ChainRouteOptions): void {
  addHeaders(router, options)
  addHeaderUpdates(router, options)
  addCut(router, options)
}

const asText = (block: Block) => JSON.stringify(encodeBase64Url(block.bytes))

function addHeaders(router: Router, { chains, product }: ChainRouteOptions): void {
  const writerFor = (type: string) =>
    type === JSON_TYPE ? asText : (block: Block) => stringifyJson(headerToJson(block.header, product))
  router.serve(operations.headers, ({ chain, query, type }, reply) => {
    const page = pageOf(chains.store, chain, query, PAGE_LIMIT)
    if (typeof page === 'string') return keyNotFound(reply, page)
    const items = page.blocks.map(writerFor(type)).join(',')
    const body = `{"limit":${page.blocks.length},"items":[${items}],"next":${JSON.stringify(page.next)}}`
    return sendJson(reply, type, body)
  })
  router.serve(operations.header, ({ chain, params, type }, reply) => {
    const block = chains.store.byId(params.hash, chain)
    if (block === undefined) return keyNotFound(reply, params.hash)
    if (type === BINARY) return reply.type(BINARY).send(Buffer.from(block.bytes))
    return sendJson(reply, type, writerFor(type)(block))
  })
}

function addHeaderUpdates(router: Router, { chains, product, streams }: ChainRouteOptions): void {
  const bigEndianHex = (bytes: Uint8Array) => encodeHex(bytes.toReversed())
  router.serve(operations.headerUpdates, (_call, reply) => {
    const unsubscribe = chains.onBlock(({ header, payload }) => {
      const data = {
        header: headerToJson(header, product),
        txCount: payload.transactions.length,
        powHash: bigEndianHex(powHash(encodeWork(header))),
        target: bigEndianHex(u256LE(header.target)),
      }
      stream.send(`event:BlockHeader\ndata:${stringifyJson(data)}\n\n`)
    })
    const stream = streams.open('header', reply, unsubscribe)
    return reply
  })
}

function addCut(router: Router, { chains, instance }: ChainRouteOptions): void {
  router.serve(operations.cut, ({ query: { maxheight } }, reply) => {
    const cut = maxheight === undefined ? chains.cut : chains.limitedCut(maxheight)
    const hashes = [...cut].map(([chain, { height, hash }]) => [chain, { height, hash: encodeBase64Url(hash) }])
    const body = {
      hashes: Object.fromEntries(hashes),
      origin: null,
      weight: encodeBase64Url(u256LE(cutWeight(cut))),
      height: cutHeight(cut),
      instance,
      id: encodeBase64Url(cutId(cut)),
    }
    return sendJson(reply, JSON_TYPE, stringifyJson(body))
  })
}
