/** The contract commands as a user runs them, against a development network of their own. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../wait.ts'
import { type Ended, exitCodeFor, type RunningHere, run, startHere, stopAll } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-contracts-'))
let node: RunningHere
let url: string

beforeAll(async () => {
  node = startHere(['devnet', '--port', '0', '--auto-mine', 'constant:250ms', '--graph', 'triangle'])
  url = (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/))[1]
  // A block takes no transaction that is more than 95 s newer than its parent, so wait for recent blocks.
  await until(async () => (await cutHeight()) > 3)
})
afterAll(async () => {
  await stopAll()
  rmSync(folder, { recursive: true })
})

/** The sum of the heights of all three chains. */
async function cutHeight(): Promise<number> {
  const answer = await fetch(`${url}/chainweb/0.0/development/cut`)
  return ((await answer.json()) as { readonly height: number }).height
}

/** Runs a command on that network. */
const newcut = (...args: string[]): Promise<Ended> => run(args, { NEWCUT_NODE: url })

/** Runs a command that must succeed, and returns its stdout. */
async function output(...args: string[]): Promise<string> {
  const { code, out, err } = await newcut(...args)
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  return out
}

/** Runs a command that must fail and print nothing else, and returns its error line. */
async function failure(...args: string[]): Promise<string> {
  const ended = await newcut(...args)
  expect(ended).toMatchObject({ code: exitCodeFor(ended), out: '' })
  return ended.err
}

/** Creates a key pair; returns its file and account. */
async function keyFile(name: string, ...flags: string[]): Promise<{ readonly file: string; readonly account: string }> {
  const file = join(folder, name)
  const text = await output('keygen', ...flags)
  writeFileSync(file, text)
  return { file, account: /k:[0-9a-f]{64}/.exec(text)?.[0] ?? '' }
}

const balanceOf = async (account: string): Promise<{ total: string; chains: Record<string, string | null> }> =>
  JSON.parse(await output('balance', account, '--json'))

describe('newcut local', () => {
  it.each([
    ['{"b": [1, "x"], "a": (/ 1.0 8)}', '{"a": 0.125,"b": [1, "x"]}'],
    ['(coin.get-balance "sender00")', '100000000.0'],
    // No file, although it looks like one.
    ['coin.MINIMUM_PRECISION', '12'],
  ])('newcut local %s prints %s in the notation of the language', async (code, value) => {
    expect(await output('local', code)).toBe(`${value}\n`)
  })

  it('newcut local reads data on the requested chain', async () => {
    const file = join(folder, 'data.json')
    writeFileSync(file, '{"n": 0.1234567890123456789}')
    expect(await output('local', '(read-decimal "n")', '--data', `@${file}`)).toBe('0.1234567890123456789\n')
    expect(await output('local', '(at "chain-id" (chain-data))', '--chain', '2')).toBe('"2"\n')
  })

  it('newcut local reads code from a file', async () => {
    const file = join(folder, 'sum.pact')
    writeFileSync(file, '; a sum\n(fold (+) 0 [1 2 3])\n')
    expect(await output('local', file)).toBe('6\n')
  })

  it('newcut local evaluates at an earlier block', async () => {
    const height = '(at "block-height" (chain-data))'
    const { value } = JSON.parse(await output('local', height, '--rewind', '1000000', '--json'))
    expect(value).toEqual({ int: 1 })
  })

  it('newcut local prints the JSON of the wire with --json, for errors too', async () => {
    expect(JSON.parse(await output('local', '[1 1.5 "a"]', '--json'))).toMatchObject({
      chain: 0,
      value: [{ int: 1 }, 1.5, 'a'],
      gas: expect.any(Number),
    })
    const { code, out, err } = await newcut('local', '(enforce false "no")', '--json')
    expect({ code, err }).toEqual({ code: 1, err: '' })
    expect(JSON.parse(out)).toMatchObject({
      ...{ level: 'error', event: 'error', code: 'COMMAND_FAILED', gas: expect.any(Number) },
      ...{ requestKey: expect.stringMatching(/^[\w-]{43}$/), error: { type: 'TxFailure', message: 'no' } },
    })
  })

  it.each([
    [['(enforce false "no such luck")'], 'the code failed: no such luck [COMMAND_FAILED]'],
    [['1\n(enforce false "no such luck")'], 'no such luck (line 2) [COMMAND_FAILED]'],
    [['(coin.details "nobody")'], 'coin-table for key: nobody (in coin.details) [COMMAND_FAILED]'],
    [['(+ 1'], "the code failed: Expected: [')'] (code:1:5: the ( of line 1, column 1 is not closed) [COMMAND_FAILED]"],
    [['1', '--chain', '3'], '--chain 3: development has chains 0 to 2 [BAD_OPTION]'],
    [['1', '--data', '{a'], '--data {a: not valid JSON'],
    [['.'], 'cannot read .: it is a folder (EISDIR) (name a file in it) [BAD_INPUT]'],
    [['/dev/null'], `/dev/null is empty (expected code, such as '(coin.get-balance "sender00")') [BAD_INPUT]`],
    [[' '], 'the code is empty (expected code'],
    [
      ['nofile.pact'],
      'cannot read nofile.pact: it does not exist (ENOENT) (check the name and the folder of the file) [BAD_INPUT]',
    ],
    [['(fold (+) 0 (enumerate 1 1000))', '--gas-limit', '10'], '(give more gas with --gas-limit) [COMMAND_FAILED]'],
    [['1', '--fingerprint', 'ab'.repeat(32)], 'does not use TLS'],
    [['1', '--node', '127.0.0.1:1'], '(is a node running there? newcut devnet starts one; --node names another)'],
  ])('newcut local refuses %j', async (args, message) => {
    expect(await failure('local', ...args)).toContain(message)
  })

  it('newcut local takes options of a single call from flags only', async () => {
    const { err } = await run(['local', '1', '--node', url], { NEWCUT_CHAIN: '1' })
    expect(err).toContain('NEWCUT_CHAIN in the environment: no such option')
    expect((await run(['local', '1', '--node', url], { NEWCUT_DATA: '/some/folder' })).out).toBe('1\n')
  })
})

/** An amount of coins in units of 10^-12. */
function unitsOf(amount: string): bigint {
  const [whole, part] = amount.split('.')
  return BigInt(whole + part.padEnd(12, '0'))
}

describe('newcut balance', () => {
  it('newcut balance shows every chain and the total, aligned at the decimal points', async () => {
    expect(await output('balance', 'sender05')).toBe(
      'sender05\nchain 0   150000000.0\nchain 1   150000000.0\nchain 2   150000000.0\ntotal     450000000.0\n',
    )
    expect(await balanceOf('sender06')).toEqual({
      account: 'sender06',
      total: '480000000',
      chains: { 0: '160000000', 1: '160000000', 2: '160000000' },
    })
  })

  it('newcut balance reports an unknown account', async () => {
    expect(await output('balance', 'nobody')).toBe('nobody: on none of the 3 chains\n')
  })

  it('newcut balance defaults to the account that the configuration pays', async () => {
    const { account } = await keyFile('miner.yaml')
    expect(await output('balance', '--config', join(folder, 'miner.yaml'))).toBe(
      `${account}: on none of the 3 chains\n`,
    )
    expect(await output('balance')).toMatch(/^k:3b6a27b[0-9a-f]+\nchain 0 +\d+\.\d+\n/)
  })

  it('newcut balance continues with --watch, one line for each change', async () => {
    const watching = startHere(['balance', '--watch'], { NEWCUT_NODE: url })
    const change = /changed {3}chain ([012]) {2}(\d+\.\d+) {2}\+(\d+\.\d+) {2}total (\d+\.\d+)/
    const [, chain, now = '', gain = '', total = ''] = await watching.sees(change)
    const shownAt = (row: string) => unitsOf(watching.out().match(new RegExp(`^${row} +(\\S+)$`, 'm'))?.[1] ?? '')
    expect(unitsOf(now) - shownAt(`chain ${chain}`)).toBe(unitsOf(gain))
    expect(unitsOf(total) - shownAt('total')).toBe(unitsOf(gain))
    // One block reward on a network of three chains for each block since the last balance query.
    expect(unitsOf(gain)).toBeGreaterThan(0n)
    expect(unitsOf(gain) % unitsOf('7.681743333333')).toBe(0n)
    expect(await watching.stop()).toMatchObject({ code: 0, err: '' })
  })

  it('newcut balance ends without an error if it is stopped while it waits for an answer', async () => {
    const watching = startHere(['balance', '--watch'], { NEWCUT_NODE: url })
    await watching.sees(/^total/m)
    const faults = async () => {
      const answer = await fetch(`${url}/devnet/status`)
      return ((await answer.json()) as { readonly faults: readonly unknown[] }).faults
    }
    await fetch(`${url}/devnet/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ operation: 'local', count: 1, delayMs: 600_000 }),
    })
    await until(async () => (await faults()).length === 0)
    expect(await watching.stop()).toMatchObject({ code: 0, err: '' })
  })
})

describe('newcut send', () => {
  it('newcut send signs, tries, sends, waits, and prints the value; progress goes to stderr', async () => {
    const { code, out, err } = await newcut('send', '(+ 40 2)', '--key', 'sender00')
    expect({ code, out }).toEqual({ code: 0, out: '42\n' })
    const labels = err.split('\n').map((line) => line.slice(9, 18).trim())
    expect(labels.filter((label, i) => label !== '' && label !== labels[i - 1])).toEqual(
      expect.arrayContaining(['tried', 'sent', 'included']),
    )
  })

  it('newcut send prints the request key with --no-wait, and newcut result prints its value', async () => {
    const key = (await output('send', '"later"', '--key', 'sender01', '--no-wait', '--chain', '1')).trim()
    expect(key).toMatch(/^[\w-]{43}$/)
    expect(await output('result', key, '--chain', '1', '--depth', '2')).toBe('"later"\n')
    const result = JSON.parse(await output('result', key, '--no-wait', '--json'))
    expect(result).toMatchObject({ chain: 1, requestKey: key, height: expect.any(Number), value: 'later' })
  })

  it.each(['-UApSOSS58J0l2FETYE4gdMGCUO6OAhaVZoKFsXTE_k', '--ApSOSS58J0l2FETYE4gdMGCUO6OAhaVZoKFsXTE_k'])(
    'newcut result reads %s as a key, not as an option',
    async (key) => {
      expect(await failure('result', key, '--no-wait')).toContain(`no chain has a result of ${key}`)
      expect(await failure('result', '--no-wait', '--chain', '1', key)).toContain(`no chain has a result of ${key}`)
    },
  )

  it('newcut send signs with several keys, for the listed capabilities', async () => {
    const transfers = '[(coin.transfer "sender02" "sender03" 1.5) (coin.transfer "sender03" "sender02" 1.25)]'
    const caps = [
      '(coin.GAS)',
      '(coin.TRANSFER "sender02" "sender03" 1.5)',
      '(coin.TRANSFER "sender03" "sender02" 1.25)',
    ]
    const flags = caps.flatMap((cap) => ['--cap', cap])
    const done = await output('send', transfers, '--key', 'sender02', '--key', 'sender03', ...flags)
    expect(done).toBe('["Write succeeded", "Write succeeded"]\n')
    expect((await balanceOf('sender03')).chains[0]).toBe('130000000.25')
    expect(await failure('send', transfers, '--key', 'sender02', ...flags)).toContain('Keyset failure ( keys-all )')
  })

  it('newcut send prints the result from the block without a preflight', async () => {
    const args = ['send', '(enforce false "too late")', '--key', 'sender00', '--no-preflight']
    const { code, out, err } = await newcut(...args)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/included +chain 0 +height \d+\nnewcut: it failed on chain 0: too late .*\[COMMAND_FAILED\]\n$/)
  })

  it.each([
    [
      ['1'],
      '--key is missing: a transaction needs a signature (name a file that newcut keygen wrote, or --key sender00',
    ],
    [
      ['1', '--key', 'sender10'],
      '--key sender10: no such file or key; did you mean sender00? (newcut keygen FILE makes a key pair; well-known',
    ],
    [['1', '--key', 'ab'.repeat(32)], '--key takes the name of a file, not a key'],
    [['1', '--key', 'package.json'], '--key package.json: there is no secret key in it'],
    [['1', '--key', 'sender00', '--key', 'sender00'], 'is given twice (give it once) [BAD_OPTION]'],
    [['(enforce false "not today")', '--key', 'sender00'], 'it would fail on chain 0: not today'],
    [['1', '--key', 'sender00', '--gas-limit', '9999999'], '(give less with --gas-limit: no block has so much)'],
    [['1', '--key', 'sender00', '--ttl', '49h'], '(--ttl is at most 48h; is the clock here right?)'],
    [['1', '--key', 'sender00', '--no-wait', '--depth', '1'], '--depth has no effect: with --no-wait'],
  ])('newcut send refuses %j', async (args, message) => {
    expect(await failure('send', ...args)).toContain(message)
  })
})

describe('newcut transfer', () => {
  it('newcut transfer creates a k: account, and moves coins that its key signs for', async () => {
    const { file, account } = await keyFile('first.yaml')
    expect(await output('transfer', account, '2.5', '--key', 'sender00')).toBe(
      `moved 2.5 coins from sender00 to ${account} on chain 0\n`,
    )
    expect((await balanceOf(account)).chains).toEqual({ 0: '2.5', 1: null, 2: null })
    const sent = JSON.parse(await output('transfer', 'sender01', '0.000000000001', '--key', file, '--json'))
    expect(sent).toMatchObject({ chain: 0, value: 'Write succeeded' })
    expect(sent.events[0]).toEqual({
      name: 'coin.TRANSFER',
      params: [account, 'sender01', 1e-12],
      moduleHash: expect.stringMatching(/^[\w-]{43}$/),
    })
    const left = 2.5 - 1e-12 - sent.gas * 1e-8
    expect(Number((await balanceOf(account)).total)).toBeCloseTo(left, 12)
  })

  it('newcut transfer warns of a key file that other users may read, and so does newcut send', async () => {
    const { file, account } = await keyFile('open.yaml')
    chmodSync(file, 0o644)
    await output('transfer', account, '1', '--key', 'sender00')
    const warning = ` warning   other users may read the secret key in ${file} (mode 644); chmod 600`
    for (const args of [
      ['transfer', 'sender00', '0.1'],
      ['send', '(+ 1 2)'],
    ]) {
      const { code, err } = await newcut(...args, '--key', file)
      expect(err).toContain(warning)
      expect(code).toBe(0)
      chmodSync(file, 0o600)
      expect((await newcut(...args, '--key', file)).err).not.toContain('warning')
      chmodSync(file, 0o644)
    }
  })

  it('newcut transfer creates an account of another name with the given keyset', async () => {
    const { file, account } = await keyFile('second.json', '--json')
    // The key may be given as its `k:` account.
    for (const [shop, key] of [
      ['shop', account.slice(2)],
      ['corner-shop', account],
    ]) {
      const keyset = JSON.stringify({ keys: [key], pred: 'keys-any' })
      await output('transfer', shop, '3', '--key', 'sender04', '--receiver-keyset', keyset, '--chain', '1')
      expect(await output('transfer', shop, 'sender04', '1', '--key', file, '--chain', '1')).toContain(
        'moved 1.0 coins',
      )
    }
  })

  it('newcut transfer moves coins to another chain, in two steps', async () => {
    const { account } = await keyFile('third.yaml')
    const { code, out, err } = await newcut('transfer', account, '1.5', '--key', 'sender07', '--to-chain', '2')
    expect({ code, out }).toEqual({
      code: 0,
      out: `moved 1.5 coins from sender07 to ${account}, from chain 0 to chain 2\n`,
    })
    expect(err).toMatch(
      /step 1.*\n[\s\S]*sent {6}chain 0[\s\S]*included {2}chain 0[\s\S]*step 2.*\n[\s\S]*included {2}chain 2/,
    )
    expect((await balanceOf(account)).chains).toEqual({ 0: null, 1: null, 2: '1.5' })
  })

  it('newcut transfer may be stopped between the steps and continued once', async () => {
    const stopping = startHere(['transfer', 'sender09', '7', '--key', 'sender08', '--to-chain', '1'], {
      NEWCUT_NODE: url,
    })
    const sent = /sent {6}chain 0 +request key (\S+)\n/
    await until(() => sent.test(stopping.err()))
    const [, key = ''] = sent.exec(stopping.err()) ?? []
    const { code, out, err } = await stopping.stop()
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(new RegExp(`stopped .*to continue: newcut transfer --continue ${key} --chain 0\\n$`))
    expect(await output('transfer', '--continue', key, '--chain', '0', '--key', 'sender08')).toBe(
      'the transfer from chain 0 is complete on chain 1\n',
    )
    expect((await balanceOf('sender09')).chains[1]).toBe('190000007')
    const again = await newcut('transfer', '--continue', key, '--key', 'sender08')
    expect(again.err).toContain('somebody has already continued it on chain 1')
    expect(again.code).toBe(0)
    expect((await balanceOf('sender09')).chains[1]).toBe('190000007')
  })

  it('newcut transfer does not begin a transfer that could not be finished', async () => {
    const { file, account } = await keyFile('fourth.yaml')
    await output('transfer', account, '2', '--key', 'sender00')
    const crossing = ['transfer', 'sender01', '1', '--key', file, '--to-chain', '1']
    expect(await failure(...crossing)).toContain(
      `there is no account ${account} on chain 1 to pay for gas (the step there needs up to`,
    )
    expect((await balanceOf(account)).total).toBe('2')
    expect(await failure(...crossing, '--gas-payer', 'sender00')).toContain('is guarded by keys-all of')
    expect((await balanceOf(account)).total).toBe('2')
    const paid = await output(...crossing, '--gas-payer', 'sender00', '--key', 'sender00')
    expect(paid).toBe(`moved 1.0 coins from ${account} to sender01, from chain 0 to chain 1\n`)
  })

  it.each([
    [['k:x'], 'transfer takes [FROM] TO AMOUNT (for example newcut transfer k:KEY 1.5 --key sender00)'],
    [['sender01', '1,5'], 'amount 1,5 is not a number of coins above 0 with at most 12 decimal places'],
    [
      ['newcomer', '1', '--key', 'sender00'],
      'there is no account newcomer on chain 0, and its name does not imply a guard',
    ],
    [['sender01', 'sender00', '1', '--key', 'sender00'], 'sender01 on chain 0 is guarded by keys-all of 6be2f'],
    [['sender01', '100000000', '--key', 'sender00'], '100000000.0 with up to 0.000025 for gas are needed'],
    [['nobody', 'sender00', '1', '--key', 'sender00'], 'there is no account nobody on chain 0'],
    [['sender00', '1', '--key', 'sender00'], 'sender cannot be the receiver of a transfer'],
    [['sender01', '1', '--key', 'sender00', '--to-chain', '3'], '--to-chain 3: development has chains 0 to 2'],
    [['sender01', '1', '--key', 'sender00', '--gas-payer', 'x'], '--gas-payer has no effect: on one chain'],
    [['x', '1', '--key', 'sender00', '--receiver-keyset', '[]'], '--receiver-keyset []: not a keyset'],
    [
      ['x', '1', '--key', 'sender00', '--receiver-keyset', '{"keys":["k:x"]}'],
      '--receiver-keyset: k:x looks like a k: account, but the key is not 64 hex digits',
    ],
    [['a', '1', '--continue', 'A'.repeat(43)], 'a 1: with --continue, the first step has fixed receiver and amount'],
    [['--continue', 'A'.repeat(43), '--key', 'sender00'], 'no chain has a result of AAAA'],
  ])('newcut transfer refuses %j', async (args, message) => {
    expect(await failure('transfer', ...args)).toContain(message)
  })

  it('newcut transfer does not continue a transaction that is not a cross-chain transfer', async () => {
    const { requestKey } = JSON.parse(await output('send', '1', '--key', 'sender00', '--json'))
    const { err } = await newcut('transfer', '--continue', requestKey, '--key', 'sender00')
    expect(err).toContain(`${requestKey} on chain 0 is not the first step of a transfer between chains`)
  })
})
