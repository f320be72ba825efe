/** The dashboard and the alerts, against a real Prometheus that scrapes a real miner. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { hwmonFolder, sensedCard, startMiner, temporaryFolder, ZEN } from '../api/running.ts'
import { start } from '../cli/run.ts'
import { NatsServer } from '../fleet/nats.ts'
import { itWith, lackOf, PROGRAM_PATH } from '../needs.ts'
import { freePort } from '../ports.ts'
import { Rig } from '../support/stratum-rig.ts'
import { until } from '../wait.ts'

const alerts = fileURLToPath(new URL('../../grafana/alerts.yml', import.meta.url))
const env = { ...process.env, PATH: PROGRAM_PATH }

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string }[]
}

const { panels } = JSON.parse(readFileSync(new URL('../../grafana/dashboard.json', import.meta.url), 'utf8')) as {
  readonly panels: readonly Panel[]
}

const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const))

itWith(lackOf('promtool'), 'promtool accepts the alerts', () => {
  const { stdout, stderr, status } = spawnSync('promtool', ['check', 'rules', alerts], { encoding: 'utf8', env })
  expect(stdout + stderr).toMatch(/SUCCESS: \d+ rules found/)
  expect(status).toBe(0)
})

it('dashboard and alerts name only existing metrics', async () => {
  const { registry } = new Metrics(() => {
    throw new Error('nobody scrapes here')
  }, '0.0.0')
  const known = new Set((await registry.getMetricsAsJSON()).map(({ name }) => name))
  const text = readFileSync(alerts, 'utf8') + queries.map(([, expr]) => expr).join('\n')
  const named = [...text.matchAll(/newcut_\w+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ''))
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((name) => !known.has(name))).toEqual([])
  // The dashboard shows every metric except parts of a total that it shows.
  const shown = queries.map(([, expr]) => expr).join('\n')
  const totals = ['newcut_hardware_errors_total', 'newcut_miner_faults_total', 'newcut_node_up', 'newcut_node_active']
  expect([...known].filter((name) => !shown.includes(name) && !totals.includes(name))).toEqual([])
})

const lack = lackOf('prometheus', 'promtool')
itWith(lack, 'Prometheus answers every query of the dashboard and every alert', async (context) => {
  const card = await sensedCard()
  if (card === null) return context.skip('there is no GPU driver here, not even a software one')
  const prices = { coin: { amount: 0.02, currency: 'USD' }, power: { amount: 0.3, currency: 'USD' } }
  const sensed = { ...card.setup, hwmon: hwmonFolder([ZEN]) }
  // At low priority, other tests could stop the search for minutes, and alerts would fire.
  const miner = await startMiner({ ...sensed, priority: 'normal', hasTwoNodes: true, letsRigsIn: true, prices })
  const rig = await Rig.login(Number(miner.rigsAddress?.split(':')[1]))
  onTestFinished(() => rig.close())
  rig.mine()
  const leader = lackOf('nats-server') === null ? await startLeader(miner.nodeUrl) : null
  const prometheus = await startPrometheus([new URL(miner.url).host, ...(leader === null ? [] : [leader])])
  // Without a NATS server there is no fleet to show.
  const shown = queries.filter(([title]) => leader !== null || !title.startsWith('Fleet'))

  const metrics = await (await fetch(`${miner.url}/metrics`)).text()
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8', env })
  expect(checked.stdout + checked.stderr).toBe('')
  expect(checked.status).toBe(0)

  // Each query once: on a busy machine some scrapes come too late, and their series are gone for a moment.
  let open = shown
  const unanswered = async () => {
    const counts = await Promise.all(open.map(([, expr]) => query(prometheus, expr)))
    open = open.filter((_, i) => counts[i] === 0)
    return open.map(([title, expr]) => `${title}: ${expr}`)
  }
  // A rate over 10 s needs 10 s of samples, and nodes are judged only after a while. The limit is below that of the
  // test, so that a failure names the queries.
  await expect.poll(unanswered, { interval: 1000, timeout: 540_000 }).toEqual([])

  interface Rules {
    readonly data: { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
  }
  interface Rule {
    readonly name: string
    readonly health: string
    readonly state: string
  }
  const rules = async () => {
    const { data } = (await (await fetch(`${prometheus}/api/v1/rules`)).json()) as Rules
    return data.groups.flatMap((group) => group.rules.map(({ name, health, state }) => [name, health, state]))
  }
  await until(async () => (await rules()).every(([, health]) => health !== 'unknown'))
  // No alert fires for a healthy miner.
  expect((await rules()).filter(([, health, state]) => health !== 'ok' || state === 'firing')).toEqual([])
})

/** The number of series that answer a query of the dashboard. */
async function query(prometheus: string, expr: string): Promise<number> {
  const text = expr.replaceAll('$job', '.*').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '10s')
  const response = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(text)}`)
  const { status, error, data } = (await response.json()) as {
    readonly status: string
    readonly error?: string
    readonly data?: { readonly result: readonly unknown[] }
  }
  if (status !== 'success') throw new Error(`${text}: ${error}`)
  return data?.result.length ?? 0
}

/** Starts the leader of a fleet without rigs. Resolves with the host and port of its metrics. */
async function startLeader(node: string): Promise<string> {
  const nats = await NatsServer.start(temporaryFolder())
  onTestFinished(() => nats.kill())
  const leader = start(['lead', '--nats', nats.url, '--node', node, '--state', 'off', '--http', '127.0.0.1:0'])
  onTestFinished(() => ended(leader.child))
  const [, host] = await leader.sees(/metrics: http:\/\/(127\.0\.0\.1:\d+)/)
  return host
}

/** Starts Prometheus, which scrapes these targets every second. Resolves with its address when it is ready. */
async function startPrometheus(targets: readonly string[]): Promise<string> {
  const folder = temporaryFolder()
  const config = join(folder, 'prometheus.yml')
  writeFileSync(
    config,
    `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${JSON.stringify(alerts)}]
scrape_configs:
  - job_name: newcut
    static_configs: [{ targets: ${JSON.stringify(targets)} }]
`,
  )
  const address = `127.0.0.1:${await freePort()}`
  const storage = `--storage.tsdb.path=${join(folder, 'data')}`
  const options = [`--config.file=${config}`, storage, `--web.listen-address=${address}`, '--log.level=error']
  const child = spawn('prometheus', options, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  onTestFinished(() => ended(child))
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(isReady)
  return `http://${address}`
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve())
    child.kill('SIGKILL')
  })
}
