/** The page at /mine in headless Chromium, on a software driver, against an embedded node over HTTP. */
import { expect, it } from 'vitest'
import { describeInChromium } from '../../gpu/chromium.ts'
import { minersOf, OTHER_KEY, open, order, startNode } from './mining-page.ts'

await describeInChromium('the page at /mine', (browser) => {
  it('the mining page mines with the GPU of its visitor, for the account that the visitor enters, until it is stopped', async () => {
    const devnet = await startNode({ difficulty: 100_000n })
    const { page, text } = await open(browser, devnet.url)
    await expect.poll(() => text('network')).toBe('development · 20 chains')
    await page.fill('#account', `k:${OTHER_KEY}`)
    await page.click('#button')
    await expect.poll(async () => Number(await text('accepted'))).toBeGreaterThanOrEqual(2)
    await expect.poll(async () => Number.parseFloat(await text('rate'))).toBeGreaterThan(0)
    expect(await text('unit')).toMatch(/^[kM]?H\/s$/)
    expect(await text('status')).toBe('Mining for k:efefefef…efefef.')
    expect(await text('gpu')).toMatch(/swiftshader/i)
    expect(await text('advice')).toMatch(/software driver/)
    expect(await page.locator('#list li[data-verdict=accepted]').count()).toBeGreaterThanOrEqual(2)

    await page.click('#button')
    expect(await text('status')).toMatch(/^Stopped/)
    await expect.poll(() => text('rate')).toBe('0')
    // A solution in flight at the stop is still accepted.
    const unheard = async () => (await minersOf(devnet)).length - Number(await text('accepted'))
    await expect.poll(unheard).toBe(0)
    // Mining has stopped: all blocks are the page's, and their number stays.
    const miners = await minersOf(devnet)
    expect(new Set(miners)).toEqual(new Set([`k:${OTHER_KEY}`]))
    // Making a block elsewhere takes as long as a block of the page did.
    await order(devnet, 'make-blocks', { 0: 1 })
    const later = await minersOf(devnet)
    expect(later.filter((miner) => miner === `k:${OTHER_KEY}`)).toHaveLength(miners.length)
    expect(later.length).toBeGreaterThan(miners.length)
    expect(Number(await text('failed'))).toBe(0)
  })
})
