/** The developers' page in headless Chromium, against an embedded node over HTTP. */
import { expect, it } from 'vitest'
import { exec, transfer } from '../../devnet/commands-common.ts'
import { describeInChromium } from '../../gpu/chromium.ts'
import { NETWORK, open, start, titles } from './developers-page.ts'

await describeInChromium('the page at /', (browser) => {
  it('the explorer shows heights, balances, the mempool, results and requests as the interface reports them', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 3, 1: 3 })
    const { page, text } = await open(browser, node.url)
    await expect.poll(() => text('height')).toBe('3')
    await expect.poll(() => text('mode')).toBe('development · 2 chains · blocks by POST /make-blocks')
    const [good, bad] = [transfer('sender04', 2.25), exec('(coin.transfer "sender00" "nobody" 1.0)')]
    await node.post(`${NETWORK}/chain/0/pact/api/v1/send`, { cmds: [good, bad] })
    await expect.poll(() => text('pending')).toBe('2')
    expect(await titles(page, '#pool button')).toEqual([bad.hash, good.hash])
    expect(await text('pool-chains')).toBe('chain 0: 2')

    await node.order('make-blocks', { 0: 1 })
    await expect.poll(() => text('pending')).toBe('0')
    expect(await page.locator('#pool li').count()).toBe(0)
    const results = await node.post(`${NETWORK}/chain/0/pact/api/v1/poll`, { requestKeys: [good.hash, bad.hash] })
    for (const { hash } of [good, bad]) {
      const { result, gas, metaData } = results[hash]
      const row = page.locator('#executed li', { has: page.locator(`[title="${hash}"]`) })
      expect(await row.locator('.outcome').textContent()).toBe(result.status)
      expect(await row.locator('.where').textContent()).toBe(`chain 0 · height ${metaData.blockHeight}`)
      expect(await row.locator('.note').textContent()).toBe(`sender00 · ${gas} gas`)
      if (result.error) expect(await row.locator('.fault').textContent()).toBe(result.error.message)
    }
    const { hashes } = await node.get(`${NETWORK}/cut`)
    expect(await text('height')).toBe(`${hashes[1].height}–${hashes[0].height}`)

    for (const account of ['sender00', 'sender04']) {
      const row = page.locator('#accounts > li', { has: page.locator(`.name[title="${account}"]`) })
      await row.locator('summary').click()
      const shown = await row.locator('.balances .coins').allTextContents()
      const balances = await Promise.all([0, 1].map((chain) => node.balance(account, chain)))
      expect(shown.map((each) => Number(each.replaceAll(',', '')))).toEqual(balances)
    }
    await fetch(`${node.url}/no/such/path`)
    const first = page.locator('#requests tr').first()
    await expect.poll(() => first.locator('.path').getAttribute('title')).toBe('/no/such/path')
    expect(await first.locator('td').allTextContents()).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d$/),
      'GET',
      '/no/such/path',
      '404',
      expect.stringMatching(/^\d+(\.\d)? (ms|s)$/),
    ])
    expect(
      (await titles(page, '#requests .path')).filter((path) => /^\/(explorer|devnet\/(live|view))/.test(path)),
    ).toEqual([])
  })
})
