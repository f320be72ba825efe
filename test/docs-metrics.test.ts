import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { metricGroups } from '../scripts/docs/metric-groups.ts'
import { metricNames, metricsDocument } from '../scripts/docs/metrics.ts'

const document = fileURLToPath(new URL('../docs/METRICS.md', import.meta.url))

it('METRICS.md matches the help texts; npm run docs:tables rewrites it', async () => {
  await expect(await metricsDocument()).toMatchFileSnapshot(document)
})

it('every metric is in one group, and no other name is', () => {
  const listed = Object.values(metricGroups).flatMap((members) => Object.keys(members))
  expect(listed.toSorted()).toEqual(metricNames().toSorted())
})
