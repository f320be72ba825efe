/** Options that are refused beside other options, with the texts of the refusals: test/golden/no-effect.txt. */
import { expect, it } from 'vitest'
import { resolveLayers } from '../src/faces/cli/config.ts'
import type { OptionTable } from '../src/faces/cli/flags.ts'
import { blocksOptions } from '../src/faces/cli/options/blocks.ts'
import { conformanceOptions } from '../src/faces/cli/options/conformance.ts'
import { forkCommandOptions, lspOptions } from '../src/faces/cli/options/fork.ts'
import { mineOptions } from '../src/faces/cli/options/mine.ts'
import { refuseWithoutEffect } from '../src/faces/cli/options/needs.ts'
import { payoutsOptions } from '../src/faces/cli/options/payouts.ts'
import type { OptionSpec } from '../src/faces/cli/options/row.ts'
import { testOptions } from '../src/faces/cli/options/test.ts'
import { sendOptions, transferOptions } from '../src/faces/cli/options/wallet.ts'
import { NewcutError } from '../src/ground/base/errors.ts'

/** Typed flags: option -> value, or values. */
type Flags = Readonly<Record<string, unknown>>

const NODE = ['http://127.0.0.1:1848']
const KEY = 'ab'.repeat(32)

const situations: readonly Flags[] = [
  {},
  { node: NODE },
  { node: ['https://10.0.0.5'] },
  { node: [...NODE, 'https://10.0.0.5'] },
  { pool: ['stratum+tcp://me@10.0.0.5:1917'] },
  { pool: ['stratum+ssl://me@10.0.0.5:1917', 'stratum+tcp://me@10.0.0.6:1917'] },
  { fleet: ['nats://10.0.0.5:4222'] },
  { fleet: ['tls://10.0.0.5:4222'] },
  { engine: 'external', command: 'newcut solve' },
  { gpu: 'none' },
  { gpu: 'all' },
  { threads: '0' },
  { node: NODE, pace: 'on-demand' },
  { 'stratum-listen': '127.0.0.1:1917' },
  { http: 'off' },
  { 'idle-only': true },
  { node: ['https://10.0.0.5'], fingerprint: KEY },
]

/** A value for each option that differs from its default. */
const values: Flags = {
  node: NODE,
  pool: ['stratum+tcp://me@10.0.0.5:1917'],
  fleet: ['nats://10.0.0.5:4222'],
  rig: 'garage-1',
  'fleet-name': 'mine',
  'nats-creds': 'my.creds',
  'nats-ca': 'ca.pem',
  'nats-cert': 'cert.pem',
  'nats-key': 'key.pem',
  'network-file': ['my-net.yaml'],
  failback: '30s',
  'share-blocks': false,
  'public-key': [KEY],
  account: 'me',
  predicate: 'keys-any',
  chains: '0-1',
  pace: 'constant:2s',
  'fork-vote': 'yes',
  'fork-epoch': '20',
  engine: 'external',
  command: 'newcut solve',
  threads: '2',
  kernel: 'js',
  priority: 'normal',
  gpu: 'none',
  'gpu-batch-ms': '20',
  'gpu-workgroup': '64',
  'allow-software': true,
  retune: true,
  'stratum-listen': '127.0.0.1:1917',
  'stratum-proxy-listen': '127.0.0.1:1918',
  'stratum-difficulty': '1M',
  'stratum-per-address': '8',
  'pool-sessions': '64',
  'stratum-tls-cert': 'cert.pem',
  'stratum-tls-key': 'key.pem',
  watts: '85',
  'watts-base': '20',
  'tune-for': 'efficiency',
  blocks: '2',
  duration: '1h',
  schedule: '22:00-06:00',
  'idle-only': true,
  'idle-limit': '30',
  'dry-run': true,
  confirmations: '3',
  'coin-price': '0.02USD',
  'power-price': '0.3USD/kWh',
  state: 'state',
  http: '127.0.0.1:4149',
  'http-token': '0123456789abcdef',
  'pool-api': true,
  'mine-page': 'on',
  log: 'json',
  'log-level': 'debug',
  'log-file': 'newcut.log',
  stall: '30s',
  'fail-fast': true,
  insecure: true,
  ca: 'ca.pem',
  fingerprint: KEY,
  graph: 'petersen',
  'block-delay': '10s',
  difficulty: '10k',
  pow: false,
}

const lineOf = (flags: Flags) =>
  Object.entries(flags)
    .map(([name, value]) => (typeof value === 'boolean' ? `--${value ? '' : 'no-'}${name}` : `--${name} ${value}`))
    .join(' ')

/** The same for other commands: options with needs alone. */
const others: Readonly<Record<string, { table: OptionTable; situations: readonly Flags[]; values: Flags }>> = {
  blocks: {
    table: blocksOptions,
    situations: [{}, { csv: true }, { summary: true }],
    values: { 'coin-price': '1USD', json: true, csv: true },
  },
  payouts: {
    table: payoutsOptions,
    situations: [
      {},
      { fleet: ['nats://10.0.0.5:4222'] },
      { from: '127.0.0.1:4148' },
      { scheme: 'solo' },
      { pay: true },
    ],
    values: {
      ...{
        from: '127.0.0.1:4148',
        'http-token': '0123456789abcdef',
        window: '3',
        key: ['my.key'],
        'gas-limit': '3000',
      },
      ...{ 'gas-price': '1e-7', ttl: '1h', 'nats-domain': 'x', 'fleet-name': 'x', 'nats-creds': 'x', 'nats-ca': 'x' },
      ...{ 'nats-cert': 'x', 'nats-key': 'x', insecure: true, ca: 'ca.pem', fingerprint: KEY },
    },
  },
  transfer: {
    table: transferOptions,
    situations: [{}, { 'to-chain': '3' }, { continue: 'KEY' }, { node: ['https://10.0.0.5'], fingerprint: KEY }],
    values: {
      ...{ 'to-chain': '3', 'receiver-keyset': '{}', 'gas-payer': 'me', depth: '3' },
      ...{ insecure: true, ca: 'ca.pem', fingerprint: KEY },
    },
  },
  send: {
    table: sendOptions,
    situations: [{}, { request: 'x.yaml' }, { wait: false }],
    values: {
      ...{ chain: '3', data: '{}', cap: ['(coin.GAS)'], sender: 'me', 'gas-limit': '3000', 'gas-price': '1e-7' },
      ...{ ttl: '1h', depth: '3', insecure: true, ca: 'ca.pem', fingerprint: KEY },
    },
  },
  contract: {
    table: testOptions,
    situations: [
      {},
      { tap: true },
      { check: true },
      { lcov: 'x' },
      { 'coverage-min': '80' },
      { fork: 'a:1' },
      { mutate: true },
    ],
    values: {
      ...{ json: true, tolerance: '1%', 'coverage-exclude': ['lib'], 'coverage-all': true, 'fork-cut': '5' },
      ...{ 'fork-chains': '0', 'fork-cache': 'off', 'fork-limit': '5/s', 'fork-timeout': '5s' },
      ...{ 'fork-table-rows': '5', 'fork-pact': ['x'], fork: 'a:1' },
      ...{ tap: true, junit: 'x', verbose: 1, watch: true, gas: true, 'gas-report': true, 'gas-snapshot': true },
      ...{ check: true, coverage: true, lcov: 'x', 'coverage-min': '80' },
      ...{ 'mutate-only': ['lib'], 'mutate-min': '80', 'mutate-report': 'x', 'mutate-cache': 'off' },
    },
  },
  fork: {
    table: forkCommandOptions,
    situations: [{}, { verify: true }],
    values: { cases: '3', report: 'x.json', 'node-release': '2.32' },
  },
  lsp: { table: lspOptions, situations: [{}], values: { 'fork-cut': '5', 'fork-limit': '5/s' } },
  conformance: {
    table: conformanceOptions,
    situations: [{}, { serve: '0' }, { node: ['https://10.0.0.5'] }],
    values: {
      ...{ node: NODE, idle: '3s', needs: ['mine'], release: 'spec', timeout: '3s', insecure: true, fingerprint: KEY },
    },
  },
}

/** @returns the text that refuses these flags, or null if they are accepted */
function refusalOf(table: OptionTable, flags: Flags): string | null {
  const layers = { orders: {}, environment: {}, content: {}, file: null }
  try {
    refuseWithoutEffect(table, resolveLayers(table, { ...layers, flags }))
    return null
  } catch (error) {
    if (!(error instanceof NewcutError)) throw error
    return `${error.message}${error.hint === undefined ? '' : ` (${error.hint})`}`
  }
}

it('the table of options without effect has a value for every option', () => {
  expect(Object.keys(values).toSorted()).toEqual(Object.keys(mineOptions).toSorted())
})

it.each(Object.entries(others))(
  'the table has a value for every option of newcut %s that needs others',
  (_, command) => {
    const rows = Object.entries(command.table as Readonly<Record<string, OptionSpec<unknown>>>)
    const needing = rows.filter(([, { needs = [] }]) => needs.length > 0).map(([name]) => name)
    const shared = command.table === lspOptions ? needing.filter((name) => !(name in testOptions)) : needing
    expect(Object.keys(command.values)).toEqual(expect.arrayContaining(shared))
  },
)

it('options without effect are refused with these texts', async () => {
  const commands = { mine: { table: mineOptions, situations, values }, ...others }
  const lines = Object.entries(commands).flatMap(([command, { table, situations, values }]) =>
    situations.flatMap((situation) => {
      const refused = Object.entries(values).flatMap(([name, value]) => {
        if (name in situation) return []
        const text = refusalOf(table, { ...situation, [name]: value })
        return text === null ? [] : [`  ${text}`]
      })
      return [`newcut ${command} ${lineOf(situation)}`.trimEnd(), ...new Set(refused), '']
    }),
  )
  await expect(lines.join('\n')).toMatchFileSnapshot('golden/no-effect.txt')
})
