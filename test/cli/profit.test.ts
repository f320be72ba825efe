/** Income, cost and paid blocks end to end: real miners on loopback, compared with the balance that the chain has. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { exactSum } from '../../src/ground/base/coins.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { paceSearch } from '../pace.ts'
import { until } from '../wait.ts'
import { run, start, startHere, stopAll } from './run.ts'

paceSearch()
afterEach(stopAll)

const KEY = 'ab'.repeat(32)
const METRICS = /metrics: (http:\/\/127\.0\.0\.1:\d+)\/metrics/
const PRICES = ['--coin-price', '0.02USD', '--power-price', '0.30USD/kWh']
/** Blocks are fast, so that the miner finds many. */
const EASY = ['--threads', '1', '--kernel', 'js', '--gpu', 'none', '--http', '127.0.0.1:0']
const HARD = [...EASY, '--difficulty', '1P', '--graph', 'pair']

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-profit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const summaryOf = async (url: string) => (await (await fetch(`${url}/api/summary`)).json()) as Required<Snapshot>

async function metricOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^newcut_${name}(?:{[^}]*})? (.*)$`, 'm').exec(text)?.[1])
}

/** The coins of the paid account on all chains, as the node says. */
async function balanceAt(node: string): Promise<string> {
  const { out } = await run(['balance', `k:${KEY}`, '--node', node, '--json'])
  return exactSum([(JSON.parse(out) as { readonly total: string }).total])
}

/** Arguments of a miner for a node, with a journal in this folder. */
const minerOf = (node: string, state: string) => {
  return ['mine', '--node', node, '--public-key', KEY, '--state', state, ...EASY, ...PRICES]
}

describe('a miner for a node', () => {
  it('a miner for a node shows in summary, metrics and `newcut blocks` exactly what the chain paid, fees included', async () => {
    const devnet = startHere(['devnet', '--port', '0', '--graph', 'pair', '--difficulty', '2k'])
    const [, node] = await devnet.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/)
    const state = newFolder()
    const miner = start(minerOf(node, state))
    const [, url] = await miner.sees(METRICS)
    const transfer = ['transfer', 'sender01', '1.5', '--key', 'sender00', '--gas-price', '0.0001', '--node', node]
    expect(await run([...transfer, '--json'])).toMatchObject({ code: 0 })
    await until(async () => Number((await summaryOf(url)).earnings.total.fees) > 0)
    // A solution that was found before the pause may come after it, so all is of a time in which the balance stays.
    miner.child.kill('SIGUSR1')
    await until(async () => (await summaryOf(url)).paused)
    const listed = ['blocks', '--state', state, '--summary', '--coin-price', '0.02USD']
    const look = async () => {
      const before = await balanceAt(node)
      const { earnings } = await summaryOf(url)
      const metric = (name: string) => metricOf(url, name)
      const metrics = [
        await metric('paid_blocks'),
        await metric('paid_coins'),
        await metric('paid_fee_coins'),
        await metric('paid_value'),
      ]
      const [summed, text] = [(await run([...listed, '--json'])).out, (await run(listed)).out]
      const isWhole = earnings.unknownBlocks === 0 && earnings.total.coins === before
      return isWhole && (await balanceAt(node)) === before ? { earnings, metrics, summed, text } : null
    }
    let seen = await look()
    await until(async () => {
      seen ??= await look()
      return seen !== null
    })
    const { earnings, metrics, summed, text } = seen as NonNullable<typeof seen>
    expect(earnings.run).toEqual(earnings.total)
    expect(earnings.total.fees).toMatch(/^0\.0\d+$/)
    const { blocks, coins, fees } = earnings.total
    expect(Number(coins)).toBeCloseTo(blocks * 11.522615 + Number(fees), 9)
    expect(earnings).toMatchObject({ currency: 'USD', value: Number(coins) * 0.02 })
    expect(metrics).toEqual([blocks, Number(coins), Number(fees), earnings.value])

    const sums = JSON.parse(summed)
    expect(sums).toMatchObject({ network: 'development', accounts: [`k:${KEY}`], unknownBlocks: 0, currency: 'USD' })
    for (const span of ['paid', 'lastDay', 'lastWeek', 'lastMonth']) {
      expect(sums[span], span).toEqual({ blocks, coins, fees, value: earnings.value })
    }
    const [, shown] = /^ {2}paid +(.*)$/m.exec(text) ?? []
    expect(shown).toMatch(new RegExp(`^${blocks} blocks? +${coins} coins  [\\d.]+ USD  \\(${fees} of them fees\\)$`))

    miner.child.kill('SIGTERM')
    await miner.ended
    const { paid } = JSON.parse((await run([...listed, '--json'])).out)
    const [, second] = await startHere(minerOf(node, state)).sees(METRICS)
    await until(async () => (await summaryOf(second)).earnings.run.blocks > 0)
    const { run: ofRun, total } = (await summaryOf(second)).earnings
    expect(total.blocks).toBe(paid.blocks + ofRun.blocks)
    expect(total.coins).toBe(exactSum([paid.coins, ofRun.coins]))
  })
})

describe('prices', () => {
  it('prices of coins and power give the expected result of a day, from rate, reward and difficulty', async () => {
    const miner = startHere(['mine', ...HARD, ...PRICES, '--watts', '150'])
    const [, url] = await miner.sees(METRICS)
    const [told] = await miner.sees(
      / loss {6}[\d.e-]+ coins\/day, [\d.e-]+ USD, power 1\.08 USD, loss [\d.]+ USD\/day\n.*\n/,
    )
    expect(told).toMatch(/ breaks even at [\d.,]+ USD a coin or [\d.e-]+ USD\/kWh\n$/)
    const { profit, work } = await summaryOf(url)
    const { hashrate, coinsPerDay } = profit
    expect(profit).toMatchObject({ difficulty: work?.difficulty, reward: 11.522615, watts: 150, payer: 'chain' })
    expect(coinsPerDay / ((hashrate * 86_400 * 11.522615) / (work?.difficulty ?? 0))).toBeCloseTo(1, 9)
    expect(profit.incomePerDay).toBeCloseTo(coinsPerDay * 0.02, 12)
    expect(profit.powerCostPerDay).toBeCloseTo(1.08, 12)
    expect(profit.profitPerDay).toBeCloseTo(coinsPerDay * 0.02 - 1.08, 12)
    expect(await metricOf(url, 'power_cost_per_day')).toBeCloseTo(1.08, 12)
    expect(await metricOf(url, 'profit_per_day')).toBeLessThan(0)
  })

  it('prices change while the miner runs, both at once over HTTP, and never to two currencies', async () => {
    const token = 'correct-horse-battery'
    const miner = startHere(['mine', ...HARD, ...PRICES, '--http-token', token])
    const [, url] = await miner.sees(METRICS)
    await until(async () => (await summaryOf(url)).profit !== undefined)
    const put = async (body: object) => {
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(`${url}/2/config`, { method: 'PUT', headers, body: JSON.stringify(body) })
      return [answer.status, await answer.text()] as const
    }
    const [status, refusal] = await put({ 'coin-price': '1EUR' })
    expect(status).toBe(400)
    expect(refusal).toContain('--coin-price is in EUR and --power-price in USD')
    expect((await summaryOf(url)).profit).toMatchObject({ currency: 'USD', coinPrice: 0.02 })
    expect((await put({ 'coin-price': '1EUR', 'power-price': '0.2EUR/kWh' }))[0]).toBeLessThan(300)
    expect((await summaryOf(url)).profit).toMatchObject({ currency: 'EUR', coinPrice: 1, powerPrice: 0.2 })
    // Without an order, the flags hold again.
    expect((await put({ 'power-price': null, 'coin-price': null }))[0]).toBeLessThan(300)
    expect((await summaryOf(url)).profit).toMatchObject({ currency: 'USD', coinPrice: 0.02, powerPrice: 0.3 })
  })

  it.each([
    [['--coin-price', 'much'], '--coin-price much: has no number; expected a price and its currency, such as 0.02USD'],
    [['--coin-price=-1USD'], '--coin-price -1USD: is negative; expected'],
    [['--power-price', '0.3'], '--power-price 0.3: has no currency; expected a price and its currency for a kilowatt'],
    [['--power-price', '0.3USD'], '--power-price 0.3USD: has no unit: add /kWh; expected'],
    [
      ['--coin-price', '1USD', '--power-price', '1EUR/kWh'],
      '--coin-price is in USD and --power-price in EUR (state both in one currency: newcut knows no exchange rate)',
    ],
  ])('newcut mine refuses the prices %j', async (flags, message) => {
    const { code, out, err } = await run(['mine', ...HARD, ...flags])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
    expect(err).toMatch(/\[BAD_OPTION\]\n$/)
  })

  it.each([
    [['--coin-price', '1USD'], '--coin-price has no effect: it is for --summary (add --summary)'],
    [['--summary', '--csv'], '--csv has no effect: --summary prints sums (--json prints them too)'],
  ])('newcut blocks refuses %j', async (flags, message) => {
    const { code, err } = await run(['blocks', '--state', newFolder(), ...flags])
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})
