/** Puts the page for developers on an embedded node: `/`, for browsers alone, and its files below /explorer/. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Asset, moduleAsset, SAFE_HEADERS, siteAsset } from '../assets.ts'

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
    'dom',
    'json-text',
    'lists',
    'live',
    'numbers',
    'snapshots',
    'state',
  ].map((name) => `${MODULES}/${name}`),
  'core/units',
]

/** The modules that the pages start. */
export const EXPLORER_ENTRIES: readonly string[] = [`${MODULES}/main`, `${MODULES}/api-main`]

/** All that the page loads and calls comes from its own origin; nothing stands in the page itself. */
export const EXPLORER_POLICY =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const PAGES = { '/': 'explorer.html', '/explorer/api': 'api.html' }
/** In explorer.html: what leads to the page that mines. */
const MINE_LINK = /<a id="mine-link".*?<\/a>\n?/s

/** Path -> file. Reads all files. Throws where the package is incomplete. */
export function readExplorer(hasMinePage: boolean): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>([
    ['/explorer/explorer.css', siteAsset('explorer/site/explorer.css')],
    ['/explorer/icon.svg', siteAsset('mine-page/site/icon.svg')],
  ])
  for (const name of EXPLORER_MODULES) assets.set(`/explorer/src/${name}.js`, moduleAsset(name))
  for (const [path, name] of Object.entries(PAGES)) {
    const { type, text } = siteAsset(`explorer/site/${name}`)
    assets.set(path, { type, text: hasMinePage ? text : text.replace(MINE_LINK, '') })
  }
  return assets
}

/** Adds the routes, to be called before the server listens. `hasMinePage`: whether /mine is served too. */
export function addExplorer(app: FastifyInstance, hasMinePage: boolean): void {
  const assets = readExplorer(hasMinePage)
  for (const [url, { type, text }] of assets) {
    const isPage = url in PAGES
    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      // Programs that ask for `/` get what they always got: nothing is served there.
      if (url === '/' && !wantsPage(request.headers.accept)) return reply.callNotFound()
      reply.removeHeader('access-control-allow-origin')
      reply.headers({ ...SAFE_HEADERS, ...(url === '/' && { vary: 'accept' }) })
      if (isPage) reply.header('content-security-policy', EXPLORER_POLICY)
      return reply.type(type).send(text)
    }
    app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler })
  }
}

/** Whether an Accept header names HTML, as browsers do; programs accept anything, or JSON. */
function wantsPage(accept = ''): boolean {
  return accept.split(',').some((range) => /^\s*text\/html\s*(?:;(?!\s*q=0(?:\.0*)?\s*$)|$)/i.test(range))
}
