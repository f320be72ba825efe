/** Lookups of a fork: what is listed, what is not, and what opening fetches. */
import { expect, it } from 'vitest'
import type { ModuleDetails, ModuleList, RowPage } from '../../src/ground/schema/lookup.ts'
import { exec, local, ok } from '../devnet/commands-common.ts'
import { type CheckedPeer, jsonOf } from '../devnet/common.ts'
import { execWith, inBlock, KEYSET, remoteOfFile, startFork } from './network.ts'

async function get<T>(peer: CheckedPeer, path: string): Promise<T> {
  const answer = await peer.get(path)
  expect(answer.status, answer.body.toString()).toBe(200)
  return jsonOf(answer) as T
}
const remote = remoteOfFile()
const TABLE = '/devnet/table?name=free.fork-token.accounts'
const keysOf = ({ rows }: RowPage) => rows.map(({ key }) => key)

it('the explorer of a fork lists all modules of the live network, and fetches those that are opened', async () => {
  const { peer } = await startFork(remote)
  const isFetched = async (name: string) => {
    const { modules, note } = await get<ModuleList>(peer, '/devnet/modules')
    return [modules.find((each) => each.name === name)?.isFetched, note]
  }
  const [before, note] = await isFetched('free.fork-token')
  expect(before).toBe(false)
  expect(note).toMatch(/^\d+ of these modules are not fetched yet from development; opening one fetches it$/)
  const opened = await get<ModuleDetails>(peer, '/devnet/module?name=free.fork-token')
  const there = await get<ModuleDetails>(remote.peer, '/devnet/module?name=free.fork-token')
  // A node tells neither which tables exist, nor all about the command that deployed a module.
  expect({ ...opened, txHash: '', tables: [] }).toEqual({ ...there, txHash: '', tables: [] })
  expect((await isFetched('free.fork-token'))[0]).toBe(true)
  expect((await isFetched('fungible-v1'))[0]).toBe(false)
})

it('the explorer of a fork lists the rows that were read or written, and fetches one by its key', async () => {
  const { peer } = await startFork(remote)
  const none = await get<RowPage>(peer, TABLE)
  expect(keysOf(none)).toEqual([])
  expect(none.total).toBe(0)
  expect(none.note).toBe(
    'only rows written here, and those of development that something has read, are listed. ' +
      'A row that is not listed is fetched by its key',
  )
  const [alice] = (await get<RowPage>(peer, `${TABLE}&key=alice`)).rows
  expect(alice).toEqual((await get<RowPage>(remote.peer, `${TABLE}&key=alice`)).rows[0])
  expect(keysOf(await get<RowPage>(peer, `${TABLE}&key=nobody`))).toEqual([])
  expect(keysOf(await get<RowPage>(peer, TABLE))).toEqual(['alice'])
  await inBlock(peer, [execWith('(free.fork-token.open "carol" (read-keyset "k"))', { k: KEYSET })])
  expect(keysOf(await get<RowPage>(peer, TABLE))).toEqual(['alice', 'carol'])
  // Code that reads all keys makes the list complete.
  await ok(local(peer, exec('(free.fork-token.names)', { gasLimit: 100_000 })))
  const complete = await get<RowPage>(peer, TABLE)
  expect(keysOf(complete)).toEqual(['alice', 'bob', 'carol'])
  expect(complete.note).toBe(null)
})

it('the explorer of a fork answers 502 with the reason while the live node is gone', async () => {
  const { peer, proxy } = await startFork(remote, { timeoutMs: 1000 })
  await proxy.close()
  const { status, body } = await peer.get('/devnet/module?name=free.fork-token')
  expect(body.toString()).toMatch(/\w/)
  expect(status).toBe(502)
})
