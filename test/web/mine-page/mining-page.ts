/** The page at /mine in a browser, and the embedded node that it mines for. */
import type { Browser, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { NodeClient } from '../../../src/client/node/client.ts'
import type { Devnet } from '../../../src/compose/devnet.ts'
import { startDevnetWithPage } from '../../../src/compose/devnet-page.ts'
import type { DevnetOptions } from '../../../src/devnet/options/devnet-options.ts'

export const KEY = 'cd'.repeat(32)
export const OTHER_KEY = 'ef'.repeat(32)
const account = { account: `k:${KEY}`, predicate: 'keys-all', publicKeys: [KEY] }

export async function startNode(options: DevnetOptions = {}): Promise<Devnet> {
  const devnet = await startDevnetWithPage({ port: 0, ...options }, account)
  let closed: Promise<void> | null = null
  const close = () => {
    closed ??= devnet.close()
    return closed
  }
  onTestFinished(close)
  return Object.assign(Object.create(devnet) as Devnet, { close, url: devnet.url })
}

/** Opens a page and reports all its errors. @param script runs before the page's own scripts */
export async function open(browser: Browser, url: string, { script = '' } = {}) {
  const page: Page = await browser.newPage()
  // Only the timeout of the test applies.
  page.setDefaultTimeout(0)
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  // The content security policy of the page blocked the page itself.
  page.on('console', (message) => {
    if (/Content Security Policy|Failed to load module/.test(message.text())) errors.push(message.text())
  })
  onTestFinished(async () => {
    await page.close()
    expect(errors).toEqual([])
  })
  if (script !== '') await page.addInitScript(script)
  await page.goto(`${url}/mine`)
  const text = async (id: string) => ((await page.textContent(`#${id}`)) ?? '').trim()
  return { page, text }
}

/** The accounts of the miners of all blocks, from the node's API. */
export async function minersOf({ url }: Devnet): Promise<string[]> {
  const client = await NodeClient.connect({ url })
  try {
    const miners: string[] = []
    for (let chain = 0; chain < client.info.nodeChains.length; chain++) {
      for await (const { height, payloadHash } of client.headers(chain, { minheight: 1 }).items()) {
        const { minerData } = await client.payload(chain, payloadHash, { height: Number(height) })
        miners.push(JSON.parse(Buffer.from(minerData, 'base64url').toString()).account)
      }
    }
    return miners
  } finally {
    await client.close()
  }
}

export async function order({ url }: Devnet, name: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const { ok, status } = await fetch(`${url}/devnet/${name}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!ok) throw new Error(`${name}: ${status}`)
}
