/** A fork on disk, as a process: its own blocks survive a kill, and it continues without its node. */
import { expect, it } from 'vitest'
import { start as startProcess } from '../cli/run.ts'
import { exec, local, makeBlocks, ok, transfer } from '../devnet/commands-common.ts'
import { CheckedPeer } from '../devnet/common.ts'
import { folder, inBlock, startRemote } from './network.ts'
import { proxyTo } from './proxy.ts'

it('keeps its blocks and its state when it is killed, and needs no node afterwards', async () => {
  const { devnet } = await startRemote()
  const proxy = await proxyTo(devnet.url)
  const [data, cache] = [folder(), folder()]
  const height = Math.min(...[...devnet.cut.values()].map((head) => Number(head.height)))
  const begin = async (args: readonly string[]) => {
    const node = startProcess(['devnet', '--port', '0', '--data', data, ...args])
    const [, url] = await node.sees(/(http:\/\/127\.0\.0\.1:\d+)$/m)
    await node.sees(/control it:/)
    return { node, peer: new CheckedPeer(url) }
  }
  const fork = ['--fork', proxy.url, '--fork-cache', cache, '--fork-cut', String(height), '--fork-limit', '1000/s']
  const first = await begin([...fork, '--auto-mine', 'on-demand'])
  expect(first.node.out()).toContain(`fork: development at height ${height}, from ${proxy.url}`)
  expect(first.node.out()).toContain("the same fork again: --fork-cut '{")
  expect(first.node.out()).not.toContain('sender00')
  const [moved] = await inBlock(first.peer, [transfer('sender01', 12.5)])
  expect(moved.result.status).toBe('success')
  await makeBlocks(first.peer, { 0: 2, 1: 2 })
  const balance = async (peer: CheckedPeer) => (await ok(local(peer, exec('(coin.get-balance "sender01")')))).result
  const before = await balance(first.peer)
  first.node.child.kill('SIGKILL')
  await first.node.ended
  first.peer.close()
  await proxy.close()

  const check = startProcess(['devnet', '--data', data, '--check'])
  const checked = await check.ended
  expect([checked.code, checked.out], checked.err).toEqual([0, expect.stringContaining('nothing is wrong')])

  const second = await begin([])
  expect(await balance(second.peer)).toEqual(before)
  await makeBlocks(second.peer, { 0: 1 })
  second.peer.close()
  second.node.child.kill('SIGKILL')
  await second.node.ended

  const other = startProcess([
    'devnet',
    '--port',
    '0',
    '--data',
    data,
    '--fork',
    proxy.url,
    '--fork-cut',
    String(height - 1),
  ])
  const refused = await other.ended
  expect(refused.err).toContain(`its network was forked from development at height ${height}, not at another cut`)
})

it('tells the danger of the name of a live network, and refuses what a fork cannot have', async () => {
  const { devnet } = await startRemote()
  const args = [
    'devnet',
    '--port',
    '0',
    '--fork',
    devnet.url,
    '--fork-cache',
    'off',
    '--fork-cut',
    '1',
    '--fork-limit',
    '1000/s',
  ]
  const node = startProcess([...args, '--network', 'mainnet01'])
  await node.sees(/control it:/)
  node.child.kill('SIGKILL')
  await node.ended
  expect(node.out()).toContain('DANGER: what clients sign here is valid on the live mainnet01 until its ttl')
  for (const [more, text] of [
    [['--mine'], 'a fork has no proof of work'],
    [['--difficulty', '5'], '--difficulty has no effect: a fork has no proof of work'],
    [['--graph', 'petersen'], 'the forked network has the graph pair, not petersen'],
    [['--network', 'nonsense'], 'the name of a chainweb network'],
  ] as const) {
    const { err, code } = await startProcess([...args, ...more]).ended
    expect([code === 0, err]).toEqual([false, expect.stringContaining(text)])
  }
  const without = await startProcess(['devnet', '--port', '0', '--fork-cut', '12']).ended
  expect(without.err).toContain('--fork-cut has no effect: nothing is forked')
})
