/** The cut, and the peers that send theirs (PROTOCOL.md E.1). */
import { encodeBase64Url, u256LE } from '#ground/base/bytes.ts'
import { stringifyJson } from '#ground/base/json.ts'
import { cutHeight, cutId, cutWeight } from '#ground/chain/cut.ts'
import { JSON_TYPE } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import type { Chains } from '../../rules/chains.ts'
import { takeCut } from '../../rules/cut-intake.ts'
import { sendJson, writeRefusal } from '../app.ts'
import { Peers } from '../peers.ts'
import { cutRefusal } from '../refusal.ts'
import type { Router } from '../router.ts'

/** Peers in a page: default and maximum. */
const DEFAULT_PAGE_PEERS = 64
const MAX_PAGE_PEERS = 512

interface CutRouteOptions {
  readonly chains: Chains
  /** Resolves once every change so far survives the end of the process. */
  readonly durable: () => Promise<void>
  /** Identifies this run of the node in its cuts. */
  readonly instance: string
}

export function addCutRoutes(router: Router, { chains, durable, instance }: CutRouteOptions): void {
  const peers = new Peers()
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
  router.serve(operations.putCut, async ({ body }, reply) => {
    const { origin } = body
    if (origin === undefined || origin === null) {
      return writeRefusal(reply, { status: 400, message: 'Cut is missing an origin entry' })
    }
    if (!peers.has(origin)) return writeRefusal(reply, { status: 401, message: 'Unknown peer' })
    const invalid = await takeCut(chains, body)
    // Also before a refusal: some blocks of the cut may have been added.
    await durable()
    return invalid === null ? reply.code(204).send() : writeRefusal(reply, cutRefusal(invalid))
  })
  addPeers(router, peers)
}

function addPeers(router: Router, peers: Peers): void {
  router.serve(operations.cutPeers, ({ query: { limit = DEFAULT_PAGE_PEERS, next } }, reply) => {
    const [kind, position] = next?.split(':') ?? ['inclusive', '0']
    const from = Number(position) + (kind === 'exclusive' ? 1 : 0)
    const all = peers.all
    const items = all.slice(from, from + Math.min(limit, MAX_PAGE_PEERS))
    const end = from + items.length
    const page = { limit: items.length, items, next: end < all.length ? `inclusive:${end}` : null }
    return sendJson(reply, JSON_TYPE, JSON.stringify(page))
  })
  router.serve(operations.putCutPeer, async ({ body }, reply) => {
    const refusal = await peers.add(body)
    return refusal === null ? reply.code(204).send() : writeRefusal(reply, refusal)
  })
}
