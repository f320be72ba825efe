/** All pages in headless Chromium: what axe-core finds, what the console says, how much they load. */
import type { Browser, Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { startDevnetWithPage } from '../../src/compose/devnet-page.ts'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { startApi } from '../../src/faces/api/server.ts'
import { Hub } from '../../src/faces/web/dashboard/hub.ts'
import { addDashboard } from '../../src/faces/web/dashboard/page.ts'
import { addEvents } from '../../src/faces/web/dashboard/stream.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { exec, transfer } from '../devnet/commands-common.ts'
import { describeInChromium } from '../gpu/chromium.ts'
import { findingsIn } from './axe.ts'
import { snapshotWith } from './dashboard/common.ts'
import { deploy, mined } from './explorer/contract.ts'
import { NETWORK, start } from './explorer/developers-page.ts'

/** Bytes of all responses of a page as the network carries them: files, data and event streams. */
const MAX_BYTES = 150_000
const MAX_REQUESTS = 30

/** Counts the requests of a page, and the bytes of their responses, from now on. */
async function countTraffic(page: Page): Promise<() => { readonly bytes: number; readonly requests: number }> {
  const network = await page.context().newCDPSession(page)
  const sizes = new Map<string, number>()
  network.on('Network.requestWillBeSent', ({ requestId }) => sizes.set(requestId, 0))
  // An event stream is not compressed, and does not end.
  network.on('Network.dataReceived', ({ requestId, dataLength }) => {
    sizes.set(requestId, (sizes.get(requestId) ?? 0) + dataLength)
  })
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => sizes.set(requestId, encodedDataLength))
  await network.send('Network.enable')
  return () => ({ bytes: [...sizes.values()].reduce((sum, each) => sum + each, 0), requests: sizes.size })
}

/**
 * Opens a page in both colour schemes.
 * @param part element that must be there
 * @returns what is wrong with it
 */
async function problemsOf(browser: Browser, url: string, part: string, act?: (page: Page) => Promise<void>) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' })
  page.setDefaultTimeout(30_000)
  const messages: string[] = []
  page.on('pageerror', ({ message }) => messages.push(message))
  page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`))
  try {
    const traffic = await countTraffic(page)
    await page.goto(url)
    await page.locator(part).first().waitFor()
    await act?.(page)
    const findings: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      for (const each of await findingsIn(page)) findings.push(`${url} ${colorScheme} ${each}`)
    }
    const { bytes, requests } = traffic()
    expect(bytes, url).toBeGreaterThan(15_000)
    expect(bytes, url).toBeLessThan(MAX_BYTES)
    expect(requests, url).toBeGreaterThan(4)
    expect(requests, url).toBeLessThanOrEqual(MAX_REQUESTS)
    return [...findings, ...messages.map((each) => `${url} ${each}`)]
  } finally {
    await page.close()
  }
}

await describeInChromium('all pages', (browser) => {
  it('the pages of a node pass axe in light and dark, have a silent console, and load little', async () => {
    const node = await start({ graph: 'twenty' })
    await deploy(node)
    const [bad, waiting] = [exec('(enforce false "on purpose")'), transfer('sender01', 2)]
    await mined(node, transfer('sender01', 1), bad)
    // More than the first page shows of blocks and requests.
    await node.order('make-blocks', { 10: 30 })
    for (let i = 0; i < 70; i++) await node.get(`${NETWORK}/cut?maxheight=${i}`)
    await node.post(`${NETWORK}/chain/0/pact/api/v1/send`, { cmds: [waiting] })
    const search = async (page: Page) => {
      await page.fill('#find-text', '1')
      await page.press('#find-text', 'Enter')
      await page.locator('#find-answer a').first().waitFor()
    }
    const unfold = async (page: Page) => {
      for (const each of await page.locator('#control details > summary').all()) await each.click()
      await page.click('#accounts summary >> nth=0')
    }
    const problems: string[] = []
    for (const [path, part, act] of [
      ['/', '#accounts li', unfold],
      ['/#chain=0&height=1', '#details-body pre', undefined],
      ['/explorer/transactions', '#transactions li', search],
      ['/explorer/transactions#status=pending', '#transactions li', undefined],
      [`/explorer/transaction#${bad.hash}`, '.trace .step', (page: Page) => page.click('#unfold')],
      ['/explorer/account#sender00', '#transfers li', undefined],
      ['/explorer/account', '#choice li', undefined],
      ['/explorer/transfers', '#none', undefined],
      ['/explorer/events', '#events li', undefined],
      ['/explorer/contracts', '#interface .members', undefined],
      ['/explorer/contracts#chain=0&module=free.shelf&view=tables', '#table-books', undefined],
      ['/explorer/contracts#chain=0&module=free.shelf&view=code', '#code .line', undefined],
      ['/explorer/send', '#arguments .argument', (page: Page) => page.click('#try')],
      ['/explorer/send#pact=x&chain=1&source=0', '#proof-part:not([hidden])', undefined],
      ['/explorer/api', '.operation', (page: Page) => page.click('#devnetSearch > summary')],
    ] as const) {
      problems.push(...(await problemsOf(browser, node.url + path, part, act)))
    }
    expect(problems).toEqual([])
  })

  it('the page of a path at which nothing is passes axe in light and dark', async () => {
    const node = await start()
    const page = await browser.newPage()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const answer = await page.goto(`${node.url}/explorer/acount`)
      expect(answer?.status()).toBe(404)
      expect(await findingsIn(page), colorScheme).toEqual([])
    }
    await page.click('text=Network')
    await page.locator('#braid').waitFor()
    await page.close()
  })

  it('the dashboard passes axe in light and dark, has a silent console, and loads little', async () => {
    const snapshot = () => snapshotWith()
    const about = { version: '1', network: 'development', account: 'k:a' }
    const hub = new Hub({ about, snapshot, clock: systemClock })
    const extensions = [
      { path: '/', addTo: addDashboard },
      { path: '/api/events', addTo: (app: Parameters<typeof addEvents>[0]) => addEvents(app, hub) },
    ]
    const api = await startApi({ host: '127.0.0.1', port: 0 }, snapshot, new Metrics(snapshot, '1'), ...extensions)
    onTestFinished(() => api.close())
    expect(await problemsOf(browser, `${api.url}/`, '#devices li')).toEqual([])
  })

  it('the mining page passes axe in light and dark, has a silent console, and loads little', async () => {
    const account = { account: `k:${'cd'.repeat(32)}`, predicate: 'keys-all', publicKeys: ['cd'.repeat(32)] }
    const devnet = await startDevnetWithPage({ port: 0 }, account)
    onTestFinished(() => devnet.close())
    const isReady = (page: Page) => expect.poll(() => page.textContent('#network')).toBe('development · 20 chains')
    expect(await problemsOf(browser, `${devnet.url}/mine`, '#button', isReady)).toEqual([])
  })
})
