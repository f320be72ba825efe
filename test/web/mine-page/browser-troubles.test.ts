/** The page at /mine in headless Chromium: accounts, nodes, and failures of the browser and its GPU. */
import { afterEach, expect, it } from 'vitest'
import { start, stopAll } from '../../cli/run.ts'
import { describeInChromium } from '../../gpu/chromium.ts'
import { KEY, minersOf, OTHER_KEY, open, order, startNode } from './mining-page.ts'

/** Code that keeps the GPU device of the page, so that a test can destroy it. */
const KEEP_DEVICE = `const request = GPUAdapter.prototype.requestDevice
  GPUAdapter.prototype.requestDevice = async function (...options) {
    return (globalThis.opened = await request.apply(this, options))
  }`

await describeInChromium('the page at /mine', (browser) => {
  afterEach(stopAll)

  it("the mining page mines for the command's account unless the visitor enters another, and refuses an invalid one", async () => {
    const devnet = await startNode({ difficulty: 1000n })
    const { page, text } = await open(browser, devnet.url)
    await expect.poll(() => page.inputValue('#account')).toBe(`k:${KEY}`)
    await page.fill('#account', 'k:12')
    await page.click('#button')
    await expect.poll(() => text('account-note')).toMatch(/^Not an account: enter k: and 64 lower-case hex digits$/)
    expect(await text('button')).toBe('Start again')
    await page.fill('#account', '')
    await page.click('#button')
    await expect.poll(async () => Number(await text('accepted'))).toBeGreaterThan(0)
    expect(new Set(await minersOf(devnet))).toEqual(new Set([`k:${KEY}`]))
  })

  it('the mining page lists the accounts of the network and those it has mined for, and mines for one by its name', async () => {
    const devnet = await startNode({ difficulty: 1000n })
    const { page, text } = await open(browser, devnet.url)
    const listed = async () =>
      (await page.locator('#known-accounts option').all()).map((each) => each.getAttribute('value'))
    const names = async () => Promise.all(await listed())
    const senders = Array.from({ length: 10 }, (_, i) => `sender0${i}`)
    await expect.poll(names).toEqual([`k:${KEY}`, ...senders])
    expect(await page.getAttribute('#account', 'list')).toBe('known-accounts')
    await page.fill('#account', 'sender03')
    await page.click('#button')
    await expect.poll(async () => Number(await text('accepted'))).toBeGreaterThan(0)
    expect(await text('status')).toBe('Mining for sender03.')
    expect(new Set(await minersOf(devnet))).toEqual(new Set(['sender03']))
    await page.evaluate(`localStorage.setItem('newcut.accounts', JSON.stringify(['k:${OTHER_KEY}', 3, 'sender03']))`)
    await page.reload()
    await expect
      .poll(names)
      .toEqual([`k:${KEY}`, `k:${OTHER_KEY}`, 'sender03', ...senders.filter((name) => name !== 'sender03')])
    // Something else may have written there.
    await page.evaluate(`localStorage.setItem('newcut.accounts', '{')`)
    await page.reload()
    await expect.poll(names).toEqual([`k:${KEY}`, ...senders])
  })

  it('the mining page drops work whose chain has advanced', async () => {
    const devnet = await startNode({ difficulty: 10n ** 15n })
    const { page, text } = await open(browser, devnet.url)
    const streams: string[] = []
    page.on('response', (response) => streams.push(response.url()))
    await page.click('#button')
    await expect.poll(() => text('status')).toMatch(/^Mining for/)
    // The page opens the stream of a chain after it has searched its work for a while. The stream reports earlier
    // changes too.
    const chain = Number(await text('chain'))
    await order(devnet, 'pause', { chain })
    await expect.poll(async () => Number(await text('chain'))).not.toBe(chain)
    const next = Number(await text('chain'))
    await expect.poll(() => streams).toContainEqual(expect.stringMatching(`/mine/updates\\?chain=${next}$`))
    await order(devnet, 'pause', { chain: next })
    await expect.poll(async () => Number(await text('chain'))).not.toBe(next)
  })

  it('the mining page retries while the node is gone, says so, and continues when it is back', async () => {
    const first = await startNode({ difficulty: 200_000n })
    const { page, text } = await open(browser, first.url)
    await page.click('#button')
    await expect.poll(async () => Number(await text('accepted'))).toBeGreaterThan(0)
    await first.close()
    await expect.poll(() => text('status')).toMatch(/^No work: the node does not answer. Retrying in \d+ s/)
    expect(await text('button')).toBe('Stop')
    const second = await startNode({ difficulty: 200_000n, port: Number(new URL(first.url).port) })
    await expect.poll(() => text('status')).toMatch(/^Mining for/)
    await expect.poll(async () => (await minersOf(second)).length).toBeGreaterThan(0)
  })

  it('the mining page searches the same work again if the node gave no other and no block came of its solution', async () => {
    const devnet = await startNode({ difficulty: 1_000_000n })
    await order(devnet, 'faults', { operation: 'solved', count: 1000, status: 400 })
    const { page, text } = await open(browser, devnet.url)
    await page.click('#button')
    await expect.poll(() => text('status')).toMatch(/^Mining for/)
    await order(devnet, 'faults', { operation: 'work', count: 1000, status: 503 })
    await expect.poll(async () => Number(await text('failed'))).toBeGreaterThan(0)
    await order(devnet, 'faults', { operation: 'solved', count: 0 })
    await order(devnet, 'faults', { operation: 'work', count: 0 })
    await expect.poll(async () => Number(await text('accepted'))).toBeGreaterThan(0)
  })

  it('the mining page says that the node refuses an account', async () => {
    const other = { account: 'k:other', predicate: 'keys-all', publicKeys: ['other'] }
    const devnet = await startNode({ accounts: [other] })
    const { page, text } = await open(browser, devnet.url)
    await page.click('#button')
    await expect.poll(() => text('status')).toBe(`The node refused: Unauthorized Miner: k:${KEY}.`)
    expect(await text('advice')).toBe('This node mines only for certain accounts. Enter one of them.')
    expect(await text('button')).toBe('Start again')
  })

  it('the mining page keeps asking while the node has no work, and says why', async () => {
    const devnet = await startNode({ difficulty: 1000n })
    await order(devnet, 'faults', { operation: 'work', count: 1000, status: 503 })
    const { page, text } = await open(browser, devnet.url)
    await page.click('#button')
    await expect.poll(() => text('status')).toMatch(/^No work: .+ Retrying in \d+ s\.$/)
    await order(devnet, 'faults', { operation: 'work', count: 0 })
    await expect.poll(async () => Number(await text('accepted'))).toBeGreaterThan(0)
  })

  it('the mining page says that a GPU cannot search the work of a small network', async () => {
    const devnet = await startNode({ graph: 'pair' })
    const { page, text } = await open(browser, devnet.url)
    await page.click('#button')
    await expect.poll(() => text('status')).toBe('Work of this network has 214 bytes, but this page supports only 286.')
  })

  it('the mining page reports a lost device, and starts again', async () => {
    const devnet = await startNode({ difficulty: 100_000n })
    const { page, text } = await open(browser, devnet.url, { script: KEEP_DEVICE })
    await page.click('#button')
    await expect.poll(() => text('status')).toMatch(/^Mining for/)
    await page.evaluate('opened.destroy()')
    await expect.poll(() => text('status')).toMatch(/^The graphics card was lost/)
    expect(await text('button')).toBe('Start again')
    const before = Number(await text('accepted'))
    await page.click('#button')
    await expect.poll(async () => Number(await text('accepted'))).toBeGreaterThan(before)
  })

  it('the mining page stays ended after the device is lost, though an answer with other work arrives later', async () => {
    const devnet = await startNode({ difficulty: 100_000n })
    const { page, text } = await open(browser, devnet.url, { script: KEEP_DEVICE })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.click('#button')
    await expect.poll(() => text('status')).toMatch(/^Mining for/)
    let goOn: () => void = () => undefined
    const mayAnswer = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const held: Promise<void>[] = []
    await page.route('**/mine/work*', (route) => {
      const answer = async () => {
        const response = await route.fetch()
        await mayAnswer
        await route.fulfill({ response })
      }
      // The page may have aborted the request.
      held.push(answer().catch(() => undefined))
    })
    asked.length = 0
    await expect.poll(() => asked.filter((url) => /\/mine\/work/.test(url))).not.toEqual([])
    await page.evaluate('opened.destroy()')
    await expect.poll(() => text('status')).toMatch(/^The graphics card was lost/)
    asked.length = 0
    goOn()
    await Promise.all(held)
    // A later request of the page still gets its answer.
    for (let i = 0; i < 3; i++) await page.evaluate("fetch('/info').then((answer) => answer.text())")
    expect(await text('status')).toMatch(/^The graphics card was lost/)
    expect(await text('button')).toBe('Start again')
    expect(asked.filter((url) => /\/mine\/(work|updates)/.test(url))).toEqual([])
  })

  it('the mining page does not mine with a device that computes wrongly', async () => {
    const devnet = await startNode({ difficulty: 1000n })
    const { page, text } = await open(browser, devnet.url)
    // All trips but the first try wrong nonces.
    await page.route('**/search.wgsl', async (route) => {
      const shader = await (await route.fetch()).text()
      await route.fulfill({ body: shader.replace('m5 += params.step;', 'm5 += params.step + 1u;') })
    })
    await page.click('#button')
    await expect.poll(() => text('status')).toMatch(/^The self-test failed: the device hashes wrongly/)
    expect(await minersOf(devnet)).toEqual([])
  })

  it('the mining page says what to do if the browser has no WebGPU, or the page was loaded insecurely', async () => {
    const devnet = await startNode()
    const without = await open(browser, devnet.url, { script: 'delete Navigator.prototype.gpu' })
    await expect.poll(() => without.text('status')).toBe('This browser has no WebGPU.')
    expect(await without.text('advice')).toMatch(/Chrome, Edge .* Safari .* Firefox/)
    expect(await without.page.isDisabled('#button')).toBe(true)
    const { port } = new URL(devnet.url)
    const { text } = await open(browser, `http://node.example:${port}`)
    await expect.poll(() => text('status')).toMatch(/^This page was not loaded securely/)
  })

  it('the mining page says that there is no graphics card', async () => {
    const devnet = await startNode()
    const none = 'GPU.prototype.requestAdapter = async () => null'
    const { page, text } = await open(browser, devnet.url, { script: none })
    await page.click('#button')
    await expect.poll(() => text('status')).toMatch(/found no graphics card/)
  })

  it('the mining page is served by newcut mine too, for the node that it mines for', async () => {
    const miner = start(['mine', '--difficulty', '100k', '--http', '127.0.0.1:0', '--threads', '1', '--gpu', 'none'])
    const [, url] = await miner.sees(/^mine in a browser: (http:\/\/127\.0\.0\.1:\d+)\/mine$/m)
    const { page, text } = await open(browser, url)
    await page.click('#button')
    await expect.poll(async () => Number(await text('accepted'))).toBeGreaterThan(0)
    miner.child.kill('SIGTERM')
    expect(await miner.ended).toMatchObject({ code: 0, err: '' })
  })
})
