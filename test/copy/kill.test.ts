/** A fork on disk: its own blocks survive the kill of its process, and it continues without its node. */
import { expect, it } from 'vitest'
import { type Running, run, startHere, start as startProcess } from '../cli/run.ts'
import { exec, local, makeBlocks, ok, transfer } from '../devnet/commands-common.ts'
import { CheckedPeer } from '../devnet/common.ts'
import { folder, inBlock, remoteOfFile } from './network.ts'
import { proxyTo } from './proxy.ts'

const remote = remoteOfFile()

it('a killed fork keeps its blocks and its state, and needs no node afterwards', async () => {
  const { devnet } = remote
  const proxy = await proxyTo(devnet.url)
  const [data, cache] = [folder(), folder()]
  const height = Math.min(...[...devnet.cut.values()].map((head) => Number(head.height)))
  const begun = async ({ sees }: Pick<Running, 'sees'>) => {
    const [, url] = await sees(/(http:\/\/127\.0\.0\.1:\d+)$/m)
    await sees(/control it:/)
    return new CheckedPeer(url)
  }
  const line = ['devnet', '--port', '0', '--data', data]
  const fork = ['--fork', proxy.url, '--fork-cache', cache, '--fork-cut', String(height), '--fork-limit', '1000/s']
  const killed = startProcess([...line, ...fork, '--auto-mine', 'on-demand'])
  const first = await begun(killed)
  expect(killed.out()).toContain(`fork: development at height ${height}, from ${proxy.url}`)
  expect(killed.out()).toContain("the same fork again: --fork-cut '{")
  expect(killed.out()).not.toContain('sender00')
  const [moved] = await inBlock(first, [transfer('sender01', 12.5)])
  expect(moved.result.status).toBe('success')
  await makeBlocks(first, { 0: 2, 1: 2 })
  const balance = async (peer: CheckedPeer) => (await ok(local(peer, exec('(coin.get-balance "sender01")')))).result
  const before = await balance(first)
  killed.child.kill('SIGKILL')
  await killed.ended
  first.close()
  await proxy.close()

  const checked = await run(['devnet', '--data', data, '--check'])
  expect(checked.out, checked.err).toContain('nothing is wrong')
  expect(checked.code, checked.err).toBe(0)

  const continued = startHere(line)
  const second = await begun(continued)
  expect(await balance(second)).toEqual(before)
  await makeBlocks(second, { 0: 1 })
  second.close()
  await continued.stop()

  const refused = await run([...line, '--fork', proxy.url, '--fork-cut', String(height - 1)])
  expect(refused.err).toContain(`its network was forked from development at height ${height}, not at another cut`)
})

it('a fork warns of the name of a live network, and refuses what a fork cannot have', async () => {
  const { devnet } = remote
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
  const node = startHere([...args, '--network', 'mainnet01'])
  await node.sees(/control it:/)
  await node.stop()
  expect(node.out()).toContain('DANGER: what clients sign here is valid on the live mainnet01 until its ttl')
  for (const [more, text] of [
    [['--mine'], 'a fork has no proof of work'],
    [['--difficulty', '5'], '--difficulty has no effect: a fork has no proof of work'],
    [['--graph', 'petersen'], 'the forked network has the graph pair, not petersen'],
    [['--network', 'nonsense'], 'newcut has no file of that network'],
  ] as const) {
    const { err, code } = await run([...args, ...more])
    expect(err).toContain(text)
    expect(code).not.toBe(0)
  }
  const without = await run(['devnet', '--port', '0', '--fork-cut', '12'])
  expect(without.err).toContain('--fork-cut has no effect: nothing is forked')
})
