/** The shader in a web page: another host and another build of the compiler find the same nonces. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { batchConformance } from '../conformance/gpu.ts'
import { describeWith } from '../needs.ts'
import { launchChromium, openEmptyPage } from './chromium.ts'
import { runInPage } from './page-request.ts'

const script = readFileSync(new URL('./page.js', import.meta.url), 'utf8')

const launched = await launchChromium()

describeWith(typeof launched === 'string' ? launched : null, 'shader in a page', () => {
  if (typeof launched === 'string') return
  const browser = launched
  let page: Page
  beforeAll(async () => {
    page = await openEmptyPage(browser)
    page.setDefaultTimeout(0)
    await page.addScriptTag({ content: script })
  })
  afterAll(() => browser.close())

  batchConformance((request) => runInPage(request, (text) => page.evaluate<number[]>(`runBatch(${text})`)))
})
