/** Headers, cut and header stream (PROTOCOL.md E.1). */
import { Type } from 'typebox'
import { encodeBase64Url, encodeHex, u256LE } from '../core/bytes.ts'
import { cutHeight, cutId, cutWeight } from '../core/cut.ts'
import { encodeHeader, encodeWork } from '../core/header.ts'
import { headerToJson, type ProductWord } from '../core/header-json.ts'
import { stringifyJson } from '../core/json.ts'
import { powHash } from '../core/pow.ts'
import { HashText, PageQuery } from '../schema/interface.ts'
import type { Chains } from './chains.ts'
import {
  type App,
  accepted,
  BINARY,
  JSON_TYPE,
  keyNotFound,
  OBJECT_JSON_TYPE,
  openEventStream,
  refuseOtherMethods,
  sendJson,
} from './http.ts'
import { pageOf } from './page.ts'
import type { Block } from './store.ts'

/** Most headers in a page (PROTOCOL.md E.0, service API). */
const PAGE_LIMIT = 360

const ChainParams = Type.Object({ chain: Type.String() })
const HeaderParams = Type.Object({ chain: Type.String(), hash: HashText })
const CutQuery = Type.Object({ maxheight: Type.Optional(Type.Integer({ minimum: 0 })) })

export interface ChainRouteOptions {
  readonly chains: Chains
  readonly product: ProductWord
  /** Names this run of the node in its cuts. */
  readonly instance: string
}

export function addChainRoutes(app: App, prefix: string, options: ChainRouteOptions): void {
  addHeaderPage(app, `${prefix}/chain/:chain/header`, options)
  addHeader(app, `${prefix}/chain/:chain/header/:hash`, options)
  addHeaderUpdates(app, `${prefix}/header/updates`, options)
  addCut(app, `${prefix}/cut`, options)
}

/** The chain of a path, if the network has it: `3`, not `03`. */
function chainOf(chains: Chains, text: string): number | null {
  const chain = Number(text)
  return /^\d{1,9}$/.test(text) && String(chain) === text && chains.cut.has(chain) ? chain : null
}

const asText = (block: Block) => JSON.stringify(encodeBase64Url(encodeHeader(block.header)))

function addHeaderPage(app: App, url: string, { chains, product }: ChainRouteOptions): void {
  refuseOtherMethods(app, url, ['GET'])
  app.get(url, { schema: { params: ChainParams, querystring: PageQuery } }, (request, reply) => {
    const chain = chainOf(chains, request.params.chain)
    if (chain === null) return reply.code(404).send()
    const type = accepted(request, [JSON_TYPE, OBJECT_JSON_TYPE])
    if (type === null) return reply.code(406).send()
    const page = pageOf(chains.store, chain, request.query, PAGE_LIMIT)
    if (typeof page === 'string') return keyNotFound(reply, page)
    const write = type === JSON_TYPE ? asText : (block: Block) => stringifyJson(headerToJson(block.header, product))
    const items = page.blocks.map(write).join(',')
    const body = `{"limit":${page.blocks.length},"items":[${items}],"next":${JSON.stringify(page.next)}}`
    return sendJson(reply, type, body)
  })
}

function addHeader(app: App, url: string, { chains, product }: ChainRouteOptions): void {
  refuseOtherMethods(app, url, ['GET'])
  app.get(url, { schema: { params: HeaderParams } }, (request, reply) => {
    const chain = chainOf(chains, request.params.chain)
    if (chain === null) return reply.code(404).send()
    const type = accepted(request, [JSON_TYPE, OBJECT_JSON_TYPE, BINARY])
    if (type === null) return reply.code(406).send()
    const block = chains.store.byId(request.params.hash, chain)
    if (block === undefined) return keyNotFound(reply, request.params.hash)
    if (type === BINARY) return reply.type(BINARY).send(Buffer.from(encodeHeader(block.header)))
    const json = type === JSON_TYPE ? asText(block) : stringifyJson(headerToJson(block.header, product))
    return sendJson(reply, type, json)
  })
}

function addHeaderUpdates(app: App, url: string, { chains, product }: ChainRouteOptions): void {
  refuseOtherMethods(app, url, ['GET'])
  const bigEndianHex = (bytes: Uint8Array) => encodeHex(bytes.toReversed())
  app.get(url, (_request, reply) => {
    const unsubscribe = chains.onBlock(({ header, payload }) => {
      const data = {
        header: headerToJson(header, product),
        txCount: payload.transactions.length,
        powHash: bigEndianHex(powHash(encodeWork(header))),
        target: bigEndianHex(u256LE(header.target)),
      }
      stream.send(`event:BlockHeader\ndata:${stringifyJson(data)}\n\n`)
    })
    const stream = openEventStream(reply, unsubscribe)
    return reply
  })
}

function addCut(app: App, url: string, { chains, instance }: ChainRouteOptions): void {
  refuseOtherMethods(app, url, ['GET'])
  app.get(url, { schema: { querystring: CutQuery } }, (request, reply) => {
    if (accepted(request, [JSON_TYPE]) === null) return reply.code(406).send()
    const { maxheight } = request.query
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
