/** The same shader in a page: another host, another copy of the compiler, the same nonces. */
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { batchConformance } from '../conformance/gpu.ts'
import { launchChromium } from './chromium.ts'
import { runInPage } from './page-request.ts'

const script = readFileSync(new URL('./page.js', import.meta.url), 'utf8')

/** A page with an adapter, or why there is none. */
async function openPage(): Promise<{ browser: Browser; page: Page } | string> {
  const browser = await launchChromium()
  if (typeof browser === 'string') return browser
  try {
    const page = await browser.newPage()
    // WebGPU needs a secure origin; nothing is fetched.
    await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<title>search</title>' }))
    await page.goto('https://localhost/')
    await page.addScriptTag({ content: script })
    const isThere = await page.evaluate<boolean>('navigator.gpu?.requestAdapter().then((adapter) => adapter !== null)')
    if (isThere) return { browser, page }
    await browser.close()
    return 'Chromium has no WebGPU adapter here'
  } catch (error) {
    await browser.close()
    return `Chromium does not open a page: ${(error as Error).message.split('\n')[0]}`
  }
}

const opened = await openPage()
if (typeof opened === 'string') process.stderr.write(`browser tests skipped: ${opened}\n`)

describe.skipIf(typeof opened === 'string')('shader in a page', () => {
  if (typeof opened === 'string') return
  const { browser, page } = opened
  beforeAll(() => page.setDefaultTimeout(20_000))
  afterAll(() => browser.close())

  batchConformance((request) => runInPage(request, (text) => page.evaluate<number[]>(`runBatch(${text})`)))
})
