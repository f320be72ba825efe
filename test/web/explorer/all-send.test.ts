/** The page that sends commands with fields, in headless Chromium. */
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { transfer } from '../../devnet/commands-common.ts'
import { describeInChromium } from '../../gpu/chromium.ts'
import { command, deploy, HOSTILE, mined } from './contract.ts'
import { open, start } from './developers-page.ts'

/** A gas station that pays for one account, and its account. */
const STATION = `(namespace "free")
(module station G
  (implements gas-payer-v1)
  (defcap G () (enforce false "nobody"))
  (defcap ALLOW () true)
  (defcap GAS_PAYER:bool (user:string limit:integer price:decimal)
    (enforce (= user "sender01") "only for sender01")
    (enforce (and (= limit 2000) (= price 0.000001)) "other terms")
    (compose-capability (ALLOW)))
  (defun create-gas-payer-guard:guard () (create-capability-guard (ALLOW))))
(coin.create-account "station" (create-gas-payer-guard))`

const fill = (page: Page, fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).reduce(
    (before, [name, text]) => before.then(() => page.fill(`#arguments [data-name="${name}"] input`, text)),
    Promise.resolve(),
  )

await describeInChromium('the page that sends', (browser) => {
  it('the send page checks fields, tries the command out, suggests the capability, and sends only then', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    const { page, text } = await open(browser, `${node.url}/explorer/send`)
    await expect.poll(() => page.locator('#arguments .argument').count()).toBe(3)
    expect(await page.inputValue('#function')).toBe('transfer')
    await fill(page, { sender: 'sender00', receiver: 'sender01', amount: 'much' })
    await page.click('#try')
    expect(await text('form-fault')).toBe('amount: expected a number, such as 1.5')
    const amount = page.locator('#arguments [data-name=amount]')
    expect(await amount.locator('.fault').textContent()).toBe('expected a number, such as 1.5')
    expect(await page.evaluate('document.activeElement.name')).toBe('amount')
    expect(await page.isVisible('#trial')).toBe(false)
    expect(await page.isVisible('#send')).toBe(false)

    await fill(page, { amount: '2' })
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toBe('would fail')
    expect(await text('trial-code')).toBe('(coin.transfer "sender00" "sender01" 2.0)')
    expect(await text('trial-result')).toContain('coin.TRANSFER was not installed')
    await page.click('#suggestions button:text-is(\'Sign (coin.TRANSFER "sender00" "sender01" 2.0)\')')
    await expect.poll(() => text('trial-outcome')).toBe('would succeed')
    expect(await text('trial-gas')).toBe('254 of 10,000 gas, 0.00000254 coins')
    const scopes = await page.locator('#signatures select[aria-label="what the signature covers"]').all()
    expect(await Promise.all(scopes.map((each) => each.inputValue()))).toEqual(['coin.TRANSFER', 'coin.GAS'])
    expect(await node.balance('sender01', 0)).toBe(110_000_000)

    // A change takes back the trial.
    await fill(page, { amount: '3' })
    expect(await page.isVisible('#trial')).toBe(false)
    expect(await page.isDisabled('#send')).toBe(true)
    await fill(page, { amount: '2' })
    await page.click('#try')
    await expect.poll(() => page.isEnabled('#send')).toBe(true)
    await page.click('#send')
    await expect.poll(() => text('sent-status')).toBe('waits in the mempool of chain 0 for a block')
    await page.click('#make-block')
    await expect.poll(() => text('sent-status')).toBe('success in block 2 of chain 0: "Write succeeded"')
    expect(await node.balance('sender01', 0)).toBe(110_000_002)
    const key = await page.locator('#sent-link a').getAttribute('title')
    await page.click('#sent-link a')
    await expect.poll(() => text('outcome')).toBe('success')
    expect(await page.inputValue('#wanted')).toBe(key)
    expect(await page.locator('#signers .scopes code').allTextContents()).toEqual([
      '(coin.TRANSFER "sender00" "sender01" 2.0)',
      '(coin.GAS)',
    ])
  })

  it('the send page takes guards, texts and gas terms by fields, from the link of a function', async () => {
    const node = await start()
    await deploy(node)
    const { page, text } = await open(browser, `${node.url}/explorer/contracts#chain=0&module=free.shelf`)
    await page.click('a[aria-label="call place"]')
    await expect.poll(() => page.locator('#arguments .argument').count()).toBe(3)
    expect(await page.inputValue('#module')).toBe('free.shelf')
    expect(await page.inputValue('#function')).toBe('place')
    expect(await text('function-doc')).toBe('Puts a book on the shelf.')
    await fill(page, { title: HOSTILE, price: '7' })
    await page.selectOption('#arguments [data-name=owner] select', 'keys')
    await page.click('#try')
    expect(await text('form-fault')).toBe('owner: expected at least one public key of 64 hex digits')
    await page.fill('#arguments textarea', `${'ab'.repeat(32)}\n${'cd'.repeat(32)}`)
    await page.selectOption('[aria-label=predicate]', 'keys-any')
    await page.fill('#gas-limit', 'all')
    await page.click('#try')
    expect(await text('form-fault')).toBe('gas limit: expected a whole number from 1')
    await page.fill('#gas-limit', '2000')
    await page.fill('#gas-price', '0.0000002')
    await page.selectOption('#signatures select', 'sender03')
    await page.fill('#sender', 'sender03')
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toBe('would succeed')
    expect(await text('trial-events')).toContain(JSON.stringify(HOSTILE))
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    await page.click('#send')
    await page.click('#make-block')
    await expect.poll(() => text('sent-status')).toMatch(/^success in block/)
    const { rows } = await node.get('/devnet/table?name=free.shelf.books')
    expect(rows).toEqual([
      { key: HOSTILE, row: { price: 7, owner: { pred: 'keys-any', keys: ['ab'.repeat(32), 'cd'.repeat(32)] } } },
    ])
    const { transactions } = await node.get('/devnet/transactions')
    expect(transactions[0]).toMatchObject({ sender: 'sender03', status: 'success' })
  })

  it('the send page signs with several accounts and capabilities, and refuses contradicting signatures', async () => {
    const node = await start()
    await deploy(node)
    const { page, text } = await open(browser, `${node.url}/explorer/send#chain=0&module=free.shelf&function=lend`)
    await expect.poll(() => page.locator('#arguments .argument').count()).toBe(2)
    await fill(page, { title: 'a', span: '3' })
    const row = (i: number) => page.locator('#signatures > li').nth(i)
    await row(0).locator('select').nth(1).selectOption('free.shelf.LEND')
    // The account that pays for gas signs for that too.
    expect(await row(1).locator('select').nth(1).inputValue()).toBe('coin.GAS')
    await row(0).locator('[data-name=title] input').fill('a')
    await row(0).locator('[data-name=span] input').fill('x')
    await page.click('#try')
    expect(await text('form-fault')).toBe('signature of sender00: span: expected a whole number, such as 12')
    await row(0).locator('[data-name=span] input').fill('2')
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toBe('would fail')
    await row(0).locator('[data-name=span] input').fill('3')
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toBe('would succeed')
    expect(await text('trial-result')).toBe('"lent"')
    await page.click('#add-signature')
    await row(2).locator('select').nth(1).selectOption('other')
    await row(2).locator('input').fill('(coin.TRANSFER')
    await page.click('#try')
    expect(await text('form-fault')).toContain('expected a capability with its arguments')
    await row(2).locator('select').nth(1).selectOption('')
    await page.click('#try')
    expect(await text('form-fault')).toBe('sender00 signs everything already: remove its other signatures')
    await row(2).locator('select').nth(0).selectOption('sender01')
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toBe('would succeed')
    await row(2).locator('button').click()
    expect(await page.locator('#signatures > li').count()).toBe(2)
  })

  it('the send page runs code, sends what would fail if the user insists, and shows refusals of the node', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    const { page, text } = await open(browser, `${node.url}/explorer/send`, /status of 400/)
    await page.selectOption('#kind', 'code')
    await page.click('#try')
    expect(await text('form-fault')).toContain('code: expected an expression')
    await page.fill('#code', '(enforce (= (read-msg "n") 1.0) "not one")')
    await page.fill('#data', '[2]')
    await page.click('#try')
    expect(await text('form-fault')).toContain('message data: expected a JSON object')
    await page.fill('#data', '{"n": 2.0}')
    await page.selectOption('#chain', '1')
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toBe('would fail')
    expect(await text('trial-result')).toBe('not one')
    expect(await text('send')).toBe('Send anyway')
    await page.click('summary:has-text("Trace")')
    await expect.poll(() => page.locator('#trial-trace .step[data-failed]').count()).toBeGreaterThan(0)
    await page.click('#send')
    await page.click('#make-block')
    await expect.poll(() => text('sent-status')).toBe('failure in block 2 of chain 1: not one')
    await page.fill('#gas-limit', '1')
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toMatch(/refused|would fail/)
    await page.fill('#gas-limit', '10000')
    await page.fill('#gas-price', '0.0000000000000001')
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toContain('Gas price decimal precision too high')
    expect(await page.isDisabled('#send')).toBe(true)
  })

  it('the send page lets a gas station pay for users whom its module allows', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    await mined(node, command(STATION), transfer('station', 1))
    const { page, text } = await open(
      browser,
      `${node.url}/explorer/send#chain=0&module=coin&function=transfer`,
      /status of 40[04]/,
    )
    await expect.poll(() => page.locator('#arguments .argument').count()).toBe(3)
    await fill(page, { sender: 'sender01', receiver: 'sender02', amount: '2' })
    await page.selectOption('#signatures select', 'sender01')
    await page.fill('#sender', 'station')

    // Other modules cannot pay.
    for (const [module, told] of [
      ['coin', 'coin has no capability GAS_PAYER: a gas station implements gas-payer-v1'],
      ['free.nothing', 'chain 0 has no module "free.nothing"'],
    ]) {
      await page.fill('#station', module)
      await page.locator('#station').dispatchEvent('change')
      await expect.poll(() => text('station-fault')).toBe(told)
      expect(await page.isVisible('#station-note')).toBe(false)
      await page.click('#try')
      await expect.poll(() => text('form-fault')).toBe('gas station: expected the module of a gas station')
    }
    await page.fill('#station', 'free.station')
    await page.locator('#station').dispatchEvent('change')
    const argument = (name: string) => page.locator(`#station-arguments [data-name=${name}] input`)
    await expect.poll(() => page.locator('#station-arguments .argument').count()).toBe(3)
    expect(await text('station-fault')).toBe('')
    expect(await page.isVisible('#station-note')).toBe(true)
    const shown = async () => Promise.all(['user', 'limit', 'price'].map((name) => argument(name).inputValue()))
    expect(await shown()).toEqual(['sender01', '10000', '0.00000001'])
    // The arguments follow the form, except where the user has written others.
    await page.fill('#gas-limit', '2000')
    await argument('price').fill('0.0000001')
    await page.fill('#gas-price', '0.000001')
    await page.selectOption('#signatures select', 'sender03')
    expect(await shown()).toEqual(['sender03', '2000', '0.0000001'])
    await argument('price').fill('0.000001')

    await page.click('#try')
    await expect.poll(() => text('trial-result')).toContain('Failed to buy gas: only for sender01')
    await page.selectOption('#signatures select', 'sender01')
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toBe('would fail')
    await page.click('#suggestions button:text-is(\'Sign (coin.TRANSFER "sender01" "sender02" 2.0)\')')
    await expect.poll(() => text('trial-outcome')).toBe('would succeed')
    const before = await node.balance('station', 0)
    await page.click('#send')
    await page.click('#make-block')
    await expect.poll(() => text('sent-status')).toMatch(/^success in block/)
    expect(await node.balance('station', 0)).toBeLessThan(before)
    expect(await node.balance('sender01', 0)).toBe(110_000_000 - 2)
    await page.click('#sent-link a')
    await expect.poll(() => text('outcome')).toBe('success')
    expect(await page.locator('#signers .scopes code').allTextContents()).toEqual([
      '(coin.TRANSFER "sender01" "sender02" 2.0)',
      '(free.station.GAS_PAYER "sender01" 2000 0.000001)',
    ])
  })

  it('the send page shows a browser elsewhere where it can sign', async () => {
    const node = await start()
    const { page, text } = await open(browser, `http://node.example:${new URL(node.url).port}/explorer/send`)
    await expect.poll(() => page.isVisible('#not-here')).toBe(true)
    await expect.poll(() => page.locator('#arguments .argument').count()).toBe(3)
    await fill(page, { sender: 'sender00', receiver: 'sender01', amount: '1' })
    await page.click('#try')
    await expect.poll(() => text('form-fault')).toContain('this page signs only at localhost, 127.0.0.1 or [::1]')
  })
})
