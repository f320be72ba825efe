/** `newcut fund` as a user runs it, against a development network of its own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { proxyTo } from '../copy/proxy.ts'
import { type RunningHere, run, startHere, stopAll } from './run.ts'

const KEY = 'ab'.repeat(32)
let node: RunningHere
let url: string

beforeAll(async () => {
  node = startHere(['devnet', '--port', '0', '--auto-mine', 'on-demand', '--graph', 'pair'])
  url = (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/))[1]
})
afterAll(() => stopAll())

const newcut = (...args: string[]) => run(args, { NEWCUT_NODE: url })

describe('newcut fund', () => {
  it('newcut fund mints coins for a new account, and again for one that exists', async () => {
    const first = await newcut('fund', `k:${KEY}`, '100', '--chain', '1')
    expect(first).toMatchObject({ code: 0, out: `100.0 coins for k:${KEY} on chain 1, which now has 100.0\n` })
    const { code, out } = await newcut('fund', `k:${KEY}`, '0.000000000001', '--chain', '1', '--json')
    expect(code).toBe(0)
    const facts = { account: `k:${KEY}`, chain: 1, amount: '0.000000000001', height: 2 }
    expect(JSON.parse(out)).toMatchObject({ ...facts, balance: 100.000000000001 })
    expect((await newcut('balance', `k:${KEY}`)).out).toContain('100.000000000001')
  })

  it('newcut fund keeps the guard of an account with another name', async () => {
    const guard = '(at "guard" (coin.details "sender00"))'
    const before = (await newcut('local', guard)).out
    const { out } = await newcut('fund', 'sender00', '1.5')
    expect(out).toMatch(/^1\.5 coins for sender00 on chain 0, which now has \d+\.5\n$/)
    expect((await newcut('local', guard)).out).toBe(before)
  })

  it.each([
    [['nobody', '1'], 'nobody got no coins: there is no such account on chain 0'],
    [['nobody', '1'], 'a new account must be k:KEY'],
    [['sender00', '0'], 'amount 0 is not a number of coins above 0'],
    [['sender00', '-1'], '-1'],
    [['sender00', '1e3'], 'amount 1e3 is not a number'],
    [['sender00', '1', '--chain', '7'], '--chain 7: development has chains 0 to 1'],
    [['sender00'], 'fund needs an argument: AMOUNT'],
  ])('newcut fund refuses %j: %s', async (args, text) => {
    const { code, err } = await newcut('fund', ...args)
    expect(code).toBeGreaterThan(0)
    expect(err).toContain(text)
  })

  it('newcut fund says that another node takes no control requests', async () => {
    const proxy = await proxyTo(url)
    proxy.manner = ({ url: path }, forward) =>
      path.startsWith('/devnet/') ? Promise.resolve({ status: 404, body: '' }) : forward()
    const { code, err } = await run(['fund', 'sender00', '1'], { NEWCUT_NODE: proxy.url })
    expect(code).toBe(21)
    expect(err).toContain('this node takes no control requests')
    expect(err).toContain('only nodes of newcut devnet take them')
  })
})
