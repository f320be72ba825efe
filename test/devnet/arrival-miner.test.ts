/** Mining on arrival, on virtual time: when its blocks come, and what interrupts them. */
import { describe, expect, it } from 'vitest'
import { ArrivalMiner } from '../../src/devnet/control/arrival-miner.ts'
import { BlockMaker, developmentAccount } from '../../src/devnet/control/block-maker.ts'
import { Chains } from '../../src/devnet/rules/chains.ts'
import { noJournal } from '../../src/devnet/rules/journal.ts'
import { requestKeysOf } from '../../src/devnet/store/transaction-index.ts'
import { type GraphName, graphs } from '../../src/ground/chain/graph.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { noSearch } from './block-payload.ts'
import { signed } from './command.ts'
import { coordinatorOf } from './coordinator.ts'
import { commandOf } from './read-command.ts'

/** Time that commands wait for others. */
const BATCH_MS = 2

function arriving(confirmations: number, graph: GraphName = 'pair') {
  const clock = new VirtualClock()
  let last = 0n
  const now = () => {
    last += 1n
    return BigInt(clock.wallMs()) * 1000n + last
  }
  const network = { ...development, graphHistory: [{ from: 0, graph: graphs[graph] }], window: null }
  const chains = new Chains({ network, checkPow: false, now, journal: noJournal })
  const coordinator = coordinatorOf(chains, { random: () => 0, nowMs: clock.wallMs, clock })
  const [notices, made]: [string[], [number, ...string[]][]] = [[], []]
  const onNotice = (message: string) => void notices.push(message)
  const account = developmentAccount
  const maker = new BlockMaker({ chains, coordinator, account, search: noSearch, clock, onNotice })
  chains.onBlock((block) => void made.push([block.chain, ...requestKeysOf(block)]))
  const miner = new ArrivalMiner({ confirmations, maker, clock, onNotice })
  /** Puts a command into the pool of a chain. @returns its request key */
  const arrives = (chain = 0) => {
    const creationTime = Math.floor(clock.wallMs() / 1000) - 5
    const command = commandOf(signed({ chainId: String(chain), creationTime, gasLimit: 100 }))
    expect(coordinator.pools.insert(chain, [command])).toBe(null)
    return command.key
  }
  return { clock, chains, coordinator, miner, notices, made, arrives }
}

describe('mining on arrival', () => {
  it('mining on arrival waits 2 ms from the first command for further ones', async () => {
    const { clock, made, arrives } = arriving(0)
    const first = arrives()
    await clock.pass(BATCH_MS - 1)
    const second = arrives()
    expect(made).toEqual([])
    await clock.pass(1)
    expect(made).toEqual([[0, first, second]])
  })

  it('mining on arrival begins the confirmations again for a command that comes among them', async () => {
    const { clock, chains, made, arrives } = arriving(3)
    let second = ''
    chains.onBlock(() => {
      if (made.length === 3) second = arrives()
    })
    const first = arrives()
    await clock.pass(BATCH_MS)
    const confirmations = Array(6).fill([expect.any(Number)])
    // Chain 1 has to grow for the block of the second command.
    expect(made).toEqual([[0, first], [1], [0], [1], [0, second], ...confirmations])
  })

  it('mining on arrival makes another block for a command that the first has no room for', async () => {
    const { clock, coordinator, made, arrives } = arriving(0)
    coordinator.pools.gas = { ...coordinator.pools.gas, blockLimit: 100 }
    const keys = [arrives(), arrives()]
    await clock.pass(BATCH_MS)
    const mined = made.flatMap(([, ...held]) => held)
    expect(mined).toEqual(keys)
    expect(made.filter(([chain]) => chain === 0)).toEqual(keys.map((key) => [0, key]))
  })

  it('mining on arrival confirms on the chains that may grow while another one is paused', async () => {
    const { clock, coordinator, made, notices, arrives } = arriving(2, 'petersen')
    coordinator.pause(0)
    const key = arrives(4)
    await clock.pass(BATCH_MS)
    const [first, ...others] = made
    expect(first).toEqual([4, key])
    // The second round would need chain 0.
    expect(others.map(([chain]) => chain).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(notices).toEqual(['no block on chain 1, 2, 3, 4, 5, 6, 7, 8, 9: chain 0 is paused'])
  })

  it('mining on arrival does nothing more once it is stopped', async () => {
    const { clock, miner, made, arrives } = arriving(0)
    arrives()
    miner.stop()
    const timers = clock.pending
    arrives()
    expect(clock.pending).toBe(timers)
    await clock.pass(BATCH_MS)
    expect(made).toEqual([])
    expect(clock.pending).toBe(0)
  })
})
