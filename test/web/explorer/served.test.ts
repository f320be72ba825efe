/** Where the developers' page is served, to which clients, and with which files. */
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDevnet } from '../../../src/compose/devnet.ts'
import { startDevnetWithPage } from '../../../src/compose/devnet-page.ts'
import { EXPLORER_POLICY, readExplorer } from '../../../src/faces/web/explorer/page.ts'
import { Peer } from '../../devnet/request.ts'
import { entriesOf, foreignIn, loadedBy, scriptsIn } from '../modules.ts'

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const NOTHING = 'nothing is served at /; GET /openapi.json lists what is'

const PAGES = [
  '/',
  ...['account', 'transactions', 'transaction', 'transfers', 'events', 'contracts', 'send', 'api'].map(
    (name) => `/explorer/${name}`,
  ),
]

async function start(): Promise<Peer> {
  const devnet = await startDevnet({ port: 0, graph: 'pair', pow: false })
  const peer = new Peer(devnet.url)
  onTestFinished(async () => {
    peer.close()
    await devnet.close()
  })
  return peer
}

describe('GET /', () => {
  it.each([HTML, 'text/html', 'application/json, text/html;q=0.5'])(
    'GET / answers Accept: %s with the page',
    async (accept) => {
      const peer = await start()
      const { status, headers, body } = await peer.get('/', { headers: { accept } })
      expect(headers['content-type']).toBe('text/html;charset=utf-8')
      expect(status).toBe(200)
      expect(headers['content-security-policy']).toBe(EXPLORER_POLICY)
      expect(headers.vary).toBe('accept, accept-encoding')
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['access-control-allow-origin']).toBeUndefined()
      expect(body.toString()).toContain('<canvas id="braid">')
    },
  )

  it.each([undefined, '*/*', 'application/json', 'text/html;q=0', 'text/plain', 'text/*'])(
    'GET / does not answer programs with the page: Accept: %s',
    async (accept) => {
      const peer = await start()
      const { status, headers, body } = await peer.get('/', { headers: accept === undefined ? {} : { accept } })
      expect(headers['content-type']).toBe('text/plain;charset=utf-8')
      expect(body.toString()).toEqual(NOTHING)
      expect(status).toBe(404)
      expect(headers['access-control-allow-origin']).toBe('*')
      expect((await peer.request('POST', '/', { headers: { accept: HTML } })).status).toBe(404)
    },
  )

  it.each([
    '/explorer',
    '/explorer/',
    '/explorer/browser/main.js',
    '/explorer/served/main.js',
    '/explorer/page.js',
    '/explorer/main.js.map',
    '/explorer/..%2fbrowser%2fmain.js',
    '/explorer/..%2fmine.html',
  ])('the node does not serve %s', async (path) => {
    const peer = await start()
    expect((await peer.get(path, { headers: { accept: HTML } })).status).toBe(404)
  })

  it('a path at which nothing is served is a page for browsers, with a guess and links, and a text for programs', async () => {
    const peer = await start()
    const page = await peer.get('/explorer/acount?x=<b>', { headers: { accept: HTML } })
    expect(page.status).toBe(404)
    expect(page.headers['content-type']).toBe('text/html;charset=utf-8')
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(page.headers['access-control-allow-origin']).toBeUndefined()
    const html = page.body.toString()
    expect(html).toContain('<code>/explorer/acount</code>')
    expect(html).toContain('Did you mean <a href="/explorer/account">/explorer/account</a>?')
    expect(html).toContain('<a href="/">Network</a>')
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)
    for (const href of links) expect((await peer.get(href, { headers: { accept: HTML } })).status, href).toBe(200)
    const other = (await peer.get('/this&that', { headers: { accept: HTML } })).body.toString()
    expect(other).toContain('<code>/this&amp;that</code>')
    expect(other).not.toContain('Did you mean')
    for (const accept of ['*/*', 'application/json']) {
      const { status, headers, body } = await peer.get('/explorer/acount', { headers: { accept } })
      expect([status, headers['content-type']]).toEqual([404, 'text/plain;charset=utf-8'])
      expect(body.toString()).toMatch(/^nothing is served at \/explorer\/acount; GET \/openapi.json lists what is/)
    }
    expect((await peer.request('POST', '/nothing', { headers: { accept: HTML } })).headers['content-type']).toBe(
      'text/plain;charset=utf-8',
    )
  })

  it('the page links to /mine only if that is served', async () => {
    const account = { account: 'k:x', predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] }
    const devnet = await startDevnetWithPage({ port: 0, graph: 'pair', pow: false }, account)
    onTestFinished(() => devnet.close())
    const pages = [new Peer(devnet.url), await start()].map(async (peer) => {
      const { body } = await peer.get('/', { headers: { accept: HTML } })
      peer.close()
      return body.toString().includes('href="/mine"')
    })
    expect(await Promise.all(pages)).toEqual([true, false])
  })
})

describe('the files', () => {
  it('the files of the explorer are exactly those that the pages load, and use only what browsers have', () => {
    const assets = readExplorer(true)
    const pages = [...assets].filter(([, { policy }]) => policy !== undefined)
    expect(pages.map(([path]) => path).toSorted()).toEqual(PAGES.toSorted())
    const entries = PAGES.flatMap((path) => entriesOf(assets.get(path)?.text ?? ''))
    expect(entries).toHaveLength(PAGES.length)
    expect(loadedBy(assets, ...entries)).toEqual(scriptsIn(assets).toSorted())
    expect(foreignIn(assets)).toEqual([])
  })

  it('the files of the explorer are served unchanged, each with its type', async () => {
    const peer = await start()
    for (const [path, { type, text }] of readExplorer(false)) {
      const { status, headers, body } = await peer.get(path, { headers: { accept: HTML } })
      expect(headers['content-type'], path).toEqual(type)
      expect(status, path).toBe(200)
      expect(body.toString()).toBe(text)
    }
  })

  it('the files of the explorer, and the description of the calls, come compressed to browsers', async () => {
    const peer = await start()
    for (const path of ['/explorer/main.js', '/explorer/explorer.css', '/openapi.json']) {
      const plain = await peer.get(path)
      const { headers, body } = await peer.get(path, { headers: { 'accept-encoding': 'gzip, deflate, br' } })
      expect(headers['content-encoding'], path).toBe('gzip')
      expect(headers['content-type'], path).toBe(plain.headers['content-type'])
      expect(gunzipSync(body).equals(plain.body), path).toBe(true)
      expect(body.length, path).toBeLessThan(plain.body.length / 2)
    }
  })

  it('the files of the explorer load nothing from elsewhere, and have no script or style in the page', () => {
    const assets = readExplorer(true)
    for (const path of PAGES) {
      const page = assets.get(path)?.text ?? ''
      const links = [...page.matchAll(/(?:src|href)="([^"#]+)/g)].map(([, link]) => link)
      expect(links.length).toBeGreaterThan(4)
      expect(links.filter((link) => !assets.has(link) && !['/mine', '/openapi.json'].includes(link))).toEqual([])
      expect(page).not.toMatch(/<style|<script(?![^>]+src=)| style=| on\w+=/)
    }
    for (const { text } of assets.values())
      expect(text).not.toMatch(/@import|\burl\(|https?:\/\/(?!www\.w3\.org\/2000\/svg)/)
  })

  it.each(PAGES)('the files of the explorer are within the size limit of a page: %s', (path) => {
    const assets = readExplorer(true)
    const styles = [...(assets.get(path)?.text ?? '').matchAll(/href="([^"]+\.css)"/g)].map(([, href]) => href)
    const scripts = loadedBy(assets, ...entriesOf(assets.get(path)?.text ?? ''))
    const texts = [path, ...styles, ...scripts].map((each) => assets.get(each)?.text ?? expect.fail(`no ${each}`))
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    expect(bytes).toBeGreaterThan(20_000)
    expect(bytes).toBeLessThan(150_000)
  })
})
