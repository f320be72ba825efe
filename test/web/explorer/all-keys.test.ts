/** Signatures in the form for commands, in headless Chromium: by accounts of the node, by a visitor's key, by none. */
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { knownKey } from '../../../src/client/wallet/known-keys.ts'
import { keyPair } from '../../devnet/command.ts'
import { describeInChromium } from '../../gpu/chromium.ts'
import { open, start } from './developers-page.ts'

const groups = (page: Page) =>
  page
    .locator('#signatures select >> nth=0 >> optgroup')
    .evaluateAll((all) => all.map((each) => [each.getAttribute('label'), each.children.length]))

/** Everything that a page has sent to the node. */
function recorded(page: Page): string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    sent.push(request.url(), JSON.stringify(request.headers()), request.postData() ?? '')
  })
  return sent
}

async function runCode(page: Page, code: string): Promise<void> {
  await page.selectOption('#kind', 'code')
  await page.fill('#code', code)
}

await describeInChromium('the signatures of the form', (browser) => {
  it('the page signs with a secret key that never leaves it', async () => {
    const node = await start()
    await node.order('make-blocks', { 0: 1, 1: 1 })
    const { publicKey, secret } = keyPair()
    const { d = '' } = secret.export({ format: 'jwk' })
    const secretKey = Buffer.from(d, 'base64url').toString('hex')
    const { page, text } = await open(browser, `${node.url}/explorer/send`)
    const sent = recorded(page)
    await expect.poll(() => groups(page)).toEqual([['accounts of this network', 10]])
    await page.click('.own-key summary')
    expect(await text('key-note')).toContain('the node only gets the signature')
    await page.fill('#secret-key', `${secretKey}00`)
    await page.keyboard.press('Enter')
    await expect.poll(() => text('key-fault')).toBe('expected a secret Ed25519 key of 64 hex digits, not 66 characters')
    expect(await page.inputValue('#secret-key')).toBe('')
    expect(await page.isVisible('#trial')).toBe(false)
    await page.fill('#secret-key', secretKey)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('#own-keys code').allTextContents()).toEqual([`k:${publicKey}`])
    expect(await page.inputValue('#secret-key')).toBe('')
    expect(await text('key-fault')).toBe('')
    // A new row signs with it.
    expect(await page.locator('#signatures > li select >> nth=2').inputValue()).toBe(`k:${publicKey}`)

    const guard = JSON.stringify({ keys: [publicKey], pred: 'keys-all' })
    await runCode(page, '(enforce-guard (read-keyset "k"))')
    await page.fill('#data', `{"k": ${guard}}`)
    await page.click('#try')
    await expect.poll(() => text('trial-outcome')).toBe('would succeed')
    await page.click('#send')
    await page.click('#make-block')
    await expect.poll(() => text('sent-status')).toMatch(/^success in block/)
    expect(sent.join('\n')).toContain(publicKey)
    const bytes = [secretKey, secretKey.toUpperCase(), d, Buffer.from(d, 'base64url').toString('base64')]
    for (const each of bytes) expect(sent.filter((part) => part.includes(each))).toEqual([])
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.documentElement.outerHTML])',
    )
    for (const each of bytes) expect(stored).not.toContain(each)
    expect(await page.evaluate('indexedDB.databases().then((all) => all.length)')).toBe(0)

    await page.click('#own-keys button')
    await expect.poll(() => page.locator('#own-keys li').count()).toBe(0)
    expect(await page.evaluate('document.activeElement.id')).toBe('secret-key')
    await expect.poll(() => groups(page)).toEqual([['accounts of this network', 10]])
    await page.fill('#secret-key', secretKey)
    await page.reload()
    await expect.poll(() => groups(page)).toEqual([['accounts of this network', 10]])
    expect(await page.inputValue('#secret-key')).toBe('')
  })

  it('the page signs with accounts of the phrase, and leaves out signatures that the node does not check', async () => {
    const node = await start({ phraseAccounts: 2 })
    const first = knownKey('account0')?.account ?? ''
    const foreign = 'cd'.repeat(32)
    const { page, text } = await open(browser, `${node.url}/explorer/send`)
    await expect.poll(() => groups(page)).toEqual([['accounts of this network', 12]])
    await runCode(page, '(enforce-guard (read-keyset "k"))')
    const row = page.locator('#signatures > li').first()
    const signer = row.locator('select').first()
    const outcomeFor = async (key: string) => {
      await page.fill('#data', JSON.stringify({ k: { keys: [key], pred: 'keys-all' } }))
      const answered = page.waitForResponse((response) => response.url().includes('/api/v1/local'))
      await page.click('#try')
      await answered
      await expect.poll(() => text('trial-outcome')).not.toBe('trying it out')
      return text('trial-outcome')
    }
    await page.fill('#sender', first)
    await signer.selectOption(first)
    expect(await outcomeFor(first.slice(2))).toBe('would succeed')
    expect(await outcomeFor(foreign)).toBe('would fail')

    await node.order('impersonate', { keys: [foreign], on: true })
    await expect.poll(() => groups(page)).toContainEqual(['keys that the node does not check', 1])
    await page.click('#add-signature')
    await page.locator('#signatures > li').nth(1).locator('select').first().selectOption(`k:${foreign}`)
    expect(await outcomeFor(foreign)).toBe('would succeed')
    await page.click('#send')
    await page.click('#make-block')
    await expect.poll(() => text('sent-status')).toMatch(/^success in block/)
    const [{ requestKey }] = (await node.get('/devnet/transactions')).transactions
    const { command } = await node.get(`/devnet/transaction?requestKey=${requestKey}`)
    expect(command.sigs).toEqual([{ sig: expect.any(String) }, null])

    // Without any checks, the row takes a public key.
    expect(await page.isVisible('#unchecked')).toBe(false)
    await node.order('impersonate', { keys: ['*'], on: true })
    await expect.poll(() => page.isVisible('#unchecked')).toBe(true)
    const second = page.locator('#signatures > li').nth(1)
    await second.locator('select').first().selectOption({ label: 'any key, not checked' })
    await page.click('#try')
    expect(await text('form-fault')).toBe('signature: expected a public key of 64 hex digits')
    const other = 'ef'.repeat(32)
    await second.locator('input[aria-label="public key"]').fill(`k:${other}`)
    expect(await outcomeFor(other)).toBe('would succeed')
    await node.order('impersonate', { keys: ['*'], on: false })
    await expect.poll(() => groups(page)).toEqual([['accounts of this network', 12]])
  })
})
