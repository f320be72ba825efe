/**
 * All names that others rely on, as listed in test/golden/: options and variables, metrics, HTTP responses, journal
 * lines, fleet messages, and the exports of the package. A change of such a file needs an entry in CHANGELOG.md. `npx
 * vitest run test/golden.test.ts --update` rewrites the files.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { commandRows } from '../src/commands/commands.ts'
import { Connection } from '../src/faces/api/connection.ts'
import { Metrics } from '../src/faces/api/metrics.ts'
import { hiveStats, mmpStats } from '../src/faces/api/rigs.ts'
import { backendsOf, summaryOf } from '../src/faces/api/summary.ts'
import { descriptionOf } from '../src/faces/cli/help.ts'
import { environmentName } from '../src/faces/cli/options/row.ts'
import { optionTables } from '../src/faces/cli/options/table.ts'
import { programOf } from '../src/faces/cli/program.ts'
import { systemClock } from '../src/ground/platform/clock.ts'
import { RefusalCounter } from '../src/mining/engine/stratum/refusal-counter.ts'
import * as messages from '../src/mining/fleet/messages.ts'
import { JournalLine } from '../src/mining/journal/record.ts'
import { Earnings } from '../src/mining/mine/earnings.ts'
import { profitOf } from '../src/mining/mine/profit.ts'
import type { DeviceSnapshot, Snapshot } from '../src/mining/mine/snapshot.ts'
import { silentContext } from './cli/silent-context.ts'
import { snapshotWith } from './mine/snapshot.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Compares the lines with a file of test/golden/. */
const matches = (lines: readonly string[], name: string) =>
  expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/${name}.txt`)

/** Path and type of each member of a value, sorted. The first item stands for all items of a list. */
function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [`${path}: []`] : shapeOf(value[0], `${path}[]`)
  if (typeof value !== 'object' || value === null) return [`${path}: ${value === null ? 'null' : typeof value}`]
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return entries.flatMap(([name, member]) => shapeOf(member, `${path}.${name}`))
}

it('options and their variables keep their names', () => {
  const names = new Set(optionTables.flatMap((table) => Object.keys(table)))
  return matches(
    [...names].toSorted().map((name) => `--${name} ${environmentName(name)}`),
    'options',
  )
})

it('flags of each command keep their texts', () => {
  const { commands } = programOf(silentContext, commandRows, { code: 0, format: 'text' }, null)
  const lines = commands.flatMap((command) => [
    `newcut ${command.name()} ${command.usage()}`,
    ...command
      .createHelp()
      .visibleOptions(command)
      .map((flag) => {
        const choices = flag.argChoices === undefined ? '' : ` {${flag.argChoices.join(' ')}}`
        return `  ${flag.flags}${choices} ${descriptionOf(flag, true)}`
      }),
    '',
  ])
  return matches(lines.slice(0, -1), 'flags')
})

it('metrics and their labels keep their names', async () => {
  const { registry } = new Metrics(() => snapshotWith(), '0.0.0')
  const text = await registry.metrics()
  const labels = new Map<string, string>()
  for (const metric of registry.getMetricsAsArray() as unknown as readonly { name: string; labelNames: string[] }[]) {
    labels.set(metric.name, metric.labelNames.toSorted().join(', '))
  }
  const lines = [...text.matchAll(/^# TYPE (newcut_\S+) (\S+)$/gm)]
  return matches(lines.map(([, name, type]) => `${name} ${type} {${labels.get(name) ?? ''}}`).toSorted(), 'metrics')
})

/** The snapshot of a miner in which every optional part is present. */
function fullSnapshot(): Required<Snapshot> {
  const hashrates = { '10s': 1, '60s': 1, '15m': 1 }
  const verdicts = { accepted: 1, stale: 0, duplicate: 0, low: 0, malformed: 0, unauthorized: 0, unsubscribed: 0 }
  const shares = { ...verdicts, unavailable: 0 }
  const solutions = { accepted: 1, unconfirmed: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0 }
  const card = { model: 'card', vendor: 'nvidia' }
  const device: Required<DeviceSnapshot> = {
    ...{ engine: 'gpu', device: 'gpu0', kernel: 'wgsl', hardware: 'gpu0', ...card, note: 'note', hashes: 1, faults: 0 },
    hardwareErrors: 0,
    ...{ state: 'parked', reason: 'reason', hashrates },
  }
  return {
    ...(snapshotWith({
      issuer: 'http://node',
      highestHashrate: 1,
      pauses: [{ by: 'user', text: 'text' }],
    }) as Required<Snapshot>),
    ...{ hashrates, solutions, idleReason: 'reason', forkVote: { fork: 1, isFor: true } },
    nodes: [{ url: 'u', up: true, active: true, lag: 0, latencyMs: 1, height: 1, version: '3.2', problem: 'problem' }],
    chains: [{ chain: 0, height: 1, difficulty: 1, waitsFor: 1, adjacents: [1], isWanted: true }],
    devices: [device],
    hardware: [
      {
        ...{ name: 'gpu0', engine: 'gpu', devices: ['gpu0'], ...card, pci: '01:00.0', hashes: 1 },
        ...{
          hashrates: { ...hashrates, highest: 1 },
          celsius: 1,
          fanPercent: 1,
          watts: 1,
          solutions,
          hardwareErrors: 0,
        },
      },
    ],
    energy: {
      ...{ watts: 1, joules: 1, joulesPerMegahash: 1, source: 'sensors', unread: 1, hashrate: 1 },
      problem: 'problem',
    },
    rigs: {
      ...{ sessions: 1, shares, refusals: new RefusalCounter().counts(), isLogWell: true },
      users: [{ user: 'user', sessions: 1, hashes: 1, shares }],
      rigs: [{ device: 'rig', user: 'user', sessions: 1, shares, difficulty: 1, refusedAs: 'stale' }],
      sentAway: { full: 1, away: 0, few: 0, digits: 0, user: 0 },
    },
    fleet: {
      fleet: 'fleet',
      isLeading: true,
      leader: 'host',
      rigs: 1,
      energy: { watts: 1, joules: 1, hashrate: 1, unread: 1 },
    },
    results: { expected: 1, found: 1, effort: 1, best: [{ difficulty: 1, chain: 0, height: 1, device: 'gpu0' }] },
    profit: profitOf({
      ...{ hashrate: 1, difficulty: 1, reward: 1, payer: 'chain', lossAndFees: { lostShare: 0, feeShare: 0 } },
      power: { watts: 1, unread: 0, problem: 'problem' },
      prices: { coin: { amount: 1, currency: 'USD' }, power: { amount: 1, currency: 'USD' } },
    }),
    earnings: new Earnings().snapshot({ amount: 1, currency: 'USD' }),
  }
}

it('HTTP responses of a miner keep their form', () => {
  const snapshot = fullSnapshot()
  const connection = new Connection(systemClock)
  const caches = { l2: 1, l3: 1, cores: 1, threads: 1, packages: 1 }
  const processor = { brand: 'brand', aes: true, avx2: true, x64: true, ...caches, arch: 'x86_64', flags: ['aes'] }
  const identity = { version: '0.1.0', processor, restricted: true, fingerprint: 'ab' }
  const said = {
    '/api/summary': snapshot,
    '/1/summary': summaryOf(snapshot, connection, identity, 1),
    '/2/summary': summaryOf(snapshot, connection, identity, 2),
    '/2/backends': backendsOf(snapshot),
    '/hiveos': hiveStats(snapshot, '0.1.0'),
    '/mmpos': mmpStats(snapshot, '0.1.0'),
  }
  return matches(
    Object.entries(said).flatMap(([path, value]) => [path, ...shapeOf(value).map((line) => `  ${line}`)]),
    'http',
  )
})

it('lines of the journal keep their form', () =>
  matches(
    JournalLine.anyOf.map((line) => {
      const { step } = line.properties as { readonly step: { const?: string; anyOf?: readonly { const: string }[] } }
      const steps = step.const ?? step.anyOf?.map((each) => each.const).join(', ')
      return `${steps}: ${Object.keys(line.properties).join(', ')}; may be left out: ${Object.keys(line.properties)
        .filter((name) => !(line.required as readonly string[]).includes(name))
        .join(', ')}`
    }),
    'journal',
  ))

it('subjects and messages of fleets keep their form', () => {
  const subjects = Object.entries(messages.subjectsOf('NAME')).map(([name, subject]) => `${name} ${subject}`)
  const schemas = Object.entries(messages).filter(([, value]) => typeof value === 'object' && 'properties' in value)
  const shown = schemas.flatMap(([name, schema]) => [
    name,
    ...JSON.stringify((schema as { readonly properties: unknown }).properties, null, 2)
      .split('\n')
      .map((line) => `  ${line}`),
  ])
  return matches([...subjects, ...shown], 'fleet')
})

it('exports of the package keep their names', async () => {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { exports: Record<string, unknown> }
  const doors = Object.keys(exports).filter((name) => !name.endsWith('.json'))
  const lines = doors.map(async (name) => {
    // No program imports the package itself, and the entry for jest needs jest.
    const door = (await import(name.replace(/^\./, 'newcut')).catch((error: unknown) => error)) as object
    if (door instanceof Error) return [name, `  fails with ${(door as { code?: string }).code}`]
    return [
      name,
      ...Object.keys(door)
        .toSorted()
        .map((each) => `  ${each}`),
    ]
  })
  await matches((await Promise.all(lines)).flat(), 'exports')
})
