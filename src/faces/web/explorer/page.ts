/** Serves the developer page of an embedded node: `/` for browsers only, files below /explorer/. */
import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from 'fastify'
import { VARY } from '#ground/base/http-answer.ts'
import { type ServedPage, wantsPage } from '#ground/base/not-found-page.ts'
import { type Asset, pageAssets, policyWith, sendAsset } from '../assets.ts'

/** The pages have no inline code, not even an import map. */
export const EXPLORER_POLICY = policyWith("object-src 'none'")

/** The link of each page to the mining page. */
const MINE_LINK = /\s*<a class="mine-link".*?<\/a>/

/**
 * Reads all files, by path.
 * @throws if the package is incomplete
 */
export function readExplorer(hasMinePage: boolean): ReadonlyMap<string, Asset> {
  const pathOf = (name: string) => (name === 'explorer' ? '/' : `/explorer/${name}`)
  const assets = pageAssets('explorer', '/explorer', EXPLORER_POLICY, pathOf)
  if (hasMinePage) return assets
  const cut = (asset: Asset) => ({ ...asset, text: asset.text.replace(MINE_LINK, '') })
  return new Map([...assets].map(([path, asset]) => [path, asset.policy === undefined ? asset : cut(asset)]))
}

/** Files of both kinds of nodes, read once for all nodes of a process. */
const known = new Map<boolean, ReadonlyMap<string, Asset>>()

/** Pages for the links of a page that says that there is nothing. */
const NAMED_PAGES = [
  ['/', 'Network'],
  ...['transactions', 'transfers', 'events', 'contracts', 'send', 'account'].map((name) => [
    `/explorer/${name}`,
    name.charAt(0).toUpperCase() + name.slice(1),
  ]),
  ['/explorer/api', 'Calls'],
]

type PageHost = FastifyInstance & { readonly pages: ServedPage[] }

/**
 * Adds the routes. Call it before the server listens.
 * @param hasMinePage whether the node serves /mine too
 */
export function addExplorer(app: PageHost, hasMinePage: boolean): void {
  const assets = known.get(hasMinePage) ?? readExplorer(hasMinePage)
  known.set(hasMinePage, assets)
  app.pages.push(...NAMED_PAGES.map(([path, name]) => ({ path, name })))
  if (hasMinePage) app.pages.push({ path: '/mine', name: 'Mine here' })
  const send = (path: string, reply: FastifyReply, vary?: string) => {
    const asset = assets.get(path)
    return asset === undefined ? reply.callNotFound() : sendAsset(reply, asset, vary)
  }
  const add = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler })
  // Only browsers (Accept: text/html) get the page; other clients get 404 at `/`.
  add('/', ({ headers }, reply) =>
    wantsPage(headers.accept) ? send('/', reply, `accept, ${VARY}`) : reply.callNotFound(),
  )
  // A route for each file would take a quarter of the start-up time of a node.
  add('/explorer/*', ({ params }, reply) => send(`/explorer/${(params as Record<string, string>)['*']}`, reply))
}
