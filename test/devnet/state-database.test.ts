import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { openDataDirectory } from '../../src/devnet/data/directory.ts'
import type { Signed } from './command.ts'
import { transfer } from './commands-common.ts'
import type { Ground } from './ground.ts'
import { grow, miner, temporaryDirectory } from './grow.ts'
import { localValue } from './local.ts'
import { startDevnet } from './whole-node.ts'

const small = { graph: 'petersen', pow: false } as const
const quiet = { asked: {}, onFailure: () => undefined, onNotice: () => undefined }
/** Transactions in the genesis blocks of ten chains. */
const GENESIS_TRANSACTIONS = 100

/** Grows the chains; every third block holds a transfer of one coin. Returns its request key or null for each block. */
function growWithTransfers(ground: Ground, count: number): (string | null)[] {
  const keys: (string | null)[] = []
  grow(ground, count, (index, chain) => {
    const commands: Signed[] = index % 3 === 0 ? [transfer('sender01', 1, { chainId: `${chain}` })] : []
    keys.push(commands[0]?.hash ?? null)
    return commands
  })
  return keys
}

/** The transaction places and account balances that a node finds in the directory. */
async function knownIn(dataDir: string, keys: readonly (string | null)[], notices: string[] = []) {
  const data = await openDataDirectory(dataDir, { ...quiet, onNotice: (text) => notices.push(text) })
  const places = keys.map((key) => (key === null ? [] : data.state.find(key)))
  const accounts = ['sender00', 'sender01', miner.account].map((account) => `(try 0 (coin.get-balance "${account}"))`)
  const balances = [...data.loaded.heads.keys()].map((chain) => localValue(data.ledger, chain, `[${accounts}]`))
  await data.close()
  return { places, balances }
}

it('a state database finds transactions, and is rebuilt if it is missing, too old or damaged', async () => {
  const dataDir = await temporaryDirectory()
  const first = await startDevnet({ port: 0, dataDir, ...small })
  const keys = growWithTransfers(first, 30)
  await first.close()
  await cp(join(dataDir, 'state'), join(dataDir, 'old-state'), { recursive: true })
  const second = await startDevnet({ port: 0, dataDir })
  keys.push(...growWithTransfers(second, 30))
  const { store } = second.chains
  const texts = Array.from({ length: store.size }, (_, number) =>
    new TextDecoder().decode(store.at(number).payload.transactions[0]?.transaction),
  )
  const { chain, height, id } = store.at(texts.findIndex((text) => text.includes(`"${keys[45]}"`)))
  await second.close()
  const known = await knownIn(dataDir, keys)
  const { places, balances } = known
  expect(places[45]).toEqual([{ chain, height, block: id, index: 0 }])
  expect(places.map((each) => each.length)).toEqual(Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? 1 : 0)))
  const received = balances.map((each) => (each as number[])[1] - 110_000_000)
  expect(received.reduce((sum, amount) => sum + amount)).toBe(20)

  const notices: string[] = []
  await rm(join(dataDir, 'state'), { recursive: true })
  const transactions = GENESIS_TRANSACTIONS + 20
  expect(await checkDataDirectory(dataDir)).toMatchObject({ stateBlocks: null, transactions, findings: [] })
  expect(await knownIn(dataDir, keys, notices)).toEqual(known)
  await rm(join(dataDir, 'state'), { recursive: true })
  await cp(join(dataDir, 'old-state'), join(dataDir, 'state'), { recursive: true })
  expect(await checkDataDirectory(dataDir)).toMatchObject({ stateBlocks: 40, findings: [] })
  expect(await knownIn(dataDir, keys, notices)).toEqual(known)
  expect(notices).toEqual([])
  await rm(join(dataDir, 'state', 'CURRENT'))
  expect((await checkDataDirectory(dataDir)).findings).toEqual([expect.stringContaining('no file CURRENT')])
  expect(await knownIn(dataDir, keys, notices)).toEqual(known)
  expect(notices).toEqual([expect.stringMatching(/^made again: .*state: damaged: no database in it/)])
  expect(await checkDataDirectory(dataDir)).toMatchObject({ stateBlocks: 70, findings: [] })
})

it('a state database reports that the block database has lost blocks', async () => {
  const dataDir = await temporaryDirectory()
  const first = await startDevnet({ port: 0, dataDir, ...small })
  grow(first, 10)
  await first.close()
  await cp(join(dataDir, 'blocks'), join(dataDir, 'old-blocks'), { recursive: true })
  const before = await knownIn(dataDir, [])
  const second = await startDevnet({ port: 0, dataDir })
  const keys = growWithTransfers(second, 10)
  await second.close()
  await rm(join(dataDir, 'blocks'), { recursive: true })
  await cp(join(dataDir, 'old-blocks'), join(dataDir, 'blocks'), { recursive: true })
  const notices: string[] = []
  const after = await knownIn(dataDir, keys, notices)
  expect(after.places.flat()).toEqual([])
  // Payments in the lost blocks are gone too.
  expect(after.balances).toEqual(before.balances)
  expect(notices).toEqual([expect.stringContaining('has lost blocks: 30 were in it, 20 are')])
})
