/** The same shader in a page: another host, another copy of the compiler, the same nonces. */
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { batchConformance } from '../conformance/gpu.ts'
import { NOT_PACKAGED, unpacked } from './packaged.ts'
import { runInPage } from './page-request.ts'

const script = readFileSync(new URL('./page.js', import.meta.url), 'utf8')
const FLAGS = ['--no-sandbox', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader']
const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** Chromium's command and what it needs around it: the one of this machine, else the packaged one. */
function findBrowser(): { executablePath: string; env: Record<string, string> } | null {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))
  const own = paths.find((path) => existsSync(path))
  if (own !== undefined) return { executablePath: own, env: {} }
  const [folder, driver, libraries] = ['chromium.br', 'swiftshader.tar.br', 'al2023.tar.br'].map(unpacked)
  if (folder == null || driver == null) return null
  // Chromium looks for its software driver beside itself.
  for (const file of readdirSync(driver)) {
    if (!existsSync(join(folder, file))) symlinkSync(join(driver, file), join(folder, file))
  }
  const path = [folder, `${libraries}/lib`, process.env.LD_LIBRARY_PATH].filter((part) => part).join(':')
  return { executablePath: join(folder, 'chromium'), env: { LD_LIBRARY_PATH: path } }
}

/** A page with an adapter, or why there is none. */
async function openPage(): Promise<{ browser: Browser; page: Page } | string> {
  const found = findBrowser()
  if (found === null) return `no Chromium: ${NOT_PACKAGED}`
  let browser: Browser | null = null
  try {
    const env = { ...process.env, ...found.env } as Record<string, string>
    browser = await chromium.launch({ executablePath: found.executablePath, args: FLAGS, env, timeout: 20_000 })
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
    await browser?.close()
    return `Chromium does not start: ${(error as Error).message.split('\n')[0]}`
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
