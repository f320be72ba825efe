/** Serves the developer page of an embedded node: `/` for browsers only, files below /explorer/. */
import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from 'fastify'
import { type Asset, policyWith, scriptAssets, sendAsset, siteAsset } from '../assets.ts'

/** Path of a page -> its file in site/. */
export const EXPLORER_PAGES: ReadonlyMap<string, string> = new Map([
  ['/', 'explorer'],
  ...['transactions', 'transaction', 'transfers', 'events', 'contracts', 'send', 'api'].map((name) => {
    return [`/explorer/${name}`, name] as const
  }),
])

/** The pages have no inline code, not even an import map. */
export const EXPLORER_POLICY = policyWith("object-src 'none'")

/** The link to the mining page in explorer.html. */
const MINE_LINK = /<a id="mine-link".*?<\/a>\n?/s

/** Reads all files, by path. Throws if the package is incomplete. */
export function readExplorer(hasMinePage: boolean): ReadonlyMap<string, Asset> {
  const pages = [...EXPLORER_PAGES].map(([path, site]): readonly [string, Asset] => {
    const { type, text } = siteAsset(`explorer/site/${site}.html`)
    return [path, { type, text: hasMinePage ? text : text.replace(MINE_LINK, ''), policy: EXPLORER_POLICY }]
  })
  return new Map<string, Asset>([
    ...pages,
    ['/explorer/explorer.css', siteAsset('explorer/site/explorer.css')],
    ['/explorer/views.css', siteAsset('explorer/site/views.css')],
    ['/explorer/icon.svg', siteAsset('kit/site/icon.svg')],
    ...scriptAssets('explorer', '/explorer'),
  ])
}

/** Files of both kinds of nodes, read once for all nodes of a process. */
const known = new Map<boolean, ReadonlyMap<string, Asset>>()

/**
 * Adds the routes. Call it before the server listens.
 * @param hasMinePage whether the node serves /mine too
 */
export function addExplorer(app: FastifyInstance, hasMinePage: boolean): void {
  const assets = known.get(hasMinePage) ?? readExplorer(hasMinePage)
  known.set(hasMinePage, assets)
  const send = (path: string, reply: FastifyReply) => {
    const asset = assets.get(path)
    return asset === undefined ? reply.callNotFound() : sendAsset(reply, asset)
  }
  const add = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler })
  // Only browsers (Accept: text/html) get the page; other clients get 404 at `/`.
  add('/', ({ headers }, reply) =>
    wantsPage(headers.accept) ? send('/', reply.header('vary', 'accept')) : reply.callNotFound(),
  )
  // A route for each file would take a quarter of the start-up time of a node.
  add('/explorer/*', ({ params }, reply) => send(`/explorer/${(params as Record<string, string>)['*']}`, reply))
}

/** Whether an Accept header names HTML, as browsers do. Programs accept anything, or JSON. */
function wantsPage(accept = ''): boolean {
  return accept.split(',').some((range) => /^\s*text\/html\s*(?:;(?!\s*q=0(?:\.0*)?\s*$)|$)/i.test(range))
}
