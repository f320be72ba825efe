/** All displays and actions of the developers' page, in headless Chromium. */
import { expect, it } from 'vitest'
import { transfer } from '../../devnet/commands-common.ts'
import { describeInChromium } from '../../gpu/chromium.ts'
import { NETWORK, open, start } from './developers-page.ts'

await describeInChromium('the page at /', (browser) => {
  it("the explorer shows the node's whole report on a block and on a transaction", async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    const command = transfer('sender02', 1)
    await node.post(`${NETWORK}/chain/0/pact/api/v1/send`, { cmds: [command] })
    await node.order('make-blocks', { 0: 1 })
    const { page, text } = await open(browser, node.url)
    await page.click(`#executed [title="${command.hash}"]`)
    await expect.poll(() => text('details-body')).toContain('"status": "success"')
    await page.click('#details-close')
    const { hashes } = await node.get(`${NETWORK}/cut`)
    await page.focus('#braid')
    await page.keyboard.press('ArrowRight')
    expect(await text('pointed')).toContain(`block ${hashes[0].hash.slice(0, 10)}… · chain 0 · height 2`)
    expect(await text('pointed')).toContain('1 transaction')
    await page.keyboard.press('Enter')
    await expect.poll(() => text('details-hash')).toBe(hashes[0].hash)
    await expect.poll(() => text('details-body')).toContain('sender02')
    await page.keyboard.press('Escape')
    await page.focus('#braid')
    await page.keyboard.press('ArrowDown')
    expect(await text('pointed')).toContain(`block ${hashes[1].hash.slice(0, 10)}… · chain 1 · height 1`)
  })

  it('the explorer controls the network: every form performs its action, and shows the same call for a terminal', async () => {
    const node = await start()
    const { page, text } = await open(browser, node.url)
    const done = (order: string) => expect.poll(() => text('answer')).toMatch(new RegExp(`^${order}: done in`))
    const heights = async () => {
      const { hashes } = await node.get(`${NETWORK}/cut`)
      return [hashes[0].height, hashes[1].height]
    }
    await page.fill('#blocks-form [name=count]', '4')
    await page.click('#blocks-form button')
    await done('make-blocks')
    expect(await heights()).toEqual([4, 4])
    await expect.poll(() => text('height')).toBe('4')
    const call = `curl -X POST '${node.url}/devnet/make-blocks' -H 'content-type: application/json' -d '{"0":4,"1":4}'`
    expect(await text('call')).toBe(call)
    await page.selectOption('#blocks-chain', '1')
    await page.fill('#blocks-form [name=count]', '1')
    await page.click('#blocks-form button')
    await expect.poll(heights).toEqual([4, 5])

    await page.click('#paused button >> nth=1')
    await expect.poll(() => text('paused-state')).toBe('paused: 1')
    expect((await node.get('/devnet/status')).paused).toEqual([1])
    await page.click('#blocks-form button')
    await expect.poll(() => text('answer')).toBe('make-blocks: 409 chain 1 would have to grow by 1, but it is paused')
    await page.click('#pause-all')
    await expect.poll(() => text('paused-state')).toBe('paused: 0, 1')
    await page.click('#resume-all')
    await expect.poll(() => text('paused-state')).toBe('all chains are mined')
    expect((await node.get('/devnet/status')).paused).toEqual([])

    await page.click('summary:has-text("Clock")')
    await page.fill('#clock-form input', '7200')
    await page.click('#clock-form button')
    await done('clock')
    expect((await node.get('/devnet/status')).clock.aheadMs).toBeGreaterThanOrEqual(7_200_000)
    await expect.poll(() => text('clock-state')).toContain('2 h ahead of this machine')

    await page.fill('#clock-form input', '3600')
    await page.click('#clock-form button:has-text("Back")')
    await expect.poll(() => text('clock-state')).toContain('1 h ahead of this machine')
    expect((await node.get('/devnet/status')).clock.aheadMs).toBeLessThan(3_700_000)
    await page.fill('#clock-form input', '1e6')
    await page.click('#clock-form button:has-text("Back")')
    await expect.poll(() => text('answer')).toMatch(/^clock: 409 .*back/)

    await page.click('summary:has-text("Difficulty")')
    await page.fill('#difficulty-form input', '4321')
    await page.click('#difficulty-form button')
    await done('difficulty')
    await page.fill('#delay-form input', '2.5')
    await page.click('#delay-form button')
    await done('block-delay')
    const { ruleChanges } = await node.get('/devnet/status')
    expect(ruleChanges).toMatchObject([{ difficulty: '4321' }, { blockDelayMs: 2500 }])

    await page.click('summary:has-text("Faults")')
    await expect.poll(() => page.locator('#faults-operation option').count()).toBeGreaterThan(20)
    await page.selectOption('#faults-operation', 'cut')
    await page.fill('#faults-form [name=count]', '2')
    await page.fill('#faults-form [name=status]', '418')
    await page.click('#faults-form button')
    await done('faults')
    expect((await fetch(`${node.url}${NETWORK}/cut`)).status).toBe(418)
    await expect.poll(() => text('faults')).toContain('1 × 418')
    await page.click('#faults button')
    await expect.poll(() => text('faults-state')).toBe('none is set')
    expect((await fetch(`${node.url}${NETWORK}/cut`)).status).toBe(200)

    expect(await page.isHidden('#impersonation')).toBe(true)
    await node.order('impersonate', { keys: ['*'], on: true })
    await expect.poll(() => text('impersonation')).toBe('Signatures of any key are not checked.')

    await page.click('summary:has-text("Event streams")')
    await page.selectOption('#streams-form select', 'header')
    await page.click('#streams-form [value=stall]')
    await done('streams')
    expect((await node.get('/devnet/status')).streams.stalled).toEqual(['header'])
    await expect.poll(() => text('streams-state')).toContain('stalled: header')
  })

  it('the explorer takes snapshots, and reverts to the selected one', async () => {
    const node = await start()
    const { page, text } = await open(browser, node.url)
    const options = () => page.locator('#revert-snapshot option').allTextContents()
    await page.click('summary:has-text("Snapshots")')
    await expect.poll(() => text('snapshots-state')).toBe('none taken')
    await expect.poll(() => page.isDisabled('#revert-button')).toBe(true)
    // The page does not know the heights of a snapshot that another client took.
    await node.order('snapshot', {})
    await expect.poll(options).toEqual(['snapshot 1'])
    await node.order('make-blocks', { 0: 3, 1: 2 })
    await page.click('#snapshot-form button')
    await expect.poll(() => text('answer')).toMatch(/^snapshot: done in/)
    await expect.poll(options).toEqual(['snapshot 2, at heights 2 to 3', 'snapshot 1'])
    expect(await text('snapshots-state')).toBe('2 taken')
    expect(await text('call')).toContain("/devnet/snapshot' -H 'content-type: application/json' -d '{}'")
    // The newest snapshot is selected until the user selects another.
    expect(await page.inputValue('#revert-snapshot')).toBe('2')
    await page.selectOption('#revert-snapshot', '1')
    await node.order('make-blocks', { 0: 2, 1: 2 })
    await node.order('snapshot', {})
    await expect.poll(options).toEqual(['snapshot 3', 'snapshot 2, at heights 2 to 3', 'snapshot 1'])
    expect(await page.inputValue('#revert-snapshot')).toBe('1')
    await expect.poll(() => text('height')).toBe('4–5')

    await page.selectOption('#revert-snapshot', '2')
    await page.click('#revert-button')
    await expect.poll(() => text('height')).toBe('2–3')
    expect((await node.get('/devnet/status')).heights).toEqual({ 0: 3, 1: 2 })
    await expect.poll(options).toEqual(['snapshot 1'])
    await page.click('#revert-button')
    await expect.poll(() => text('height')).toBe('0')
    await expect.poll(() => text('snapshots-state')).toBe('none taken')
    await expect.poll(() => page.isDisabled('#revert-button')).toBe(true)
  })

  it('the explorer shows a reorg: the lost blocks, and the orphans beside their chain', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 6, 1: 6 })
    const { page, text } = await open(browser, node.url)
    const before = (await node.get(`${NETWORK}/cut`)).hashes[0]
    await page.fill('#fork-form [name=depth]', '2')
    await page.selectOption('#fork-chain', '0')
    await page.click('#fork-form button')
    await expect
      .poll(() => text('reorganisation'))
      .toMatch(/^Reorganisation at \d\d:\d\d:\d\d: chain 0 lost 2 blocks from height 5\b/)
    const after = (await node.get(`${NETWORK}/cut`)).hashes[0]
    expect(after.hash).not.toBe(before.hash)
    await page.focus('#braid')
    await page.keyboard.press('ArrowLeft')
    expect(await text('pointed')).toContain(`block ${after.hash.slice(0, 10)}…`)
    // The lost block lies below the lane of chain 0, so the test scans that line with the mouse.
    const box = await page.locator('#braid').boundingBox()
    const told: string[] = []
    for (let x = (box?.width ?? 0) - 20; x > 300; x -= 12) {
      await page.mouse.move((box?.x ?? 0) + x, (box?.y ?? 0) + 14 + 38 + 32)
      told.push((await text('pointed')) ?? '')
    }
    expect(told.join('\n')).toContain(`orphan ${before.hash.slice(0, 10)}… · chain 0 · height 6`)
  })

  it('the explorer lets browsers elsewhere read, but not change anything', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    const { port } = new URL(node.url)
    const { page, text } = await open(browser, `http://node.example:${port}`)
    await expect.poll(() => text('height')).toBe('1')
    expect(await page.isVisible('#control')).toBe(false)
    expect(await page.isVisible('#requests-section')).toBe(false)
    expect(await page.isVisible('#no-control')).toBe(true)
    const send = `fetch('/devnet/make-blocks', { method: 'POST', body: '{"0":1}', headers: { 'content-type': 'application/json' } })`
    expect(await page.evaluate(`${send}.then(({ status }) => status)`)).toBe(403)
    expect((await node.get(`${NETWORK}/cut`)).height).toBe(2)
  })

  it('the explorer reports that the node is gone, and continues when it is back', async () => {
    const node = await start()
    const { text } = await open(browser, node.url, /ERR_|Failed to load/)
    await expect.poll(() => text('link')).toBe('live')
    await node.close()
    await expect.poll(() => text('link')).toBe('the node does not answer')
    const again = await start({ port: Number(new URL(node.url).port) })
    await again.order('make-blocks', { 0: 2, 1: 2 })
    await expect.poll(() => text('link')).toBe('live')
    await expect.poll(() => text('height')).toBe('2')
  })

  it.each([
    ['pair', 360, 'light'],
    ['pair', 1280, 'dark'],
    ['twenty', 360, 'dark'],
    ['twenty', 1280, 'light'],
  ] as const)('the explorer fits: %s at %i px, %s, without scrolling sideways', async (graph, width, colorScheme) => {
    const node = await start({ graph })
    await node.order('make-blocks', { 0: 8 })
    for (const path of ['/', '/explorer/api']) {
      const { page } = await open(browser, node.url + path, null, { viewport: { width, height: 800 }, colorScheme })
      for (const details of await page.locator('#control > details > summary').all()) await details.click()
      const colours = `new Set(new Uint32Array(braid.getContext('2d').getImageData(0, 0, braid.width, braid.height).data.buffer)).size`
      // The page is complete once its last part is visible.
      if (path === '/') await expect.poll(() => page.evaluate(colours)).toBeGreaterThan(30)
      else await expect.poll(() => page.locator('.operation').count()).toBeGreaterThan(0)
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toEqual(width)
    }
  })

  it("the explorer tries calls: sends the form's request, and shows the answer", async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 2, 1: 1 })
    const { page } = await open(browser, `${node.url}/explorer/api#makeBlocks`)
    const row = page.locator('#makeBlocks')
    await expect.poll(() => row.locator('textarea').inputValue()).toBe('{\n  "0": 1\n}')
    await row.locator('textarea').fill('{"1":2}')
    await row.locator('button').click()
    await expect.poll(() => row.locator('.told').textContent()).toMatch(/^200 OK · application\/json/)
    const shown = JSON.parse((await row.locator('pre').textContent()) ?? '')
    const { hashes } = await node.get(`${NETWORK}/cut`)
    expect(shown.heights).toEqual({ 0: hashes[0].height, 1: hashes[1].height })

    await page.fill('#filter', 'one header')
    expect(await page.locator('.operation:visible').count()).toBe(1)
    await page.click('#header > summary')
    await page.click('#header button')
    await expect.poll(() => page.locator('#header .told').textContent()).toMatch(/^200 OK/)

    await page.fill('#filter', 'headerUpdates')
    await page.click('#headerUpdates > summary')
    await page.click('#headerUpdates button')
    await expect.poll(() => page.locator('#headerUpdates .told').textContent()).toMatch(/^200 OK · text\/event/)
    await node.order('make-blocks', { 0: 1 })
    await expect.poll(() => page.locator('#headerUpdates pre').textContent()).toContain('event:BlockHeader')
    await page.click('#headerUpdates button')
    await expect.poll(() => page.locator('#headerUpdates .told').textContent()).toBe('stopped')
  })
})
