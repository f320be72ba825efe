/** Traces on a fork: of its own blocks, and of commands on rows of the forked network. */
import { expect, it } from 'vitest'
import { exec, makeBlocks, signers } from '../devnet/commands-common.ts'
import { order, refusal } from '../devnet/control-common.ts'
import { Peer } from '../devnet/request.ts'
import { inBlock, startFork, startRemote } from './network.ts'

const move = (amount: number) =>
  exec(
    `(free.fork-token.transfer "alice" "bob" ${amount.toFixed(2)})`,
    {},
    signers(['coin.GAS'], ['free.fork-token.TRANSFER', 'alice', 'bob', amount]),
  )

it('a trace on a fork fetches what the command reads, even with overrides', async () => {
  const remote = await startRemote()
  const forked = await startFork(remote)
  const [there, here] = [new Peer(remote.peer.url), new Peer(forked.peer.url)]
  try {
    const row = { rows: { 'free.fork-token.accounts': { alice: { balance: 1 } } } }
    for (const body of [{ cmd: move(2.25) }, { cmd: move(2.25), overrides: row }]) {
      const [of, its] = [await order(there, '/devnet/trace', body), await order(here, '/devnet/trace', body)]
      expect(its.gas).toEqual(of.gas)
      expect(its.result).toEqual(of.result)
      expect(its.trace).toEqual(of.trace)
    }
    const [moved] = await inBlock(forked.peer, [move(3)])
    await makeBlocks(forked.peer, { 0: 1 })
    const { gas, status } = await order(here, '/devnet/trace', { requestKey: moved.reqKey })
    expect(gas).toEqual(moved.gas)
    expect(status).toBe('success')
    await forked.proxy.close()
    const away = await refusal(here, '/devnet/trace', { cmd: exec('(coin.details "somebody")') })
    expect(away).toEqual([502, expect.stringContaining('gave no answer in 6 attempts')])
  } finally {
    there.close()
    here.close()
  }
})
