/** The developers' page in a browser, and its embedded node. */
import type { Browser, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { type Devnet, startDevnet } from '../../../src/compose/devnet.ts'
import type { DevnetOptions } from '../../../src/devnet/options/devnet-options.ts'
import { exec } from '../../devnet/commands-common.ts'

export const NETWORK = '/chainweb/0.0/development'

type Node = Pick<Devnet, 'url' | 'close'> & {
  get: (path: string) => Promise<ReturnType<typeof JSON.parse>>
  post: (path: string, body: unknown) => Promise<ReturnType<typeof JSON.parse>>
  order: (name: string, body: unknown) => Promise<void>
  balance: (account: string, chain: number) => Promise<number>
}

export async function start(options: DevnetOptions = {}): Promise<Node> {
  const devnet = await startDevnet({ port: 0, graph: 'pair', autoMine: { kind: 'on-demand' }, ...options })
  let closed: Promise<void> | null = null
  const close = () => {
    closed ??= devnet.close()
    return closed
  }
  onTestFinished(close)
  const { url } = devnet
  const get = async (path: string) => (await fetch(url + path)).json()
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    return JSON.parse(text)
  }
  const order = async (name: string, body: unknown) => void (await post(`/devnet/${name}`, body))
  const balance = async (account: string, chain: number) => {
    const command = exec(`(coin.get-balance "${account}")`, { chainId: String(chain) })
    return (await post(`${NETWORK}/chain/${chain}/pact/api/v1/local`, command)).result.data
  }
  return { url, close, get, post, order, balance }
}

/** Opens the page. Any error in it fails the test, except `expected`. */
export async function open(
  browser: Browser,
  url: string,
  expected: RegExp | null = null,
  options: Parameters<Browser['newPage']>[0] = { viewport: { width: 1280, height: 900 } },
): Promise<{ page: Page; text: (id: string) => Promise<string | null> }> {
  const page = await browser.newPage(options)
  // Only the timeout of the test applies.
  page.setDefaultTimeout(0)
  const problems: string[] = []
  const note = (text: string) => {
    if (expected?.test(text) !== true) problems.push(text)
  }
  page.on('pageerror', (error) => note(String(error)))
  page.on('console', (message) => {
    // The browser also logs refusals that the test provokes.
    if (message.type() === 'error' && !/status of 40[39]/.test(message.text())) note(message.text())
  })
  onTestFinished(async () => {
    await page.close()
    expect(problems).toEqual([])
  })
  await page.goto(url)
  return { page, text: (id) => page.locator(`#${id}`).textContent() }
}

export function titles(page: Page, selector: string): Promise<string[]> {
  return page.locator(selector).evaluateAll((found) => found.map((each) => each.getAttribute('title') ?? ''))
}
