/** Writes docs/METRICS.md from the metrics of a miner and their groups. */

import { Metrics } from '../../src/faces/api/metrics.ts'
import { metricGroups } from './metric-groups.ts'

const INTRODUCTION = `# Metrics

<!-- Written by npm run docs:tables from src/faces/api/metrics.ts and scripts/docs/metric-groups.ts. Do not edit. -->

\`newcut mine\` and \`newcut lead\` serve these metrics for Prometheus at http://127.0.0.1:4148/metrics.
[MONITORING.md](MONITORING.md) has the other paths, a dashboard, alerts, and who may read.

Names and labels of metrics are an interface: they change only with a note in CHANGELOG.md.
`

const NOTES: Readonly<Record<string, string>> = {
  'Hashrate and devices': `The series of a device end when the device goes. The \`newcut_miner_\` totals keep its counts, and never fall.

Hardware errors of a rig of a fleet, \`rig:NAME\`, are those that the rig reports and the solutions that the leader
refused. \`/api/summary\` has them by rig under \`hardware\`.
`,
  'Stratum rigs': `Devices of the engine \`rigs\` are connected workers, \`rig:NAME\`. At most 256 have a name; all others together are
\`rigs\`. Their hashes are the expected hashes of their shares.
`,
}

/** A metric as prom-client keeps it; its types do not show the labels. */
interface Registered {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

/** The names of all metrics. */
export const metricNames = (): string[] => registered().map(({ name }) => name)

const registry = () =>
  new Metrics(() => {
    throw new Error('nobody scrapes here')
  }, '0.0.0').registry

const registered = () => registry().getMetricsAsArray() as unknown as Registered[]

/** The whole document. */
export async function metricsDocument(): Promise<string> {
  const types = new Map((await registry().getMetricsAsJSON()).map(({ name, type }) => [name, String(type)]))
  const metrics = new Map(registered().map((metric) => [metric.name, metric]))
  const sections = Object.entries(metricGroups).map(([heading, members]) => {
    const rows = Object.entries(members).map(([name, more]) => {
      const { help, labelNames } = metrics.get(name) as Registered
      const text = more === null ? help : `${help} See ${more}.`
      return `| \`${name}\` | ${types.get(name)} | ${labelNames.join(', ') || 'none'} | ${text} |`
    })
    const table = `## ${heading}\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
    return heading in NOTES ? `${table}\n${NOTES[heading]}` : table
  })
  return [INTRODUCTION, ...sections].join('\n')
}
