/** The pages of transactions, events and contracts, in headless Chromium. */
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { transfer } from '../../devnet/commands-common.ts'
import { describeInChromium } from '../../gpu/chromium.ts'
import { command, deploy, HOSTILE, mined, placed } from './contract.ts'
import { NETWORK, open, start, titles } from './developers-page.ts'
import { leaving, mine } from './pact-scenes.ts'

const texts = (page: Page, selector: string) => page.locator(selector).allTextContents()

/** Fails if a text of a contract became an element or ran. */
async function expectEscaped(page: Page): Promise<void> {
  expect(await page.locator('img[src="x"], main b:text-is("bold"), dialog b:text-is("bold")').count()).toBe(0)
  expect(await page.title()).not.toBe('pwned')
}

await describeInChromium('the pages of a development network', (browser) => {
  it('the transactions page lists all transactions, whatever empty blocks lie between, and new ones as they come', async () => {
    const node = await start()
    const sent: string[] = []
    for (let round = 0; round < 4; round++) {
      const commands = Array.from({ length: 16 }, (_, i) => transfer('sender01', 1 + 16 * round + i))
      await mined(node, ...commands)
      sent.push(...commands.map(({ hash }) => hash))
      await node.order('make-blocks', { 0: 40, 1: 40 })
    }
    const { page, text } = await open(browser, `${node.url}/explorer/transactions`)
    await expect.poll(() => page.locator('#transactions li').count()).toBe(50)
    await expect.poll(() => text('told')).toMatch(/^50 transactions, back to /)
    const again = transfer('sender01', 100)
    await mined(node, again)
    await expect.poll(() => titles(page, '#transactions li:first-child a.hash')).toEqual([again.hash])
    await page.click('#more')
    await expect.poll(() => text('told')).toBe('65 transactions: these are all')
    const listed = await titles(page, '#transactions a.hash')
    expect(listed.toSorted()).toEqual([...sent, again.hash].toSorted())
    expect(await page.isVisible('#more')).toBe(false)
    await page.selectOption('#chain', '1')
    await expect.poll(() => text('told')).toBe('No transaction yet.')
    expect(page.url()).toContain('#chain=1')
  })

  it('the transaction page opens a failed transaction at the deepest step of its error, in a tree for the keyboard', async () => {
    const node = await start()
    await deploy(node)
    const bad = command(`(free.shelf.outer ${JSON.stringify(HOSTILE)})`)
    await mined(node, bad)
    const traced = await node.post('/devnet/trace', { requestKey: bad.hash })
    const { page, text } = await open(browser, `${node.url}/explorer/transaction#${bad.hash}`)
    await expect.poll(() => text('outcome')).toBe('failure')
    await expect.poll(() => text('result')).toContain(HOSTILE)
    expect(await text('gas')).toBe('100,000')
    const deepest = page.locator('.step[data-deepest]')
    await expect.poll(() => deepest.count()).toBe(1)
    expect(await deepest.locator('b').textContent()).toBe('free.shelf.inner')
    expect(await deepest.locator('.error').textContent()).toBe(`✗ ${HOSTILE}`)
    expect(await page.evaluate('document.activeElement.dataset.deepest')).toBe('true')
    // All steps above it are marked and unfolded, and the whole tree adds up.
    expect(await texts(page, '.step[data-failed] b')).toEqual([
      'transaction',
      'code',
      'free.shelf.outer',
      'free.shelf.inner',
    ])
    expect(await page.locator('.trace .step').first().locator('.total').textContent()).toBe('100,000.000')
    await page.click('#unfold')
    expect(await page.locator('.trace .step').count()).toBe(traced.nodes)
    const own = await texts(page, '.trace .own')
    const sum = own.reduce((gas, each) => gas + Math.round(1000 * Number(each.replaceAll(',', ''))), 0)
    expect(sum).toBe(traced.gas * 1000)
    await expectEscaped(page)

    const focused = () => page.evaluate<string>('document.activeElement.querySelector("b").textContent')
    const level = () => page.evaluate<string>('document.activeElement.ariaLevel')
    await page.click('#fold')
    await page.locator('.trace .step').first().focus()
    const count = await page.locator('.trace .step').count()
    await page.keyboard.press('ArrowRight')
    expect(await focused()).toBe('buy gas')
    expect(await level()).toBe('2')
    await page.keyboard.press('ArrowRight')
    expect(await page.locator('.trace .step').count()).toBeGreaterThan(count)
    await page.keyboard.press('ArrowRight')
    expect(await focused()).toBe('coin.buy-gas')
    expect(await level()).toBe('3')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    expect(await page.locator('.trace .step').count()).toBe(count)
    await page.keyboard.press('End')
    expect(await focused()).toBe('redeem gas')
    await page.keyboard.press('ArrowUp')
    expect(await focused()).toBe('rest of the gas limit')
    await page.keyboard.press('Home')
    expect(await focused()).toBe('transaction')
    await page.keyboard.press('Enter')
    expect(await page.locator('.trace .step').count()).toBe(1)
    await page.keyboard.press(' ')
    expect(await page.locator('.trace .step').count()).toBe(count)
    await page.click('#next-error')
    expect(await page.evaluate('document.activeElement.dataset.failed')).toBe('true')
  })

  it('the transaction page opens the code, folds the gas around it, and shows keys and keysets briefly', async () => {
    const node = await start()
    const paid = transfer('sender01', 1)
    await mined(node, paid)
    const { page } = await open(browser, `${node.url}/explorer/transaction#${paid.hash}`)
    const step = (name: string) => page.locator('.trace .step', { has: page.locator(`b:text-is("${name}")`) })
    await expect.poll(() => step('coin.credit').count()).toBe(1)
    const isOpen = (name: string) => step(name).getAttribute('aria-expanded')
    expect([await isOpen('buy gas'), await isOpen('code'), await isOpen('redeem gas')]).toEqual([
      'false',
      'true',
      'false',
    ])
    const all = async () => (await texts(page, '.trace .what')).join('\n')
    expect(await all()).toContain('"guard": KeySet#1}')
    expect(await all()).not.toMatch(/[0-9a-f]{64}/)
    const keysets = await texts(page, '.keysets li')
    expect(keysets[0]).toMatch(/^KeySet#1 \{keys: \[[0-9a-f]{64}\],pred: keys-all\}$/)
    expect(await page.locator('.keysets summary').textContent()).toBe(`${keysets.length} keysets`)
    await page.click('#whole-values')
    expect(await all()).toMatch(/"guard": KeySet \{keys: \[[0-9a-f]{64}\],pred: keys-all\}\}/)
    expect(await page.getAttribute('#whole-values', 'aria-pressed')).toBe('true')
    await page.click('#whole-values')
    expect(await all()).toContain('"guard": KeySet#1}')
    await step('buy gas').click()
    expect(await step('coin.buy-gas').count()).toBe(1)
  })

  it('the transaction page links a step to its line of the code of the module, and of the command', async () => {
    const node = await start()
    await deploy(node)
    const bad = command('(+ 1 1)\n\n(free.shelf.outer "no")')
    await mined(node, bad)
    const { page, text } = await open(browser, `${node.url}/explorer/transaction?requestKey=${bad.hash}`)
    await expect.poll(() => text('result')).toBe('no (in free.shelf.inner, line 20)')
    const step = page.locator('.step', { has: page.locator('b:text-is("free.shelf.outer")') })
    await step.locator('button.link').click()
    expect(await texts(page, '#code .line[aria-current]')).toEqual(['(free.shelf.outer "no")'])
    await page.locator('.step[data-deepest] a').click()
    await expect.poll(() => texts(page, '#code .line[aria-current]')).toEqual(['    (enforce false text))'])
    expect(await text('name')).toBe('free.shelf')
    expect(await text('version')).toBe('')
    // Another version of the module is said to be another one.
    await page.goto(page.url().replace(/hash=[^&]+/, 'hash=other'))
    await expect.poll(() => text('version')).toContain('The trace ran version other.')
  })

  it('the transaction page follows a transaction from the mempool into its block, and into an orphan', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    const sent = transfer('sender01', 1)
    const { page, text } = await open(browser, `${node.url}/explorer/transaction`, /status of 404/)
    await expect.poll(() => text('trouble')).toContain('Enter a request key')
    await page.fill('#wanted', sent.hash)
    await page.click('#find-form button')
    await expect
      .poll(() => text('trouble'))
      .toContain(`no block and no mempool of this network has a transaction ${sent.hash}`)
    await node.post(`${NETWORK}/chain/0/pact/api/v1/send`, { cmds: [sent] })
    await expect.poll(() => text('outcome')).toBe('pending')
    expect(await text('places')).toBe('waits in the mempool of chain 0 for a block')
    expect(await text('trace')).toBe('A transaction has a trace once it is in a block.')
    await node.order('make-blocks', { 0: 1 })
    await expect.poll(() => text('outcome')).toBe('success')
    expect(await texts(page, '#signers .scopes code')).toEqual([
      '(coin.GAS)',
      '(coin.TRANSFER "sender00" "sender01" 1.0)',
    ])
    expect(await texts(page, '#events .event-name')).toEqual(['coin.TRANSFER', 'coin.TRANSFER'])
    await node.order('fork', { chain: 0, depth: 1 })
    await expect.poll(() => text('places')).toContain('orphaned')
  })

  it('the events page lists events by name, follows new blocks, and drops those of a lost block', async () => {
    const node = await start()
    await deploy(node)
    await mined(node, placed('a'), placed(HOSTILE))
    const { page, text } = await open(browser, `${node.url}/explorer/events`, /status of 400/)
    await expect.poll(() => page.locator('#events li').count()).toBe(5)
    await page.fill('#name', 'free.shelf.PLACED')
    await expect.poll(() => texts(page, '#events .event-name')).toEqual(Array(2).fill('free.shelf.PLACED'))
    expect((await texts(page, '#events .params')).toSorted()).toEqual(
      ['"a" 2.5', `${JSON.stringify(HOSTILE)} 2.5`].toSorted(),
    )
    await expectEscaped(page)
    expect(page.url()).toContain('#name=free.shelf.PLACED')
    await mined(node, placed('b'))
    await expect.poll(() => texts(page, '#events li:first-child .params')).toEqual(['"b" 2.5'])
    expect(await text('told')).toBe('3 events: these are all')
    await page.uncheck('#follow')
    await mined(node, placed('c'))
    await page.check('#follow')
    await expect.poll(() => page.locator('#events li').count()).toBe(4)
    // Paused: the lost transactions stay in the mempool.
    await node.order('pause', { chain: 1 })
    const before = await titles(page, '#events a.hash')
    await page.selectOption('#chain', '1')
    await expect.poll(() => text('told')).toBe('No event yet.')
    await page.selectOption('#chain', '0')
    await expect.poll(() => titles(page, '#events a.hash')).toEqual(before)
    await page.fill('#name', 'a.b.c.d')
    await expect.poll(() => text('told')).toContain('expected an event such as coin.TRANSFER')
  })

  it('the events page drops the events of a lost block', async () => {
    const node = await start()
    await deploy(node)
    await node.order('snapshot', {})
    await mined(node, placed('a'))
    const { page, text } = await open(browser, `${node.url}/explorer/events?name=PLACED`)
    await expect.poll(() => page.locator('#events li').count()).toBe(1)
    // A revert drops the transaction too: nothing brings it back.
    await node.order('revert', { id: 1 })
    await expect.poll(() => text('told')).toBe('No event yet.')
    expect(await page.locator('#events li').count()).toBe(0)
  })

  it('the contracts page has search, interface, code, and tables with rows', async () => {
    const node = await start()
    const { hash } = await deploy(node)
    await mined(node, ...Array.from({ length: 28 }, (_, i) => placed(`book ${String(i).padStart(2, '0')}`)))
    await mined(node, placed(HOSTILE), placed(''))
    const { page, text } = await open(browser, `${node.url}/explorer/contracts`, /status of 404/)
    await expect.poll(() => texts(page, '#modules a')).toContain('coin')
    await page.fill('#search', 'SHEL fr')
    expect(await texts(page, '#modules a')).toEqual(['free.shelf'])
    expect(await text('module-note')).toMatch(/^1 of \d+$/)
    await page.click('#modules a')
    await expect.poll(() => text('name')).toBe('free.shelf')
    const module = await node.get('/devnet/module?name=free.shelf')
    expect(await text('hash')).toEqual(module.hash)
    expect(await text('deployed')).toEqual(hash)
    expect(await text('doc')).toEqual(HOSTILE)
    expect(await text('governance')).toBe('capability GOVERNANCE')
    const place = page.locator('.members li', { has: page.locator('b:text-is("place")') })
    expect(await place.locator('.signature').textContent()).toBe(
      'place (title:string price:decimal owner:guard) → stringCall',
    )
    expect(await place.locator('.doc').textContent()).toBe('Puts a book on the shelf.')
    expect(await texts(page, '.mark')).toEqual(['@event', '@managed span rest'])

    await page.focus('#tab-interface')
    await page.keyboard.press('ArrowRight')
    expect(await page.evaluate('document.activeElement.id')).toBe('tab-tables')
    const books = page.locator('#table-books')
    await expect.poll(() => books.locator('tbody tr').count()).toBe(25)
    expect(await books.locator('thead th').allTextContents()).toEqual(['key', 'price:decimal', 'owner:guard'])
    await books.locator('button:has-text("More rows")').click()
    await expect.poll(() => books.locator('tbody tr').count()).toBe(30)
    expect(await books.locator('button:has-text("More rows")').isVisible()).toBe(false)
    expect((await books.locator('tbody th').allTextContents()).toSorted().at(-1)).toBe('book 27')
    await books.locator('input').fill('book 1')
    await expect.poll(() => books.locator('tbody tr').count()).toBe(10)
    await books.locator('input').fill('book 03')
    await books.locator('button[type=submit]').click()
    await expect.poll(() => books.locator('tbody tr').allTextContents()).toEqual(['book 032.5keys-all [368820f8…]'])
    await books.locator('input').fill('nothing')
    await books.locator('button[type=submit]').click()
    await expect.poll(() => books.textContent()).toContain('No row has the key "nothing"')
    expect(await page.locator('#table-never').textContent()).toContain('The table is not created')
    await expectEscaped(page)

    await page.click('#tab-code')
    expect((await texts(page, '#code .line')).join('\n').trim()).toBe(module.code.trim())
    // The page's own reads do not count as requests of programs: only the test itself has asked for a module.
    const { requests } = await node.get('/devnet/view')
    const lookups = requests.filter(({ path }: { path: string }) => /^\/devnet\/(modules?|table)\b/.test(path))
    expect(lookups.map(({ path }: { path: string }) => path)).toEqual(['/devnet/module?name=free.shelf'])
    await page.click('a:has-text("Network")')
    await page.goto(`${node.url}/explorer/contracts#chain=0&module=free.none`)
    await expect.poll(() => text('trouble')).toBe('chain 0 has no module "free.none"')
    await page.goto(`${node.url}/explorer/contracts#chain=1&module=free.shelf`)
    await expect.poll(() => text('trouble')).toBe('chain 1 has no module "free.shelf"')
  })

  it.each([
    [390, 'dark'],
    [1280, 'light'],
  ] as const)('the views fit %i px, %s, without scrolling sideways', async (width, colorScheme) => {
    const node = await start({ graph: 'twenty' })
    await deploy(node)
    const bad = command(`(free.shelf.outer "${'long'.repeat(60)}")`)
    await mined(node, bad, placed('x'.repeat(300)))
    await mine(node, leaving('y'.repeat(250), '1.0'))
    for (const [path, part] of [
      ['/explorer/transactions', '#transactions li'],
      [`/explorer/transaction#${bad.hash}`, '.trace .step'],
      ['/explorer/events', '#events li'],
      ['/explorer/contracts#chain=0&module=free.shelf&view=tables', '#table-books td'],
      ['/explorer/contracts#chain=0&module=coin&view=code', '.code .line'],
      ['/explorer/transfers', '.pact'],
      ['/explorer/send', '#arguments .argument'],
      [`/explorer/send#pact=${bad.hash}&chain=1&source=0`, '#proof-part:not([hidden])'],
    ]) {
      const { page } = await open(browser, node.url + path, null, { viewport: { width, height: 800 }, colorScheme })
      await expect.poll(() => page.locator(part).count()).toBeGreaterThan(0)
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toEqual(width)
    }
  })
})
