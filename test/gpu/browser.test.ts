/** The same shader in a page: another host, another copy of the compiler, the same nonces. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { batchConformance } from '../conformance/gpu.ts'
import { launchChromium, openEmptyPage } from './chromium.ts'
import { runInPage } from './page-request.ts'

const script = readFileSync(new URL('./page.js', import.meta.url), 'utf8')

const launched = await launchChromium()
if (typeof launched === 'string') process.stderr.write(`browser tests skipped: ${launched}\n`)

describe.skipIf(typeof launched === 'string')('shader in a page', () => {
  if (typeof launched === 'string') return
  const browser = launched
  let page: Page
  beforeAll(async () => {
    page = await openEmptyPage(browser)
    page.setDefaultTimeout(20_000)
    await page.addScriptTag({ content: script })
  })
  afterAll(() => browser.close())

  batchConformance((request) => runInPage(request, (text) => page.evaluate<number[]>(`runBatch(${text})`)))
})
