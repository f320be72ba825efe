/** Data directories and journals of version 0.1.0, from test/fixtures/0.1.0. They have no release and no votes. */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { readJournal } from '../../src/journal/journal.ts'
import { failureOf } from '../node/fake-node.ts'
import { checkNode } from './checker.ts'
import { jsonOf, PREFIX, start } from './common.ts'
import { temporaryDirectory } from './grow.ts'
import { mineBlock } from './miner.ts'
import { startDevnet } from './whole-node.ts'

const fixtures = fileURLToPath(new URL('../fixtures/0.1.0/', import.meta.url))

async function copyOf(name: string): Promise<string> {
  const copy = join(await temporaryDirectory(), name)
  await cp(join(fixtures, name), copy, { recursive: true })
  return copy
}

const kept = { graph: undefined, difficulty: undefined, blockDelayMs: undefined }

describe('a network of 0.1.0', () => {
  it('is complete, with all blocks and results, by the rules of release 2.32', async () => {
    const report = await checkDataDirectory(await copyOf('devnet'))
    expect(report).toMatchObject({ blocks: 44, orphans: 0, findings: [] })
  })

  it('continues unchanged: without votes, with every block and balance', async () => {
    const dataDir = await copyOf('devnet')
    const { devnet, peer } = await start({ ...kept, dataDir })
    expect(devnet.settings).toMatchObject({ release: '2.32', forkEpoch: 14_280, graph: 'pair' })
    const before = jsonOf(await peer.get(`${PREFIX}/cut`))
    for (let i = 0; i < 4; i++) await mineBlock(peer)
    expect(jsonOf(await peer.get(`${PREFIX}/cut`)).height).toBe(before.height + 4)
    const { headers, violations } = await checkNode({ url: devnet.url })
    expect([headers, violations]).toEqual([before.height + 6, []])
    for (const { featureFlags } of devnet.chains.cut.values()) expect(featureFlags).toBe(0n)
  })

  it('does not open under the rules of another release, and says so', async () => {
    const dataDir = await copyOf('devnet')
    expect(await failureOf(startDevnet({ port: 0, dataDir, nodeRelease: '3.2' }))).toMatchObject({
      message: expect.stringContaining('the rules of node release 2.32'),
    })
    // Nothing was written.
    expect(await checkDataDirectory(dataDir)).toMatchObject({ findings: [] })
  })
})

it('a journal of 0.1.0 is read completely', async () => {
  const { records, damaged } = await readJournal(await copyOf('journal'))
  expect(damaged).toBe(0)
  const states = [...records.values()].map(({ state, chain, height }) => [state, [0, 1].includes(chain), height > 15])
  expect(states).toEqual(Array(12).fill(['confirmed', true, true]))
})
