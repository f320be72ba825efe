import { expect, it } from 'vitest'
import { Peers } from '../../src/devnet/http/peers.ts'
import { listenAt } from './listeners.ts'

it('the table of peers accepts 1000, and then only those that it knows', async () => {
  const peers = new Peers()
  const all = await listenAt(1001)
  for (const peer of all.slice(0, 1000)) expect(await peers.add(peer)).toBeNull()
  const message = 'Invalid hostaddress: no more than 1000 peers are taken'
  expect(await peers.add(all[1000])).toEqual({ status: 400, message })
  const id = 'B'.repeat(43)
  expect(await peers.add({ ...all[7], id })).toBeNull()
  expect(peers.all).toEqual(all.slice(0, 1000).map((peer, i) => (i === 7 ? { ...peer, id } : peer)))
  expect(peers.has(all[999])).toBe(true)
  expect(peers.has(all[1000])).toBe(false)
})

it('the check of peers connects to 32 at once, and answers 503 to more', async () => {
  const peers = new Peers()
  const all = await listenAt(33)
  const answers = await Promise.all(all.map((peer) => peers.add(peer)))
  const busy = { status: 503, message: 'Too many peers at once. Retry later.' }
  expect(answers).toEqual([...all.slice(0, 32).map(() => null), busy])
  expect(await peers.add(all[32])).toBeNull()
})
