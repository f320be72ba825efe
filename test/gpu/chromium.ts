/** Headless Chromium for tests: the one of this machine, else the packaged one, with a software driver for WebGPU. */
import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll } from 'vitest'
import { requireJudge } from '../judge.ts'
import { describeWith } from '../needs.ts'
import { NOT_PACKAGED, unpacked } from './packaged.ts'

export type { Browser, Page }

const FLAGS = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  // A host name without https: its pages are not a secure context.
  '--host-resolver-rules=MAP node.example 127.0.0.1',
]
const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** Chromium's executable and its environment. */
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

/**
 * Starts Chromium, in which `node.example` is this machine. @returns the reason if there is no Chromium, or none with
 * WebGPU
 */
export async function launchChromium(): Promise<Browser | string> {
  const found = findBrowser()
  if (found === null) return `no Chromium: ${NOT_PACKAGED}`
  let browser: Browser | null = null
  try {
    const env = { ...process.env, ...found.env } as Record<string, string>
    const { chromium } = requireJudge('playwright-core') as typeof import('playwright-core')
    browser = await chromium.launch({ executablePath: found.executablePath, args: FLAGS, env, timeout: 300_000 })
    const page = await openEmptyPage(browser)
    const isThere = await page.evaluate<boolean>('navigator.gpu?.requestAdapter().then((adapter) => adapter !== null)')
    await page.close()
    if (isThere) return browser
    await browser.close()
    return 'Chromium has no WebGPU adapter here'
  } catch (error) {
    await browser?.close()
    return `Chromium does not start: ${(error as Error).message.split('\n')[0]}`
  }
}

/** A block of tests that share one Chromium, or one skipped test that states the reason. */
export async function describeInChromium(title: string, tests: (browser: Browser) => void): Promise<void> {
  const launched = await launchChromium()
  const lack = typeof launched === 'string' ? `${launched}: npm run judges, or apt-get install chromium` : null
  describeWith(lack, title, () => {
    const browser = launched as Browser
    tests(browser)
    afterAll(() => browser.close())
  })
}

/** An empty page of a secure origin, which WebGPU requires. It loads nothing. */
export async function openEmptyPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage()
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<title>search</title>' }))
  await page.goto('https://localhost/')
  return page
}
