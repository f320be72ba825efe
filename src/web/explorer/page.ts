/** Puts the page for developers on an embedded node: `/`, for browsers alone, and its files below /explorer/. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Asset, moduleAssets, policyWith, sendAsset, siteAsset } from '../assets.ts'

const MODULES = 'web/explorer/browser'

/** Modules of src/, without their ending: all that the two pages import, directly or not. */
export const EXPLORER_MODULES: readonly string[] = [
  ...[
    'main',
    'api-main',
    'api-example',
    'api-operation',
    'braid',
    'braid-layout',
    'braid-paint',
    'call',
    'coins',
    'control',
    'details',
    'figures',
    'json-text',
    'lists',
    'snapshots',
    'state',
  ].map((name) => `${MODULES}/${name}`),
  'web/kit/dom',
  'web/kit/numbers',
  'web/kit/stream',
  'core/units',
]

/** The modules that the pages start. */
export const EXPLORER_ENTRIES: readonly string[] = [`${MODULES}/main`, `${MODULES}/api-main`]

/** Nothing stands in the pages themselves, not even an import map. */
export const EXPLORER_POLICY = policyWith("object-src 'none'")

/** In explorer.html: what leads to the page that mines. */
const MINE_LINK = /<a id="mine-link".*?<\/a>\n?/s

/** Path -> file. Reads all files. Throws where the package is incomplete. */
export function readExplorer(hasMinePage: boolean): ReadonlyMap<string, Asset> {
  const { type, text } = siteAsset('explorer/site/explorer.html')
  const policy = EXPLORER_POLICY
  return new Map<string, Asset>([
    ['/', { type, text: hasMinePage ? text : text.replace(MINE_LINK, ''), policy }],
    ['/explorer/api', { ...siteAsset('explorer/site/api.html'), policy }],
    ['/explorer/explorer.css', siteAsset('explorer/site/explorer.css')],
    ['/explorer/icon.svg', siteAsset('kit/site/icon.svg')],
    ...moduleAssets('/explorer/src', EXPLORER_MODULES),
  ])
}

/** Adds the routes, to be called before the server listens. `hasMinePage`: whether /mine is served too. */
export function addExplorer(app: FastifyInstance, hasMinePage: boolean): void {
  for (const [url, asset] of readExplorer(hasMinePage)) {
    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      if (url !== '/') return sendAsset(reply, asset)
      // Programs that ask for `/` get what they always got: nothing is served there.
      if (!wantsPage(request.headers.accept)) return reply.callNotFound()
      return sendAsset(reply.header('vary', 'accept'), asset)
    }
    app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler })
  }
}

/** Whether an Accept header names HTML, as browsers do; programs accept anything, or JSON. */
function wantsPage(accept = ''): boolean {
  return accept.split(',').some((range) => /^\s*text\/html\s*(?:;(?!\s*q=0(?:\.0*)?\s*$)|$)/i.test(range))
}
