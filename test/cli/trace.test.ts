/** `newcut trace` as a user runs it, against a development network of its own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { itWith } from '../needs.ts'
import { until } from '../wait.ts'
import { type RunningHere, run, startHere, stopAll } from './run.ts'
import { noTerminal, startInTerminal } from './terminal.ts'

let node: RunningHere
let url: string

beforeAll(async () => {
  node = startHere(['devnet', '--port', '0', '--auto-mine', 'constant:250ms', '--graph', 'singleton'])
  url = (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/))[1]
  await until(async () => {
    const answer = await fetch(`${url}/chainweb/0.0/development/cut`)
    return ((await answer.json()) as { readonly height: number }).height > 1
  })
})
afterAll(() => stopAll())

const newcut = (...args: string[]) => run(args, { NEWCUT_NODE: url })

/** Sends a transfer, and returns its request key once it is in a block. */
async function sent(amount: string): Promise<{ readonly key: string; readonly gas: number }> {
  const transfer = `(coin.transfer "sender00" "sender01" ${amount})`
  const caps = ['--cap', '(coin.GAS)', '--cap', transfer.replace('transfer', 'TRANSFER')]
  const { out } = await newcut('send', transfer, '--key', 'sender00', ...caps, '--no-preflight', '--no-wait', '--json')
  const { requestKey: key } = JSON.parse(out)
  await newcut('result', key, '--chain', '0')
  const { out: json } = await newcut('trace', key, '--json')
  return { key, gas: JSON.parse(json).gas }
}

describe('newcut trace', () => {
  it('newcut trace prints the steps of a transaction, with gas that adds up', async () => {
    const { key, gas } = await sent('1.5')
    const { code, out } = await newcut('trace', key)
    const [head, columns, root, ...lines] = out.trimEnd().split('\n')
    expect(code).toBe(0)
    expect(head).toMatch(new RegExp(`^chain 0, height \\d+: success, gas ${gas}$`))
    expect(columns).toMatch(/^ *total +own {2}gas of each step$/)
    expect(root).toBe(`${gas}.000   0.000  transaction → "Write succeeded"`)
    const own = [root, ...lines].map((line) => Number(/^ *[\d.]+ +(-?[\d.]+)/.exec(line)?.[1]))
    expect(own.reduce((sum, each) => sum + Math.round(each * 1000), 0)).toBe(gas * 1000)
    expect(lines.some((line) => line.endsWith('└ coin.transfer "sender00" "sender01" 1.5 → "Write succeeded"'))).toBe(
      true,
    )
    expect(lines.some((line) => line.includes('event coin.TRANSFER "sender00" "sender01" 1.5'))).toBe(true)
    // Gas is bought and redeemed in a line each. Keysets have one line with their key.
    expect(lines.filter((line) => / (buy|redeem) gas /.test(line))).toHaveLength(2)
    expect(out).not.toMatch(/coin\.(buy|redeem)-gas|[0-9a-f]{64}/)
    expect(out.match(/KeySet#1 \{keys: \[368820f8…\],pred: keys-all\}/g)).toHaveLength(1)
    expect(lines.filter((line) => line.includes('KeySet#1')).length).toBeGreaterThan(2)
    const { out: whole } = await newcut('trace', key, '--all')
    expect(whole).toMatch(/coin\.buy-gas "sender00"/)
    expect(whole).toMatch(/KeySet \{keys: \[[0-9a-f]{64}\],pred: keys-all\}/)
    const { nodes, trace } = JSON.parse((await newcut('trace', key, '--json')).out)
    expect(whole.trimEnd().split('\n')).toHaveLength(nodes + 2)
    expect(JSON.stringify(trace)).toMatch(/KeySet \{keys: \[[0-9a-f]{64}\],pred: keys-all\}/)
  })

  it('newcut trace of a failed transaction ends with the place of the failure', async () => {
    const { key } = await sent('1000000000.0')
    const { code, out } = await newcut('trace', key)
    expect(code).toBe(0)
    expect(out).toMatch(/^chain 0, height \d+: failure, gas 2500\n/)
    expect(out).toMatch(/\nfailed in coin\.debit at coin:\d+:\d+: Insufficient funds\n$/)
    expect(out.match(/FAILED: Insufficient funds/g)).toHaveLength(1)
  })

  itWith(noTerminal, 'newcut trace fits into a terminal of 80 columns', async () => {
    const { key } = await sent('1.25')
    const terminal = startInTerminal(['trace', key], { columns: 80, rows: 40, env: { NEWCUT_NODE: url } })
    expect(await terminal.ended).toBe(0)
    const lines = terminal.lines().filter((line) => line !== '')
    const { out } = await newcut('trace', key)
    // No line wraps, so there are as many as without a terminal.
    expect(lines).toHaveLength(out.trimEnd().split('\n').length)
    expect(lines.some((line) => line.length === 80 && line.endsWith('…'))).toBe(true)
  })

  it('newcut trace explains why there is no trace', async () => {
    const unknown = await newcut('trace', 'A'.repeat(43))
    expect(unknown.out).toBe('')
    expect(unknown.code).not.toBe(0)
    expect(unknown.err).toContain(`no block of this network has a transaction ${'A'.repeat(43)}`)
    expect((await newcut('trace', 'short')).err).toContain('trace short: not a request key')
    const dash = `-${'A'.repeat(42)}`
    expect((await newcut('trace', dash)).err).toContain(`no block of this network has a transaction ${dash}`)
  })
})
