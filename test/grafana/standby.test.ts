/** Alerts for a fleet with a leader and a standby, by promtool's rule tests. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'
import { stringify } from 'yaml'
import { itWith, lackOf, PROGRAM_PATH } from '../needs.ts'

const alerts = fileURLToPath(new URL('../../grafana/alerts.yml', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-alerts-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LABELS = ['NewcutSearchesNothing', 'NewcutDeviceDown'] as const
const WITHOUT_LEADER = 'NewcutFleetWithoutLeader'

interface Instance {
  readonly name: string
  /** Hashes that it adds each minute. */
  readonly hashes: number
  readonly isPaused?: boolean
  readonly engine: 'cpu' | 'fleet'
  /** Device -> 1 while it searches, else 0. */
  readonly devices: Readonly<Record<string, 0 | 1>>
  /** Set for an instance of the fleet `main`: whether it leads or stands by. */
  readonly leads?: boolean
}

/** Series over half an hour, one sample a minute, in promtool's notation. */
function seriesOf({ name, hashes, isPaused = false, engine, devices, leads }: Instance) {
  const of = (metric: string, labels: string, values: string) => {
    return { series: `${metric}{job="newcut",instance="${name}"${labels}}`, values }
  }
  return [
    of('newcut_miner_hashes_total', '', `0+${hashes}x30`),
    of('newcut_paused', '', `${isPaused ? 1 : 0}+0x30`),
    ...(leads === undefined ? [] : [of('newcut_fleet_leading', ',fleet="main"', `${leads ? 1 : 0}+0x30`)]),
    ...Object.entries(devices).map(([device, up]) =>
      of('newcut_device_up', `,engine="${engine}",device="${device}"`, `${up}+0x30`),
    ),
  ]
}

/** The alerts of this list that fire after a quarter of an hour, as `alert instance`. Throws Error on other output. */
function alertsAmong(instances: readonly Instance[]): string[] {
  const file = join(folder, 'rules.test.yml')
  const test = {
    interval: '1m',
    input_series: instances.flatMap(seriesOf),
    // The tests expect no alert, so promtool prints those that fire.
    alert_rule_test: [...LABELS, WITHOUT_LEADER].map((alertname) => ({ eval_time: '15m', alertname, exp_alerts: [] })),
  }
  writeFileSync(file, stringify({ rule_files: [alerts], evaluation_interval: '1m', tests: [test] }))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
    encoding: 'utf8',
    env: { ...process.env, PATH: PROGRAM_PATH },
  })
  const told = [...(stdout + stderr).matchAll(/Labels:\{alertname="(\w+)".*?(?:instance|fleet)="([\w-]+)"/g)]
  if ((status === 0) !== (told.length === 0)) throw new Error(stdout + stderr)
  return [...new Set(told.map(([, alertname, instance]) => `${alertname} ${instance}`))].toSorted()
}

const miner: Instance = { name: 'miner', hashes: 1e9, engine: 'cpu', devices: { thread0: 1 } }
const leader: Instance = {
  name: 'leader',
  hashes: 1e9,
  engine: 'fleet',
  devices: { 'rig:a': 1, 'rig:b': 1 },
  leads: true,
}
const standby: Instance = { name: 'standby', hashes: 0, engine: 'fleet', devices: { rigs: 0 }, leads: false }

const cases: readonly (readonly [string, readonly Instance[], readonly string[]])[] = [
  ['a leader whose rigs search and one that stands by are well', [leader, standby], []],
  [
    'a rig that is away is told of, by its leader',
    [{ ...leader, devices: { 'rig:a': 1, 'rig:b': 0 } }, standby],
    ['NewcutDeviceDown leader'],
  ],
  [
    'a leader without rigs is not well, and one that stands by is',
    [{ ...standby, name: 'leader', leads: true }, standby],
    LABELS.map((alert) => `${alert} leader`),
  ],
  [
    'a fleet that nobody leads is told of',
    [{ ...standby, name: 'leader' }, standby],
    [`${WITHOUT_LEADER} main`, ...['leader', 'standby'].flatMap((name) => LABELS.map((alert) => `${alert} ${name}`))],
  ],
  [
    'a miner that searches nothing is not well, whatever a fleet beside it does',
    [{ ...miner, hashes: 0, devices: { thread0: 0 } }, leader, standby],
    ['NewcutDeviceDown miner', 'NewcutSearchesNothing miner'],
  ],
  ['a miner that is paused is well', [{ ...miner, hashes: 0, isPaused: true }], []],
]

for (const [title, instances, expected] of cases) {
  itWith(lackOf('promtool'), title, () => {
    expect(alertsAmong(instances)).toEqual(expected.toSorted())
  })
}
