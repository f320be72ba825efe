/** Data directories and journals of version 0.1.0, from test/fixtures/0.1.0. They have no release and no votes. */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { readJournal } from '../../src/journal/journal.ts'
import { failureOf } from '../node/fake-node.ts'
import { temporaryDirectory } from './grow.ts'
import { startDevnet } from './whole-node.ts'

const fixtures = fileURLToPath(new URL('../fixtures/0.1.0/', import.meta.url))

async function copyOf(name: string): Promise<string> {
  const copy = join(await temporaryDirectory(), name)
  await cp(join(fixtures, name), copy, { recursive: true })
  return copy
}

const OTHER_CONTRACTS = 'its network began with the system contracts of another newcut'

describe('a network of 0.1.0', () => {
  it.each([
    ['opens', (dataDir: string) => startDevnet({ port: 0, dataDir })],
    ['is checked', (dataDir: string) => checkDataDirectory(dataDir)],
  ])('neither starts nor changes when it %s: it has the system contracts of another newcut', async (_, open) => {
    const dataDir = await copyOf('devnet')
    for (let i = 0; i < 2; i++) {
      expect(await failureOf(open(dataDir))).toMatchObject({
        code: 'DATA_UNUSABLE',
        message: expect.stringContaining(OTHER_CONTRACTS),
        hint: 'go on with the newcut that wrote it, or begin a new network in another directory',
      })
    }
  })

  it('does not open under the rules of another release, and says so', async () => {
    const dataDir = await copyOf('devnet')
    expect(await failureOf(startDevnet({ port: 0, dataDir, nodeRelease: '3.2' }))).toMatchObject({
      message: expect.stringContaining('the rules of node release 2.32'),
    })
  })
})

it('a journal of 0.1.0 is read completely', async () => {
  const { records, damaged } = await readJournal(await copyOf('journal'))
  expect(damaged).toBe(0)
  const states = [...records.values()].map(({ state, chain, height }) => [state, [0, 1].includes(chain), height > 15])
  expect(states).toEqual(Array(12).fill(['confirmed', true, true]))
})
