/** The search field, the page of an account, and what pages show first, in headless Chromium. */
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { exec, transfer } from '../../devnet/commands-common.ts'
import { describeInChromium } from '../../gpu/chromium.ts'
import { deploy, mined, placed } from './contract.ts'
import { NETWORK, open, start, titles } from './developers-page.ts'

const texts = (page: Page, selector: string) => page.locator(selector).allTextContents()
const place = (page: Page) => page.evaluate<string>('location.pathname + location.hash')

/** Types into the search field of the header, and presses Enter. */
async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/')
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
}

await describeInChromium('pages by name', (browser) => {
  it('the search field goes to the page of a transaction, a block, an account or a module, by keyboard alone', async () => {
    const node = await start()
    await deploy(node)
    const sent = transfer('sender01', 1)
    await mined(node, sent)
    const { hashes } = await node.get(`${NETWORK}/cut`)
    const { page, text } = await open(browser, `${node.url}/explorer/events`)
    await expect.poll(() => text('link')).toBe('live')
    await search(page, 'sender01')
    await expect.poll(() => text('account')).toBe('sender01')
    expect(await place(page)).toBe('/explorer/account#sender01')
    // On the page of an account, another account replaces it.
    await search(page, 'sender02')
    await expect.poll(() => text('account')).toBe('sender02')
    await search(page, sent.hash.slice(0, 8))
    await expect.poll(() => text('key')).toBe(sent.hash)
    await search(page, 'free.shelf')
    await expect.poll(() => text('name')).toBe('free.shelf')
    await search(page, hashes[0].hash)
    await expect.poll(() => text('details-title')).toBe('Block · chain 0 · height 3')
    await expect.poll(() => text('details-body')).toContain('sender01')
    await page.keyboard.press('Escape')
    // The browser reports the closed dialog in an event of its own.
    await expect.poll(() => place(page)).toBe('/')
  })

  it('the search field lists several hits, guesses at a misspelled name, and says when there is nothing', async () => {
    const node = await start()
    await deploy(node)
    const { page, text } = await open(browser, `${node.url}/explorer/api`)
    await expect.poll(() => page.locator('.operation').count()).toBeGreaterThan(10)
    await search(page, '1')
    await expect.poll(() => texts(page, '#find-answer a')).toEqual(['chain 0, height 1', 'chain 1, height 1'])
    expect(await text('find-answer')).toMatch(/^2 blocks have this height: /)
    const header = await page.locator('.top').boundingBox()
    await page.keyboard.press('Escape')
    expect(await page.isHidden('#find-answer')).toBe(true)
    expect(await page.locator('.top').boundingBox()).toEqual(header)
    for (const [wanted, answer] of [
      ['free.shlef', 'Nothing here is called “free.shlef”. Did you mean module free.shelf'],
      ['99', 'No chain has reached height 99 yet, and no account is called so.'],
      ['<b>none</b>', 'Nothing here is called “<b>none</b>”: no account, no module, no block, and no transaction'],
    ]) {
      await page.fill('#find-text', wanted)
      await page.press('#find-text', 'Enter')
      await expect.poll(() => text('find-answer')).toContain(answer)
    }
    await page.fill('#find-text', 'free.shlef')
    await page.press('#find-text', 'Enter')
    await page.click('#find-answer a')
    await expect.poll(() => text('name')).toBe('free.shelf')
  })

  it('a block of a link opens by its height too, and a height that no block has is said', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 2, 1: 2 })
    const { page, text } = await open(browser, `${node.url}/#chain=1&height=2`, /status of 404/)
    const { hashes } = await node.get(`${NETWORK}/cut`)
    await expect.poll(() => text('details-hash')).toBe(hashes[1].hash)
    await page.goto(`${node.url}/#chain=1&height=7`)
    await expect.poll(() => text('details-body')).toBe('chain 1 has no block at height 7 yet')
  })

  it('the account page shows coins by chain, guard, transfers and transactions, and follows new blocks', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    await mined(node, transfer('sender01', 1.5), exec('(enforce false "on purpose")'))
    const { page, text } = await open(browser, `${node.url}/explorer/account#sender01`)
    await expect.poll(() => texts(page, '#balances li')).toEqual(['chain 0110,000,001.5', 'chain 1110,000,000'])
    expect(await text('total')).toBe('220,000,001.5')
    expect(await text('balances-note')).toBe('on 2 chains of 2')
    expect(await texts(page, '#guards li')).toEqual([
      'keys-all [6be2f485a7af75fedb4b7f153a903f7e6000ca4aa501179c91a2450b777bd2a7]',
    ])
    await expect.poll(() => texts(page, '#transfers .params')).toEqual(['"sender00" "sender01" 1.5'])
    await expect.poll(() => text('transactions-note')).toBe('No transaction yet.')
    await mined(node, transfer('sender01', 2))
    await expect.poll(() => text('total')).toBe('220,000,003.5')
    await expect.poll(() => page.locator('#transfers li').count()).toBe(2)
    // The other side of a transfer is a link.
    await page.click('#transfers a:text-is(\'"sender00"\') >> nth=0')
    await expect.poll(() => text('account')).toBe('sender00')
    await expect.poll(() => page.locator('#transactions li').count()).toBe(3)
    await page.click('#all-transactions')
    await expect.poll(() => page.inputValue('#sender')).toBe('sender00')
    await expect.poll(() => text('told')).toBe('3 transactions: these are all')
    await page.click('#transactions a.account >> nth=0')
    await expect.poll(() => text('account')).toBe('sender00')
    await page.click('#pay')
    await expect.poll(() => page.locator('[data-name=receiver] input').inputValue()).toBe('sender00')
  })

  it('the account page says that no chain has an account, and lists accounts if it has no name', async () => {
    const node = await start()
    const { page, text } = await open(browser, `${node.url}/explorer/account#k:none`)
    await expect.poll(() => text('balances-note')).toMatch(/^No chain of this network has this account\./)
    expect(await text('total')).toBe('0')
    expect(await page.isVisible('#guards-none')).toBe(true)
    await page.goto(`${node.url}/explorer/account`)
    await page.reload()
    await expect.poll(() => texts(page, '#choice li')).toContain('sender07')
    expect(await page.isHidden('#known')).toBe(true)
  })

  it('the contracts page opens on the module that was deployed last, else on coin', async () => {
    const node = await start()
    const { page, text } = await open(browser, `${node.url}/explorer/contracts`)
    await expect.poll(() => text('name')).toBe('coin')
    await deploy(node)
    await page.goto(`${node.url}/explorer/contracts`)
    await page.reload()
    await expect.poll(() => text('name')).toBe('free.shelf')
    await page.goto(`${node.url}/explorer/contracts#chain=1`)
    await expect.poll(() => place(page)).toBe('/explorer/contracts#chain=1&module=coin')
    // The keys of its table are accounts.
    await page.click('#tab-tables')
    await page.click('#table-coin-table th a:text-is("sender03")')
    await expect.poll(() => place(page)).toBe('/explorer/account#sender03')
    await mined(node, placed('sender03'))
    await page.goto(`${node.url}/explorer/contracts#chain=0&module=free.shelf&view=tables`)
    await expect.poll(() => texts(page, '#table-books tbody th')).toEqual(['sender03'])
    expect(await page.locator('#table-books a').count()).toBe(0)
  })

  it('the transactions page filters by sender and state, and lists pending ones', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    const [good, bad, waiting] = [
      transfer('sender01', 1),
      exec('(enforce false "on purpose")'),
      transfer('sender02', 1),
    ]
    await mined(node, good, bad)
    const { page, text } = await open(browser, `${node.url}/explorer/transactions`)
    const listed = () => titles(page, '#transactions a.hash')
    await expect.poll(async () => (await listed()).toSorted()).toEqual([good.hash, bad.hash].toSorted())
    await page.selectOption('#status', 'failure')
    await expect.poll(listed).toEqual([bad.hash])
    expect(await place(page)).toBe('/explorer/transactions#status=failure')
    await page.selectOption('#status', 'pending')
    await expect.poll(() => text('told')).toBe('No such transaction.')
    await node.post(`${NETWORK}/chain/0/pact/api/v1/send`, { cmds: [waiting] })
    await expect.poll(listed).toEqual([waiting.hash])
    expect(await texts(page, '#transactions .outcome')).toEqual(['pending'])
    await page.selectOption('#status', '')
    await page.fill('#sender', 'sender05')
    await expect.poll(() => text('told')).toBe('No such transaction.')
    await page.fill('#sender', 'sender00')
    await expect.poll(async () => (await listed()).length).toBe(2)
    expect(await page.locator('#known-accounts option').count()).toBeGreaterThan(9)
  })

  it('the send page marks all empty fields at once, and each mark goes with a text', async () => {
    const node = await start()
    const { page, text } = await open(browser, `${node.url}/explorer/send`)
    await expect.poll(() => page.locator('#arguments .argument').count()).toBe(3)
    await page.fill('#gas-limit', '')
    await page.click('#try')
    const marked = () =>
      page
        .locator('[aria-invalid=true]')
        .evaluateAll((all) => all.map((each) => each.id || (each as { name?: string }).name))
    expect(await marked()).toEqual(['sender', 'receiver', 'amount', 'gas-limit'])
    expect(await text('form-fault')).toBe(
      '4 fields are wrong: sender: expected the name of an account, such as sender00; ' +
        'receiver: expected the name of an account, such as sender00; ' +
        'amount: expected a number, such as 1.5; gas limit: expected a whole number from 1',
    )
    expect(await page.evaluate('document.activeElement.name')).toBe('sender')
    await page.fill('[data-name=receiver] input', 'sender01')
    expect(await marked()).toEqual(['sender', 'amount', 'gas-limit'])
    await page.fill('#sender', '')
    await page.selectOption('#kind', 'continue')
    await page.fill('#step', '')
    await page.selectOption('#proof-chain', '1')
    await page.click('#try')
    expect(await marked()).toEqual(['pact-id', 'step', 'proof', 'sender', 'gas-limit'])
    expect(await page.evaluate('document.activeElement.id')).toBe('pact-id')
    await page.click('#fetch-proof')
    expect(await page.evaluate('document.activeElement.id')).toBe('proof-key')
    await page.click('summary:has-text("Sign with a key")')
    await page.click('button:text-is("Add the key")')
    await expect.poll(marked).toContain('secret-key')
  })

  it('forms of the other pages mark an empty field, and send nothing', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    const { page } = await open(browser, `${node.url}/explorer/transaction`)
    const invalid = () =>
      page
        .locator('[aria-invalid=true], :user-invalid')
        .evaluateAll((all) => all.map((each) => each.id || each.getAttribute('name')))
    await page.locator('#trouble:has-text("Enter a request key")').waitFor()
    await page.click('#find-form button')
    expect(await invalid()).toEqual(['wanted'])
    await page.goto(node.url)
    await page.fill('#blocks-form [name=count]', '')
    await page.click('#blocks-form button')
    await page.click('summary:has-text("Difficulty")')
    await page.fill('#difficulty-form input', '')
    await page.click('#difficulty-form button')
    expect((await invalid()).toSorted()).toEqual(['count', 'difficulty'])
    expect(await page.isHidden('#answer-box')).toBe(true)
    await page.goto(`${node.url}/explorer/api#header`)
    await page.fill('#header input >> nth=1', '')
    await page.click('#header button')
    expect(await invalid()).toHaveLength(1)
    const { requests } = await node.get('/devnet/view')
    expect(requests.filter(({ method }: { method: string }) => method === 'POST')).toHaveLength(1)
  })

  it('pages that wait for the node say what comes, and not that there is none', async () => {
    const node = await start()
    for (const [name, coming] of [
      ['', 'loading the newest transactions'],
      ['explorer/transactions', 'loading the newest transactions'],
      ['explorer/transfers', 'loading the transfers'],
      ['explorer/events', 'loading the newest events'],
      ['explorer/contracts', 'looking for the newest module'],
      ['explorer/send', 'loading modules and their functions'],
      ['explorer/account#sender00', 'searching the blocks for its transfers'],
      ['explorer/api', 'loading each call'],
    ]) {
      const page = await browser.newPage()
      await page.route(/\/(devnet|openapi)/, () => undefined)
      await page.goto(`${node.url}/${name}`)
      const seen = await page.evaluate<string>(`document.querySelector('main').innerText`)
      expect(seen, name).toContain(coming)
      expect(seen, name).not.toMatch(/none|no transaction|empty/i)
      await page.close()
    }
  })

  it('the header stays where it is while the page loads, and is equal on all pages', async () => {
    const node = await start()
    const boxes = new Set<string>()
    for (const width of [390, 1280, 1600]) {
      for (const name of [
        '',
        'transactions',
        'transfers',
        'events',
        'contracts',
        'send',
        'account',
        'api',
        'transaction',
      ]) {
        const page = await browser.newPage({ viewport: { width, height: 800 } })
        const measure = () =>
          page.evaluate<string>(
            `JSON.stringify(['.top', 'nav', 'nav a', '#find-text', 'main'].map((each) => {
              const { left, top, height } = document.querySelector(each).getBoundingClientRect()
              return [each, left, top, each === 'main' ? 0 : height]
            }))`,
          )
        // The scripts of the page wait.
        let release = () => undefined as unknown
        await page.route(/main\.js$/, (route) => {
          release = () => route.continue()
        })
        await page.goto(`${node.url}/${name && `explorer/${name}`}`, { waitUntil: 'commit' })
        await page.locator('main').waitFor({ state: 'attached' })
        await expect.poll(() => page.evaluate('document.styleSheets.length')).toBe(3)
        const before = await measure()
        await release()
        await expect
          .poll(() => page.locator(name === 'api' ? '.operation' : '[data-link=live]').count())
          .toBeGreaterThan(0)
        expect(await measure(), name).toBe(before)
        boxes.add(`${width} ${before}`)
        await page.close()
      }
    }
    expect(boxes.size).toBe(3)
  })
})
