/** Every option that reads a public key also accepts its account `k:KEY`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { checkMinerOptions } from '../../src/commands/input/miner-setup.ts'
import { resolveConfig } from '../../src/faces/cli/config-file.ts'
import { LiveConfig } from '../../src/faces/cli/live-config.ts'
import { devnetOptions } from '../../src/faces/cli/options/devnet.ts'
import { leadOptions } from '../../src/faces/cli/options/lead.ts'
import { mineOptions } from '../../src/faces/cli/options/mine.ts'
import { balanceOptions } from '../../src/faces/cli/options/wallet.ts'
import { paceSearch } from '../pace.ts'
import { run, startHere, stopAll } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-public-key-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(stopAll)
paceSearch()

const KEY = 'ab12'.repeat(16)
const OTHER = 'cd34'.repeat(16)
const EXPECTED = 'expected public keys of 64 hex digits, or accounts k:KEY'

let files = 0
function fileWith(text: string): string {
  const file = join(folder, `${files++}.yaml`)
  writeFileSync(file, text)
  return file
}

const tables = { mine: mineOptions, lead: leadOptions, balance: balanceOptions }

describe.each(Object.entries(tables))('the public key of newcut %s', (name, table) => {
  const keysIn = (flags: Record<string, unknown>, environment: Record<string, string>, file?: string) =>
    resolveConfig(table, flags, environment, file).values['public-key']

  it.each([
    [[`k:${KEY}`], [KEY]],
    [[`k:${KEY.toUpperCase()}`], [KEY]],
    [[KEY.toUpperCase()], [KEY]],
    [[`k:${KEY},${OTHER}`], [KEY, OTHER]],
    [
      [KEY, ` k:${OTHER}`],
      [KEY, OTHER],
    ],
  ])(`the public key of newcut ${name} is read from a flag, a variable and a file: %j`, (given, keys) => {
    expect(keysIn({ 'public-key': given }, {})).toEqual(keys)
    expect(keysIn({}, { NEWCUT_PUBLIC_KEY: given.join(',') })).toEqual(keys)
    expect(keysIn({}, {}, fileWith(`public-key: ${JSON.stringify(given)}\n`))).toEqual(keys)
    if (given.length === 1) expect(keysIn({}, {}, fileWith(`public-key: ${given[0]}\n`))).toEqual(keys)
  })
})

describe('a text that is no public key is refused with a reason:', () => {
  it.each([
    [`k:${KEY.slice(1)}`, 'looks like a k: account, but the key is not 64 hex digits (it has 63)'],
    ['k:me', 'looks like a k: account, but the key is not 64 hex digits'],
    ['k:', 'looks like a k: account, but the key is not 64 hex digits'],
    [`k:k:${KEY}`, 'looks like a k: account, but the key is not 64 hex digits'],
    [`w:${KEY}:keys-any`, 'looks like a w: account, and only k: accounts have their key in the name'],
    [`0x${KEY}`, 'begins with 0x: leave that out'],
    [KEY + OTHER, 'is not 64 hex digits (it has 128)'],
    [`${KEY},k:${OTHER}0`, 'key 2 looks like a k: account, but the key is not 64 hex digits (it has 65)'],
  ])('newcut mine refuses a public key with a reason: %s', (text, problem) => {
    const read = () => resolveConfig(mineOptions, { 'public-key': [text] }, {}, undefined)
    expect(read).toThrow(`--public-key ${text}: ${problem}; ${EXPECTED}`)
  })

  it('a text that does not resemble a key gets no further explanation', () => {
    for (const text of ['me', `${KEY.slice(2)}zz`, '']) {
      const read = () => resolveConfig(mineOptions, { 'public-key': [text] }, {}, undefined)
      expect(read).toThrow(new RegExp(`^--public-key ${text}: ${EXPECTED}$`))
    }
  })

  it('newcut mine refuses a public key in a file that YAML reads as a number', () => {
    for (const text of [`0x${KEY}`, `[0x${KEY}]`]) {
      const read = () => resolveConfig(mineOptions, {}, {}, fileWith(`public-key: ${text}\n`))
      expect(read).toThrow(/, public-key: .*: read as a number: put the key in quotes, without 0x; expected/)
    }
  })
})

it('over HTTP the account of the current key changes nothing, and an invalid key is refused with its reason', async () => {
  const config = resolveConfig(mineOptions, { 'public-key': [KEY], node: ['a:1'] }, {}, undefined)
  const shown: unknown[] = []
  const live = new LiveConfig(config, {
    apply: async () => undefined,
    check: (next) => checkMinerOptions(next, {}),
    show: (event) => shown.push(event),
  })
  await live.change({ 'public-key': `k:${KEY}` })
  await live.change({ 'public-key': [`k:${KEY.toUpperCase()}`] })
  expect(shown).toEqual([])
  await expect(live.change({ 'public-key': `k:${OTHER}` })).rejects.toThrow('public-key: cannot be changed over HTTP')
  await expect(live.change({ 'public-key': 'k:me' })).rejects.toThrow(
    `public-key: "k:me": looks like a k: account, but the key is not 64 hex digits; ${EXPECTED}`,
  )
})

it('a development network pays the key of a k: account', async () => {
  const { values } = resolveConfig(devnetOptions, { 'mining-public-key': [`k:${KEY}`] }, {}, undefined)
  expect(values['mining-public-key']).toEqual([KEY])
  const args = ['devnet', '--port', '0', '--graph', 'pair', '--difficulty', '1', '--mining-public-key', `k:${KEY}`]
  const node = startHere([...args, '--mine', '--threads', '1', '--kernel', 'js'])
  await node.sees(new RegExp(`^paid: k:${KEY} `, 'm'))
  await node.sees(/ accepted /)
})

it('newcut mine pays the key of a k: account', async () => {
  const args = ['mine', '--public-key', `k:${KEY}`, '--blocks', '1', '--difficulty', '1k', '--graph', 'pair']
  const { code, out } = await run([...args, '--http', 'off', '--gpu', 'none', '--threads', '1', '--kernel', 'js'])
  expect(code).toBe(0)
  expect(out).toContain(`paid: k:${KEY} (keys-all)`)
})
