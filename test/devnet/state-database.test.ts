import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { openDataDirectory } from '../../src/devnet/data/directory.ts'
import { grow, temporaryDirectory } from './grow.ts'
import { startDevnet } from './whole-node.ts'

const small = { graph: 'petersen', pow: false } as const
const quiet = { asked: {}, onFailure: () => undefined, onNotice: () => undefined }

const commands = (index: number) => (index % 3 === 0 ? [{ cmd: '', sigs: [], hash: `key-${index}` }] : [])
const places = async (dataDir: string, notices: string[] = []) => {
  const data = await openDataDirectory(dataDir, { ...quiet, onNotice: (text) => notices.push(text) })
  const found = Array.from({ length: 60 }, (_, index) => data.state.find(`key-${index}`))
  await data.close()
  return found
}

it('a state database finds transactions, and is remade when it is missing, behind or damaged', async () => {
  const dataDir = await temporaryDirectory()
  const first = await startDevnet({ port: 0, dataDir, ...small })
  grow(first.chains, 30, commands)
  await first.close()
  await cp(join(dataDir, 'state'), join(dataDir, 'old-state'), { recursive: true })
  const second = await startDevnet({ port: 0, dataDir })
  grow(second.chains, 30, (index) => commands(30 + index))
  const { store } = second.chains
  const texts = Array.from({ length: store.size }, (_, number) =>
    new TextDecoder().decode(store.at(number).payload.transactions[0]?.transaction),
  )
  const { chain, height, id } = store.at(texts.findIndex((text) => text.includes('"key-45"')))
  await second.close()
  const found = await places(dataDir)
  expect(found[45]).toEqual([{ chain, height, block: id }])
  expect(found.map((each) => each.length)).toEqual(Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? 1 : 0)))

  const notices: string[] = []
  await rm(join(dataDir, 'state'), { recursive: true })
  expect(await checkDataDirectory(dataDir)).toMatchObject({ stateBlocks: null, transactions: 20, findings: [] })
  expect(await places(dataDir, notices)).toEqual(found)
  await rm(join(dataDir, 'state'), { recursive: true })
  await cp(join(dataDir, 'old-state'), join(dataDir, 'state'), { recursive: true })
  expect(await checkDataDirectory(dataDir)).toMatchObject({ stateBlocks: 40, findings: [] })
  expect(await places(dataDir, notices)).toEqual(found)
  expect(notices).toEqual([])
  await rm(join(dataDir, 'state', 'CURRENT'))
  expect((await checkDataDirectory(dataDir)).findings).toEqual([expect.stringContaining('no file CURRENT')])
  expect(await places(dataDir, notices)).toEqual(found)
  expect(notices).toEqual([expect.stringMatching(/^made anew: .*state: damaged: no database in it/)])
  expect(await checkDataDirectory(dataDir)).toMatchObject({ stateBlocks: 70, findings: [] })
})

it('a state database reports that the block database has lost blocks', async () => {
  const dataDir = await temporaryDirectory()
  const first = await startDevnet({ port: 0, dataDir, ...small })
  grow(first.chains, 10)
  await first.close()
  await cp(join(dataDir, 'blocks'), join(dataDir, 'old-blocks'), { recursive: true })
  const second = await startDevnet({ port: 0, dataDir })
  grow(second.chains, 10, commands)
  await second.close()
  await rm(join(dataDir, 'blocks'), { recursive: true })
  await cp(join(dataDir, 'old-blocks'), join(dataDir, 'blocks'), { recursive: true })
  const notices: string[] = []
  expect((await places(dataDir, notices)).flat()).toEqual([])
  expect(notices).toEqual([expect.stringContaining('has lost blocks: 30 were in it, 20 are')])
})
