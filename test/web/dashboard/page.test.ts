/** The dashboard in headless Chromium, for a real miner on an embedded network, compared with the API. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { Metrics } from '../../../src/faces/api/metrics.ts'
import { startApi } from '../../../src/faces/api/server.ts'
import { Hub } from '../../../src/faces/web/dashboard/hub.ts'
import { addDashboard } from '../../../src/faces/web/dashboard/page.ts'
import type { DashboardState } from '../../../src/faces/web/dashboard/state.ts'
import { addEvents } from '../../../src/faces/web/dashboard/stream.ts'
import { formatHashrate } from '../../../src/ground/base/units.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import type { HardwareSnapshot } from '../../../src/mining/mine/hardware.ts'
import { NO_WINDOWS } from '../../../src/mining/mine/hashrate.ts'
import type { Snapshot } from '../../../src/mining/mine/snapshot.ts'
import { start, stopAll } from '../../cli/run.ts'
import { describeInChromium } from '../../gpu/chromium.ts'
import { Rig } from '../../support/stratum-rig.ts'
import { findingsIn } from '../axe.ts'
import { snapshotWith } from './common.ts'

/** Polling of a page whose figures change once a second: each look costs a browser's time. */
const LOOK = { interval: 200 }
/** The elements that extend beyond the right edge of the window. */
const TOO_WIDE = `[...document.querySelectorAll('body *')]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5).map((each) => each.outerHTML.slice(0, 90))`
const THIN = '\u202f'

await describeInChromium('the dashboard', (browser) => {
  /** Miners for all tests that do not change them: one with a token, and one with rigs and without a token. */
  let url = ''
  let rigPort = 0
  let openUrl = ''
  beforeAll(async () => {
    url = await startMiner('127.0.0.1:0', ['--http-token', TOKEN])
    const { sees } = start([...mineAt('127.0.0.1:0'), '--stratum-listen', '127.0.0.1:0', '--stratum-difficulty', '2k'])
    openUrl = (await sees(METRICS))[1] ?? ''
    rigPort = Number((await sees(/rigs: stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/))[1])
  })
  afterAll(stopAll)

  it('the dashboard shows what the API says: rates, counts, work, chains, devices, blocks', async () => {
    const { page, text, errors } = await open(browser, url)
    await expect.poll(async () => Number(await text('accepted')), LOOK).toBeGreaterThan(2)
    // Rates change each second, so the test polls until page and API show the same one.
    const rateShown = async () => {
      const { hashrates } = await summaryOf(url)
      if (hashrates['10s'] === null) return false
      const shown = `${await text('rate')} ${await text('rate-unit')}`
      return shown === formatHashrate(hashrates['10s'])
    }
    await expect.poll(rateShown, LOOK).toBe(true)
    await expect.poll(async () => (await stateOf(url)).history.total.length).toBeGreaterThan(1)

    const same = async () => {
      const { solutions, preemptions, work, devices, chains = [] } = await summaryOf(url)
      const { blocks } = await stateOf(url)
      const expected = {
        counts: [solutions.accepted, solutions.stale, solutions.orphaned, solutions.rejected, solutions.lost],
        work: [work?.chain, work?.height, formatHashrate(work?.difficulty ?? 0).replace('H/s', 'H'), preemptions],
        devices: devices.map(({ device }) => device),
        chains: chains.map(({ chain, height }) => [chain, height]),
        mined: [String(work?.chain)],
        blocks: blocks.slice(0, 12).map(({ hash, depth, chain, height }) => [hash, depth, chain, height]),
      }
      return JSON.stringify(await shownBy(page)) === JSON.stringify(expected) ? 'the same' : expected
    }
    await expect.poll(same, LOOK).toBe('the same')
    // Both are read at once, because work changes all the time.
    const [note, height] = await page.evaluate<[string, string]>(
      `['braid-note', 'work-height'].map((id) => document.getElementById(id).textContent)`,
    )
    expect(note).toContain(` at height ${height}, `)
    expect(await text('account')).toBe((await stateOf(url)).about.account)
    expect(await page.locator('#nodes li').count()).toBe(1)
    expect(await page.locator('#nodes li b').textContent()).toBe((await summaryOf(url)).source)
    expect(await page.locator('#chart canvas').count()).toBe(1)
    // The page requests the reward once the newest block is there, and the newest may be only milliseconds old.
    const reward = () => page.locator('#blocks tr').first().locator('td').nth(4).textContent()
    await expect.poll(reward, LOOK).toMatch(/^\d+(\.\d+)?$/)
    await expect.poll(() => page.title()).toMatch(/^[\d.]+\u202f[kMG]?H\/s · newcut$/)
    await expect.poll(() => page.getAttribute('body', 'data-phase')).toBe('mining')
    expect(errors).toEqual([])
  })

  it('the dashboard fits into 360, 390 and 1280 pixels, in light and in dark', async () => {
    const { page, text, errors } = await open(browser, url)
    await expect.poll(async () => Number(await text('accepted')), LOOK).toBeGreaterThan(0)
    await page.locator('.braid summary').click()
    await expect.poll(() => page.locator('#chains tr').count()).toBe(20)
    for (const width of [360, 390, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        // Charts resize with the browser's next frame.
        const wide = () => page.evaluate<string[]>(TOO_WIDE)
        await expect.poll(wide, { ...LOOK, message: `${width} ${colorScheme}` }).toEqual([])
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
      }
    }
    expect(errors).toEqual([])
  })

  it('the dashboard reports that the miner is gone, and continues with the next one', async () => {
    const first = start(mineAt('127.0.0.1:0'))
    const [, address = ''] = await first.sees(METRICS)
    const { page, text } = await open(browser, address)
    await expect.poll(async () => Number(await text('accepted')), LOOK).toBeGreaterThan(3)
    const before = await page.locator('#blocks tr').first().getAttribute('data-hash')
    first.child.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)
    await expect.poll(() => text('phase')).toBe('no connection to the miner')
    await startMiner(new URL(address).host)
    await expect.poll(() => page.getAttribute('body', 'data-phase')).toBe('mining')
    await expect.poll(async () => Number(await text('accepted')), LOOK).toBeGreaterThan(0)
    // The list has only blocks of the new miner.
    const hashes = (await shownBy(page)).blocks.map(([hash]) => hash)
    expect(hashes).not.toContain(before)
    expect(Number(await text('accepted'))).toBeLessThanOrEqual((await summaryOf(address)).solutions.accepted)
  })

  it('the dashboard pauses and resumes with the right token, and says if there is none', async () => {
    const { page, text, errors } = await open(browser, url)
    expect(await page.getAttribute('#token', 'type')).toBe('password')
    await page.click('#control-button')
    expect(await text('control-note')).toMatch(/^Enter the token/)
    await page.fill('#token', 'wrong')
    await page.click('#control-button')
    await expect.poll(() => text('control-note')).toBe('The miner does not accept this token.')
    await page.fill('#token', TOKEN)
    await page.click('#control-button')
    await expect.poll(() => text('control-button')).toBe('Resume')
    expect(await text('phase')).toBe('paused')
    expect((await summaryOf(url)).paused).toBe(true)
    await page.click('#control-button')
    await expect.poll(() => text('control-button')).toBe('Pause')
    await expect.poll(async () => (await summaryOf(url)).paused).toBe(false)
    expect(errors.filter((error) => !error.includes('401'))).toEqual([])
    expect(await page.content()).not.toContain(TOKEN)
    const other = await open(browser, openUrl)
    await other.page.fill('#token', TOKEN)
    await other.page.click('#control-button')
    await expect
      .poll(() => other.text('control-note'))
      .toMatch(/^This miner cannot be controlled: it runs without --http-token\.$/)
  })

  it('the dashboard changes the number of threads with the right token, and reports errors', async () => {
    const { page, text, errors } = await open(browser, url)
    await expect.poll(() => page.inputValue('#threads')).toBe('1')
    expect(await page.isDisabled('#threads-button')).toBe(true)
    await page.click('#threads-more')
    await page.click('#threads-more')
    await page.click('#threads-fewer')
    expect(await page.inputValue('#threads')).toBe('2')
    await page.click('#threads-button')
    expect(await text('control-note')).toMatch(/^Enter the token/)
    await page.fill('#token', 'wrong')
    await page.click('#threads-button')
    await expect.poll(() => text('control-note')).toBe('The miner does not accept this token.')
    await page.fill('#token', TOKEN)
    const before = (await summaryOf(url)).hashes
    // The Enter key sets the threads, and does not pause the miner.
    await page.press('#threads', 'Enter')
    await expect.poll(() => text('control-note')).toBe('The miner now uses 2 CPU threads.')
    await expect.poll(() => page.locator('#devices b').allTextContents()).toEqual(['thread0', 'thread1'])
    expect(await summaryOf(url)).toMatchObject({ paused: false, hashes: expect.toSatisfy((hashes) => hashes > before) })
    await expect.poll(() => page.isDisabled('#threads-button')).toBe(true)
    await page.fill('#threads', '0')
    await page.click('#threads-button')
    await expect.poll(() => text('control-note')).toMatch(/^The miner refused: `threads: 0`: nothing would search/)
    expect(await page.inputValue('#threads')).toBe('0')
    await page.fill('#threads', '1')
    await page.click('#threads-button')
    await expect.poll(() => page.locator('#devices b').allTextContents()).toEqual(['thread0'])
    expect(errors.filter((error) => !/40[01]/.test(error))).toEqual([])
  })

  it('the dashboard shows sensors if a machine has them, nodes with their health, and idle devices', async () => {
    const [gpu] = snapshotWith().devices
    const hardware: HardwareSnapshot = {
      ...{ name: 'gpu0', engine: 'gpu', devices: ['gpu0'], model: null, vendor: null, bus: null, pci: null, hashes: 5 },
      ...{ celsius: 61.4, fanPercent: null, watts: 212, hashrates: NO_WINDOWS, hardwareErrors: 0 },
      solutions: snapshotWith().solutions,
    }
    const energy: Snapshot['energy'] = {
      ...{ watts: 212.4, joules: 4_500_000, joulesPerMegahash: 0.0512, source: 'sensors' },
      ...{ unread: 1, hashrate: 1, problem: 'only root may read it' },
    }
    const healthy = { up: true, active: true, lag: 0, latencyMs: 3, height: 1234, version: '3.1', problem: null }
    const away = { ...healthy, up: false, active: false, lag: null, latencyMs: null, problem: 'does not answer' }
    const { page, text } = await open(
      browser,
      await serve(() => ({
        ...snapshotWith({
          nodes: [
            { ...healthy, url: 'http://a' },
            { ...away, url: 'http://b' },
          ],
        }),
        hardware: [hardware],
        energy,
        devices: [
          gpu,
          { ...gpu, device: 'gpu1', state: 'parked', reason: 'it failed five times' },
          ...Array.from({ length: 12 }, (_, i) => ({ ...gpu, engine: 'cpu', device: `thread${i}` })),
        ],
      })),
    )
    const items = () => page.locator('#devices li').allTextContents()
    await expect
      .poll(items)
      .toEqual([
        `gpu0wgsl1.23${THIN}MH/s61 °C · 212 W`,
        `gpu1wgsl1.23${THIN}MH/sparked: it failed five times`,
        `cpu12 × wgsl14.8${THIN}MH/s`,
      ])
    expect(await text('energy')).toBe(
      '212 W (cards and processor) · 0.0512 J/MH · 1.25 kWh · without 1 whose power is unknown',
    )
    expect(await page.locator('#energy').getAttribute('title')).toBe('only root may read it')
    await page.click('#more-devices')
    expect(await items()).toHaveLength(14)
    expect(await text('more-devices')).toBe('Show as groups')
    expect(await page.locator('#nodes li').allTextContents()).toEqual([
      'http://agives workanswers in 3 ms · in sync · height 1,234 · version 3.1',
      'http://bdowndoes not answer · height 1,234 · version 3.1',
    ])
    expect(await page.locator('#rigs').isHidden()).toBe(true)
  })

  it('the dashboard has no line for energy while nothing is known', async () => {
    const { page } = await open(browser, await serve(snapshotWith))
    await page.locator('#devices li').first().waitFor()
    expect(await page.locator('#energy').isHidden()).toBe(true)
  })

  it('the dashboard draws its chart in a browser whose language is none that it can format', async () => {
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    await page.addInitScript(`Object.defineProperty(navigator, 'language', { get: () => 'en-US@posix' })`)
    await page.goto(await serve(snapshotWith))
    await page.locator('#chart canvas').waitFor()
    expect(errors).toEqual([])
  })

  it('the chart of a miner without any rate says that it measures, and has the times of now', async () => {
    const windows = { ...NO_WINDOWS }
    const nothing = () => snapshotWith({ hashrates: windows })
    const drawn: string[] = []
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.exposeFunction('noteText', (text: string) => void drawn.push(text))
    await page.addInitScript(`const fill = CanvasRenderingContext2D.prototype.fillText
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        noteText(String(text))
        return fill.call(this, text, ...rest)
      }`)
    await page.goto(await serve(nothing))
    await expect.poll(() => page.textContent('#chart-readout')).toBe('measuring')
    await expect.poll(() => drawn.filter((text) => /\d/.test(text)).length).toBeGreaterThan(2)
    expect(drawn.filter((text) => text.includes('H/s'))).toEqual([])
    expect(new Set(drawn.filter((text) => text !== '')).size).toBeGreaterThan(2)
  })

  it('the dashboard shows rigs by user, with their shares', async () => {
    const { page, text, errors } = await open(browser, openUrl)
    await expect.poll(() => text('rig-sessions')).toBe('0')
    // A server that waits for its first rig is not in trouble.
    const waiting = page.locator('#devices li:has(b:text-is("rigs"))')
    expect(await waiting.locator('small').textContent()).toBe('no rig is connected')
    expect(await page.locator('#devices [data-stopped]').count()).toBe(0)
    const rig = await Rig.login(rigPort, 'k:abc.shelf')
    onTestFinished(() => rig.close())
    rig.mine()
    const users = () => page.locator('#rig-users li').allTextContents()
    await expect
      .poll(users)
      .toEqual([expect.stringMatching(/^k:abc1 rig\d[\d,]* accepted( · \d+ stale)? · [\d.]+\u202f[kMG]?H$/)])
    // The table has the rigs, so the devices have one row for all of them.
    const devices = () => page.locator('#devices b').allTextContents()
    await expect.poll(devices).toContainEqual('rigs')
    expect((await devices()).filter((name) => name.startsWith('rig:'))).toEqual([])
    expect(await text('rig-shares')).toMatch(/^\d[\d,]* accepted/)
    expect(await text('rig-sessions')).toBe('1')
    const rows = () => page.locator('#rig-workers tr').allTextContents()
    const other = await Rig.login(rigPort, 'k:abc.other')
    await page.fill('#rig-filter', 'SHELF')
    await expect.poll(rows, LOOK).toEqual([expect.stringMatching(/^shelfk:abc.*mining$/)])
    await page.fill('#rig-filter', 'nosuch')
    await expect.poll(() => text('rig-others'), LOOK).toBe('No rig matches nosuch.')
    other.close()
    await page.fill('#rig-filter', '')
    await expect.poll(rows, LOOK).toEqual([expect.stringMatching(/^shelf/)])
    const heads = () => page.locator('#rig-heads th').allTextContents()
    const usual = ['worker', 'user', 'over an hour', 'accepted', 'refused', 'last share', 'state']
    expect(await heads()).toEqual(usual)
    await page.locator('#rig-form summary').click()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await findingsIn(page)).toEqual([])
    }
    await page.getByLabel('address').check()
    await page.getByLabel('over an hour').uncheck()
    const chosen = ['worker', 'user', 'address', 'accepted', 'refused', 'last share', 'state']
    expect(await heads()).toEqual(chosen)
    await page.reload()
    await expect.poll(heads, LOOK).toEqual(chosen)
    expect(await page.evaluate(TOO_WIDE)).toEqual([])
    const phone = await open(browser, openUrl, { viewport: { width: 390, height: 800 } })
    const cells = () => phone.page.locator('#rig-workers td').allTextContents()
    await expect.poll(cells, LOOK).toEqual(['shelf', expect.anything(), expect.anything(), 'mining'])
    const box = await phone.page.evaluate<number[]>(
      `(({ clientWidth, scrollWidth }) => [clientWidth, scrollWidth])(document.getElementById('rig-rows'))`,
    )
    expect(box[1]).toBe(box[0])
    expect(errors).toEqual([])
  })
})

const TOKEN = 'correct-horse-battery'
const METRICS = /^metrics: (http:\/\/127\.0\.0\.1:\d+)\/metrics/m
const mineAt = (http: string) => {
  return ['mine', '--difficulty', '3M', '--threads', '1', '--gpu', 'none', '--mine-page', 'off', '--http', http]
}

async function startMiner(http: string, more: readonly string[] = []): Promise<string> {
  const [, url = ''] = await start([...mineAt(http), ...more]).sees(METRICS)
  return url
}

/** A new page, its texts by id, and its errors. */
async function open(browser: Browser, url: string, options: Parameters<Browser['newPage']>[0] = {}) {
  const page: Page = await browser.newPage(options)
  onTestFinished(() => page.close())
  // Only the timeout of the test applies.
  page.setDefaultTimeout(0)
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(url)
  return { page, errors, text: async (id: string) => (await page.textContent(`#${id}`)) ?? '' }
}

const summaryOf = async (url: string) => (await (await fetch(`${url}/api/summary`)).json()) as Snapshot

/** The first event of the stream. */
async function stateOf(url: string): Promise<DashboardState> {
  const { body } = await fetch(`${url}/api/events`)
  if (body === null) throw new Error('the stream has no body')
  let text = ''
  for await (const bytes of body.pipeThrough(new TextDecoderStream())) {
    text += bytes
    const [, json] = /^event: state\ndata: (.*)\n\n/m.exec(text) ?? []
    if (json !== undefined) return JSON.parse(json)
  }
  throw new Error('the stream ended without a state')
}

/** The visible values of the page, read at once. */
function shownBy(page: Page) {
  return page.evaluate<{ readonly blocks: readonly (readonly [string, ...unknown[]])[] }>(`(() => {
    const text = (id) => document.getElementById(id).textContent
    const number = (each) => Number((each.textContent ?? each).replaceAll(',', ''))
    const rows = (selector) => [...document.querySelectorAll(selector)]
    const depth = (text) => (text === 'at the head' ? 1 : /^\\d+ deep$/.test(text) ? Number.parseInt(text) : null)
    return {
      counts: ['accepted', 'stale', 'orphaned', 'rejected', 'lost'].map((id) => Number(text(id))),
      work: [Number(text('work-chain')), number(text('work-height')), text('work-difficulty').replace('\\u202f', ' '), Number(text('preemptions'))],
      devices: rows('#devices b').map((each) => each.textContent),
      chains: rows('#chains tr').map(({ children: [chain, height] }) => [number(chain), number(height)]),
      mined: rows('#braid [data-chain].mined').map((each) => each.getAttribute('data-chain')),
      blocks: rows('#blocks tr').map(({ dataset: { hash }, children: [, state, chain, height] }) =>
        [hash, depth(state.children[1].textContent), number(chain), number(height)]),
    }
  })()`)
}

/** Serves a dashboard for this snapshot. Resolves with its URL. */
async function serve(snapshot: () => Snapshot): Promise<string> {
  const about = { version: '1', network: 'development', account: 'k:a' }
  const hub = new Hub({ about, snapshot, clock: systemClock })
  const extensions = [
    { path: '/', addTo: addDashboard },
    { path: '/api/events', addTo: (app: Parameters<typeof addEvents>[0]) => addEvents(app, hub) },
  ]
  const api = await startApi({ host: '127.0.0.1', port: 0 }, snapshot, new Metrics(snapshot, '1'), ...extensions)
  onTestFinished(() => api.close())
  return api.url
}
