import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Metrics } from '../src/api/metrics.ts'

const text = readFileSync(new URL('../docs/METRICS.md', import.meta.url), 'utf8')

/** prom-client's internal data of a metric; its types do not show the labels. */
interface Registered {
  readonly name: string
  readonly labelNames: readonly string[]
}

it('METRICS.md lists every metric with its type and labels, and no other', async () => {
  const { registry } = new Metrics(() => {
    throw new Error('nobody scrapes here')
  }, '0.0.0')
  const types = new Map((await registry.getMetricsAsJSON()).map(({ name, type }) => [name, String(type)]))
  const registered = (registry.getMetricsAsArray() as unknown as Registered[]).map(({ name, labelNames }) => {
    return { name, type: types.get(name), labels: labelNames.join(', ') || 'none' }
  })
  const listed = [...text.matchAll(/^\| `(newcut_\w+)` \| (\w+) \| ([\w, ]+) \| .+ \|$/gm)].map(
    ([, name, type, labels]) => ({ name, type, labels }),
  )
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
  expect(listed.toSorted(byName)).toEqual(registered.toSorted(byName))
})
