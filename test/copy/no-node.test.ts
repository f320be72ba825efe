/** A fork that continues on disk without a cache, while its node is away: blocks wait, and come once it is back. */
import { expect, it } from 'vitest'
import type { AutoMine } from '../../src/ground/schema/devnet-modes.ts'
import { exec, makeBlocks, poll, send } from '../devnet/commands-common.ts'
import { jsonOf, start } from '../devnet/common.ts'
import { until } from '../wait.ts'
import { folder, remoteOfFile } from './network.ts'
import { honest, proxyTo } from './proxy.ts'

const remote = remoteOfFile()

/** A fork with a block of its own, then opened again while the forked node gives no answer. */
async function continued(autoMine: AutoMine) {
  const proxy = await proxyTo(remote.devnet.url)
  const dataDir = folder()
  const cut = String(Math.min(...[...remote.devnet.cut.values()].map(({ height }) => Number(height))))
  const fork = { url: proxy.url, cut, perSecond: 1000 }
  const first = await start({ difficulty: undefined, autoMine: { kind: 'on-demand' }, dataDir, fork })
  await makeBlocks(first.peer, { 0: 1, 1: 1 })
  first.peer.close()
  await first.devnet.close()
  proxy.manner = async () => null
  const notices: string[] = []
  const onNotice = (text: string) => notices.push(text)
  const again = await start({ difficulty: undefined, autoMine, dataDir, onNotice })
  const heights = () => [...again.devnet.cut.values()].map(({ height }) => Number(height))
  return { ...again, proxy, notices, heights, height: Number(cut) + 1 }
}

it('a cached fork without a node works with automatic mining', async () => {
  const { notices, heights, height, proxy } = await continued({ kind: 'constant', blockTimeMs: 20 })
  await until(() => [0, 1].every((chain) => notices.some((text) => text.startsWith(`chain ${chain} has no new block`))))
  expect(notices.find((text) => text.startsWith('chain 0'))).toContain('gave no answer in 6 attempts')
  expect(heights()).toEqual([height, height])
  // One for the six attempts of a chain, however many blocks were due meanwhile.
  expect(notices.length).toBeLessThan(8)
  proxy.manner = honest
  await until(() => heights().every((each) => each > height + 2))
})

it('a cached fork without a node mines on arrival while another chain delays confirmations', async () => {
  const { notices, heights, height, proxy, peer } = await continued({ kind: 'on-arrival', confirmations: 1 })
  proxy.manner = async (request, forward) => (request.url.includes('/chain/1/') ? null : forward())
  const sent = async (code: string) => {
    const command = exec(code)
    expect((await send(peer, [command])).status).toBe(200)
    await until(async () => command.hash in jsonOf(await poll(peer, [command.hash], '')))
  }
  await sent('(+ 1 2)')
  await until(() => notices.some((text) => text.startsWith('no block on chain 0, 1: the forked node')))
  expect(heights()[1]).toBe(height)
  proxy.manner = honest
  await sent('(+ 1 3)')
  await until(() => heights()[1] > height)
})
