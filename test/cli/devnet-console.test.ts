/** Transaction lines of `newcut devnet`: in this process, and in a pseudo-terminal. */
import { afterEach, describe, expect, it } from 'vitest'
import { describeWith } from '../needs.ts'
import { run, runProcess, startHere, stopAll } from './run.ts'
import { noTerminal, startInTerminal, stopTerminals } from './terminal.ts'

const CONTROL_C = '\u0003'
const FAILS = '(enforce (= 1 2) "one is not two")'
const BLOCKS = ['--graph', 'pair', '--auto-mine', 'constant:200ms']

afterEach(stopAll)

/** Sends three transactions; returns the node's answers. */
async function sendThree(url: string) {
  const newcut = (...args: string[]) => run(args, { NEWCUT_NODE: url })
  const sent = await newcut('transfer', 'sender01', '1.5', '--key', 'sender00')
  expect(sent).toMatchObject({ code: 0, out: 'moved 1.5 coins from sender00 to sender01 on chain 0\n' })
  expect((await newcut('send', FAILS, '--key', 'sender00', '--no-preflight')).err).toContain('[COMMAND_FAILED]')
  const cheap = ['--no-preflight', '--gas-price', '0.000000000001']
  expect((await newcut('send', '(+ 1 2)', '--key', 'sender00', ...cheap)).err).toContain('[NODE_REFUSED]')
}

/** Resolves when both chains have blocks. */
async function untilMined(url: string): Promise<void> {
  const heights = async () => {
    const { hashes } = (await (await fetch(`${url}/chainweb/0.0/development/cut`)).json()) as {
      readonly hashes: Readonly<Record<string, { readonly height: number }>>
    }
    return Math.min(...Object.values(hashes).map(({ height }) => height))
  }
  await expect.poll(heights).toBeGreaterThan(1)
}

describe('newcut devnet without a terminal', () => {
  it('newcut devnet without a terminal prints a line for each transaction, and one for all empty blocks so far', async () => {
    const node = startHere(['devnet', '--port', '0', ...BLOCKS])
    const [, url] = await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/)
    await untilMined(url)
    await sendThree(url)
    await node.sees(
      /^\S+ ok {8}chain 0 {2}height \d+ +[\w-]{10}… {2}sender00 -> sender01 1\.5 {2}gas \d+ {2}"Write succeeded"$/m,
    )
    await node.sees(
      /^\S+ failed {4}chain 0 {2}height \d+ +[\w-]{10}… {2}\(enforce \(= 1 2\) "one is not two"\) {2}gas \d+ {2}one is not two$/m,
    )
    await node.sees(
      /^\S+ refused {3}chain 0 {2}[\w-]{10}… {2}\(\+ 1 2\) {2}Transaction gas price .* is below minimum gas price/m,
    )
    expect(node.out().match(/ block {5}chain \d+ +height \d+/g)).toHaveLength(1)
    expect(await node.stop()).toMatchObject({ code: 0, err: '' })
  })

  it('newcut devnet without a terminal first prints the facts that a user needs: addresses for clients, the source of blocks, how to sign', async () => {
    const node = startHere(['devnet', '--port', '0', '--graph', 'pair'])
    const [, url] = await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/)
    await node.sees(/see it in a browser: \S+\n/)
    const lines = node.out().split('\n')
    for (const line of [
      `clients: ${url}/chainweb/0.0/development/chain/0/pact (chains 0 to 1)`,
      'blocks: only from miners and POST /make-blocks; --mine or --auto-mine constant:2s makes them automatically',
      `make a block: curl -H 'content-type: application/json' -d '{"0":1}' ${url}/make-blocks`,
      `see it in a browser: ${url}/`,
      `try its calls in a browser: ${url}/explorer/api`,
      `sign as one of them: newcut transfer sender01 1.5 --key sender00 --node ${url}`,
    ]) {
      expect(lines).toContain(line)
    }
    expect(lines.slice(-2)).toEqual([`see it in a browser: ${url}/`, ''])
  })

  it('newcut devnet without a terminal reports a waiting transaction, and the source of blocks', async () => {
    const node = startHere(['devnet', '--port', '0', '--graph', 'pair', '--auto-mine', 'on-demand'])
    const [, url] = await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/)
    expect(node.out()).toContain('make a block: curl')
    const { code } = await run(['send', '(+ 1 2)', '--key', 'sender00', '--no-wait', '--no-preflight', '--node', url])
    expect(code).toBe(0)
    await node.sees(
      / pending {3}chain 0 {2}[\w-]{10}… {2}\(\+ 1 2\) {2}in no block for 3 s; blocks by POST \/make-blocks\n/,
    )
  })

  it('newcut devnet without a terminal writes a JSON record for each step, and one for each block, with --log json', async () => {
    const node = startHere(['devnet', '--port', '0', ...BLOCKS, '--log', 'json'])
    const [, url] = await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)"/)
    await untilMined(url)
    await sendThree(url)
    await node.sees(/"step":"refused".*\n/)
    const records = node
      .out()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    const steps = records.filter(({ event }) => event === 'transaction')
    expect(steps.map(({ step, status, httpStatus }) => [step, status ?? httpStatus])).toEqual([
      ['pending', undefined],
      ['included', 'success'],
      ['pending', undefined],
      ['included', 'failure'],
      ['refused', 400],
    ])
    const [, ok, , failed] = steps
    expect(ok).toMatchObject({
      level: 'info',
      chain: 0,
      requestKey: expect.stringMatching(/^[\w-]{43}$/),
      sender: 'sender00',
      action: { kind: 'transfer', sender: 'sender00', receiver: 'sender01', amount: '1.5' },
      result: '"Write succeeded"',
      index: 0,
      count: 1,
    })
    expect(failed).toMatchObject({ action: { kind: 'code', code: FAILS }, result: 'one is not two' })
    const held = records.filter(({ event, transactions }) => event === 'block' && transactions > 0)
    expect(held.map(({ chain, height }) => ({ chain, height }))).toEqual(
      [ok, failed].map(({ chain, height }) => ({ chain, height })),
    )
    expect(records.filter(({ event }) => event === 'block').length).toBeGreaterThan(4)
  })

  it('newcut devnet without a terminal prints no transactions beside a command of --exec', async () => {
    const send = `fetch(process.env.NEWCUT_NODE + '/api/v1/send', { method: 'POST', body: 'x' }).then((a) => console.log(a.status))`
    const { out, err } = await runProcess(['devnet', '--graph', 'pair', '--exec', `${process.execPath} -e "${send}"`])
    expect({ out, err }).toEqual({ out: '415\n', err: '' })
  })
})

describeWith(noTerminal, 'newcut devnet in a terminal', () => {
  afterEach(stopTerminals)

  it('newcut devnet on a terminal shows the current state in its status line, and transactions and requests above it', async () => {
    const { lines, press, ended } = startInTerminal(['devnet', '--port', '0', ...BLOCKS, '--log-requests'], {
      columns: 120,
    })
    const urlIn = () => / at\s+(http:\/\/127\.0\.0\.1:\d+)/.exec(lines().join('\n'))?.[1] ?? ''
    await expect.poll(urlIn).not.toBe('')
    await untilMined(urlIn())
    await sendThree(urlIn())
    const status =
      /^heights? \d+( to \d+)? {2}(1 pending {2})?1 ok {2}1 failed {2}1 refused {2}\d+ blocks, \d+ without transactions/
    await expect.poll(() => lines().at(-1)).toMatch(status)
    const count = (label: RegExp) => lines().filter((line) => label.test(line)).length
    expect([/^\S+ ok {8}chain 0/, /^\S+ failed {4}chain 0/, /^\S+ refused {3}chain 0/].map(count)).toEqual([1, 1, 1])
    expect(count(/^\S+ (block|empty) /)).toBe(1)
    // The status line hides no request: the refused transaction shows exactly once.
    expect(count(/^\S+ request {3}POST \S+\/send {2}400 /)).toBe(1)
    expect(count(/^\S+ request {3}POST \S+\/send {2}200 /)).toBe(2)
    press(CONTROL_C)
    expect(await ended).toBe(0)
    expect(count(/without transactions/)).toBe(0)
  })
})
