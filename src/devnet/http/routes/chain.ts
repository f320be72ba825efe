/** Hashes, headers and blocks of a chain: single items, pages, and pages of branches (PROTOCOL.md E.1). */
import type { FastifyReply } from 'fastify'
import type { ProductWord } from '#ground/chain/header-json.ts'
import { graphAt } from '#ground/chain/network.ts'
import type { BranchBounds } from '#ground/schema/bodies.ts'
import { BINARY, JSON_TYPE, OBJECT_JSON_TYPE } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import type { NodeCopy } from '../../copy/node-copy.ts'
import type { Chains } from '../../rules/chains.ts'
import type { Block } from '../../store/block-store.ts'
import { branchPage } from '../../store/branch.ts'
import { pageOf, type StorePage, type UnknownBlock } from '../../store/page.ts'
import { keyNotFound, sendJson } from '../app.ts'
import { headerObjectWriter, writeHash, writeHeaderText } from '../encode/header-text.ts'
import { JsonBytes } from '../encode/json-bytes.ts'
import { payloadOutputsText } from '../encode/payload-text.ts'
import { HeaderTrees, type TreeRequest } from '../lookup/header-trees.ts'
import type { Router } from '../router.ts'
import { replyIfCached } from '../unchanging.ts'

/** Maximum headers or blocks in a page, and maximum hashes (PROTOCOL.md E.0, service API). */
const MAX_PAGE_HEADERS = 360
const MAX_PAGE_HASHES = 4096
/** A page ends early once it is larger than this: 360 blocks may hold 800 MB. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024
/** Typical size of a header as a JSON object; sizes the buffer of a page. */
const ITEM_BYTES = 750
/** Maximum bounds in each of `upper` and `lower`, as in live nodes: each costs a walk (PROTOCOL.md E.1). */
const MAX_BOUNDS = 32

interface ChainRouteOptions {
  readonly chains: Chains
  readonly product: ProductWord
  /** The fork that the network began with, or null. */
  readonly fork: NodeCopy | null
}

/** Writes an item of a page as a JSON value. */
type ItemWriter = (block: Block, out: JsonBytes) => void

interface PageRequest extends TreeRequest {
  /** Media type of the response. */
  readonly type: string
}

export function addChainRoutes(router: Router, { chains, product, fork }: ChainRouteOptions): void {
  const { store } = chains
  const headers = new HeaderTrees(store, fork)
  // Clients request payloads of blocks below the pin one at a time.
  const wholeBlocks = new HeaderTrees(store, null)
  const writeObject = headerObjectWriter(graphAt(chains.network, 0).degree, product, chains.network)
  const writeHashOf: ItemWriter = ({ bytes }, out) => writeHash(bytes, out)
  const writePlain: ItemWriter = ({ bytes }, out) => writeHeaderText(bytes, out)
  const writeObjectOf: ItemWriter = ({ bytes }, out) => writeObject(bytes, out)
  const writeBlock: ItemWriter = ({ bytes, payload }, out) => {
    out.ascii('{"header":')
    writeObject(bytes, out)
    out.ascii(',"payloadWithOutputs":')
    out.ascii(payloadOutputsText(payload))
    out.ascii('}')
  }
  const headerWriterFor = (type: string) => (type === OBJECT_JSON_TYPE ? writeObjectOf : writePlain)

  router.serve(operations.header, async ({ chain, params, type, request }, reply) => {
    const block = await headers.header(chain, params.hash)
    if (block === undefined) return keyNotFound(reply, params.hash)
    const notModified = replyIfCached(request, reply, params.hash, type)
    if (notModified !== null) return notModified
    if (type === BINARY) return reply.type(BINARY).send(Buffer.from(block.bytes))
    const out = new JsonBytes()
    headerWriterFor(type)(block, out)
    return sendJson(reply, type, out.take())
  })
  router.serve(operations.hashes, (call, reply) =>
    sendPage(reply, headers, { ...call, most: MAX_PAGE_HASHES }, writeHashOf),
  )
  router.serve(operations.headers, (call, reply) =>
    sendPage(reply, headers, { ...call, most: MAX_PAGE_HEADERS }, headerWriterFor(call.type)),
  )
  router.serve(operations.blocks, (call, reply) =>
    sendPage(reply, wholeBlocks, { ...call, most: MAX_PAGE_HEADERS }, writeBlock),
  )
  router.serve(operations.hashBranch, (call, reply) =>
    sendBranch(reply, headers, { ...call, most: MAX_PAGE_HASHES }, writeHashOf),
  )
  router.serve(operations.headerBranch, (call, reply) =>
    sendBranch(reply, headers, { ...call, most: MAX_PAGE_HEADERS }, headerWriterFor(call.type)),
  )
  router.serve(operations.blockBranch, (call, reply) =>
    sendBranch(reply, wholeBlocks, { ...call, most: MAX_PAGE_HEADERS }, writeBlock),
  )
}

async function sendPage(reply: FastifyReply, trees: HeaderTrees, call: PageRequest, writer: ItemWriter) {
  const tree = await trees.treeForPage(call)
  return send(reply, pageOf(tree, call.chain, call.query, call.most), call.type, writer)
}

async function sendBranch(
  reply: FastifyReply,
  trees: HeaderTrees,
  call: PageRequest & { readonly body: BranchBounds },
  writer: ItemWriter,
) {
  for (const side of ['upper', 'lower'] as const) {
    if ((call.body[side]?.length ?? 0) <= MAX_BOUNDS) continue
    const message = `${side} branch bound limit exceeded. Only ${MAX_BOUNDS} values are supported.`
    return sendJson(reply.code(400), JSON_TYPE, JSON.stringify(message))
  }
  const tree = await trees.treeForBranch(call, call.body)
  return send(reply, branchPage(tree, call.chain, call.body, call.query, call.most), call.type, writer)
}

function send(reply: FastifyReply, page: StorePage | UnknownBlock, type: string, writer: ItemWriter): FastifyReply {
  if ('unknown' in page) return keyNotFound(reply, page.unknown)
  const items = new JsonBytes(page.blocks.length * ITEM_BYTES + ITEM_BYTES)
  let count = 0
  for (const block of page.blocks) {
    if (items.size > MAX_PAGE_BYTES) break
    if (count++ > 0) items.ascii(',')
    writer(block, items)
  }
  const left: Block | undefined = page.blocks[count]
  const next = left === undefined ? page.next : `inclusive:${left.id}`
  const start = Buffer.from(`{"limit":${count},"items":[`)
  const end = Buffer.from(`],"next":${JSON.stringify(next)}}`)
  return sendJson(reply, type, Buffer.concat([start, items.take(), end]))
}
