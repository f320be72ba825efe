/** A transaction that misses something of the forked network only when its block is made. */
import { expect, it } from 'vitest'
import { exec, local, makeBlocks, ok, poll, send } from '../devnet/commands-common.ts'
import { jsonOf } from '../devnet/common.ts'
import { until } from '../wait.ts'
import { execWith, type Forked, inBlock, remoteOfFile, startFork } from './network.ts'
import { honest, type Manner } from './proxy.ts'

const remote = remoteOfFile()

const POINTER = `(namespace "free")
(module pointer G
  (defcap G () true)
  (defschema target account:string)
  (deftable targets:{target})
  (defun point (account:string) (write targets "it" { "account": account }))
  (defun balance:decimal () (coin.get-balance (at "account" (read targets "it")))))
(create-table targets)
(point "sender01")`

/** A fork where `move` lets `read` find an account that nobody has fetched. Both are pending. */
async function pending(manner: Manner) {
  const notices: string[] = []
  const { result: there } = await ok(local(remote.peer, exec('(coin.get-balance "sender05")')))
  const forked = await startFork(remote, {}, { onNotice: (text) => notices.push(text) })
  const [deployed] = await inBlock(forked.peer, [exec(POINTER, { gasLimit: 50_000 })])
  expect(deployed.result.status, JSON.stringify(deployed.result)).toBe('success')
  const read = exec('(free.pointer.balance)', { gasPrice: 1e-8 })
  const move = execWith('(free.pointer.point (read-msg "to"))', { to: 'sender05' }, { gasPrice: 1e-6 })
  const sent = await send(forked.peer, [read, move])
  expect(sent.status, sent.body.toString()).toBe(200)
  forked.proxy.manner = manner
  return { there, forked, read, move, notices, seen: forked.proxy.seen.length }
}

/** The results that are in blocks. */
async function results({ peer }: Forked, keys: readonly string[]): Promise<Record<string, { result: unknown }>> {
  return jsonOf(await poll(peer, keys, ''))
}

it('a block that misses entries waits for them, and no block waits for it', async () => {
  let answer: () => void = () => undefined
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const isCall = (url: string) => url.includes('/local')
  const { there, forked, read, move, seen } = await pending(async ({ url }, forward) => {
    if (isCall(url)) await answered
    return forward()
  })
  const keys = [read.hash, move.hash]
  await makeBlocks(forked.peer, { 0: 1, 1: 1 })
  expect(Object.keys(await results(forked, keys))).toEqual([move.hash])
  await makeBlocks(forked.peer, { 0: 1, 1: 1 })
  expect(Object.keys(await results(forked, keys))).toEqual([move.hash])
  const calls = forked.proxy.seen.slice(seen).filter(({ url }) => isCall(url))
  expect(calls).toHaveLength(1)
  expect(calls[0].body).toContain('sender05')
  answer()
  // This call waits for the same fetch. The block that was begun before takes the transaction.
  await ok(local(forked.peer, exec('(coin.get-balance "sender05")')))
  await makeBlocks(forked.peer, { 0: 1 })
  expect((await results(forked, keys))[read.hash].result).toEqual(there)
})

it('a block waits while the forked node is gone, newcut reports it, and the block continues when the node is back', async () => {
  let isGone = true
  const { forked, read, notices } = await pending(async (request, forward) =>
    isGone ? null : honest(request, forward),
  )
  await makeBlocks(forked.peer, { 0: 1 })
  await until(() => notices.some((text) => text.includes('waits for the forked network')))
  const told = notices.find((text) => text.includes('waits for the forked network')) ?? ''
  expect(told).toContain(`${read.hash} waits for the forked network: `)
  expect(told).toContain('gave no answer in 6 attempts')
  isGone = false
  await until(async () => {
    await makeBlocks(forked.peer, { 0: 1 })
    return read.hash in (await results(forked, [read.hash]))
  })
  expect((await results(forked, [read.hash]))[read.hash].result).toMatchObject({ status: 'success' })
})
