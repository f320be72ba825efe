/** `verify` across the adoption of a fork, known or unknown to the verifier. */
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NodeClient } from '../../src/client/node/public.ts'
import { networkOf, settingsOf } from '../../src/devnet/rules/settings.ts'
import { forkStateOf } from '../../src/ground/chain/fork.ts'
import type { Network } from '../../src/ground/chain/network.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import { failureOf } from './fake-node.ts'
import { devnetOfFile } from './mined.ts'

/** Number of blocks that may vote, and number of blocks until the next epoch. */
const VOTING = 3
const EPOCH = VOTING + 120
const settings = { graph: 'pair', pow: false, forkEpoch: VOTING } as const

/** The network as a client sees it that knows no fork after `highestKnown`. */
const networkUpTo = (highestKnown: number): Network => {
  const network = networkOf(settingsOf(settings))
  return { ...network, forks: { ...network.forks, highestKnown } }
}

/** A node with two chains that has adopted fork number 1. */
const adopting = devnetOfFile(EPOCH + 1, settings)

/** A new client of it. */
async function adoptFork() {
  const client = await NodeClient.connect({ url: adopting.node.url })
  onTestFinished(() => client.close())
  return client
}

describe('a client that verifies headers', () => {
  it('a client that verifies headers follows a network across the adoption of a fork that it knows', async () => {
    const client = await adoptFork()
    const unknown: number[] = []
    const verify = { checkPow: false, network: networkUpTo(1), unknownForks: (fork: number) => unknown.push(fork) }
    for (const chain of [0, 1]) {
      const headers = await client.headers(chain, { verify }).all()
      const states = headers.map(({ featureFlags }) => forkStateOf(featureFlags))
      expect(states.slice(0, VOTING + 1).map(({ votes }) => votes)).toEqual([0, 1000, 2000, 2000])
      expect(states.slice(EPOCH - 1).map(({ number }) => number)).toEqual([0, 1, 1])
    }
    expect(unknown).toEqual([])
  })

  it('a client that verifies headers continues if it does not know the fork, and reports it once', async () => {
    const client = await adoptFork()
    const reported: number[] = []
    const verify = { checkPow: false, network: networkUpTo(0), unknownForks: (fork: number) => reported.push(fork) }
    for (const chain of [0, 1]) expect(await client.headers(chain, { verify }).all()).toHaveLength(EPOCH + 2)
    expect(reported).toEqual([1])
  })

  it('a client that verifies headers warns about an unknown fork, unless it has a callback for it', async () => {
    const client = await adoptFork()
    const warned = once(process, 'warning')
    await client.headers(0, { verify: { checkPow: false, network: networkUpTo(0) } }).all()
    expect((await warned)[0]).toMatchObject({
      name: 'NewcutWarning',
      message: 'the network has adopted fork number 1, which this version does not know',
    })
  })

  it('a client that verifies headers refuses the first header of an unknown fork when asked to', async () => {
    const client = await adoptFork()
    const verify = { checkPow: false, network: networkUpTo(0), unknownForks: 'refuse' } as const
    expect(await failureOf(client.headers(0, { verify }).all())).toMatchObject({
      name: 'InvalidHeader',
      rules: ['unknownFork'],
      height: BigInt(EPOCH),
      message: expect.stringContaining(
        'breaks the rule unknownFork (featureFlags 4294967296001: fork number 1, 1000 thousandths of a vote)',
      ),
    })
  })

  it('a client that verifies headers counts votes by the epochs of the given network', async () => {
    const client = await adoptFork()
    const verify = { checkPow: false, network: { ...networkUpTo(1), forks: development.forks } }
    expect(await failureOf(client.headers(0, { verify }).all())).toMatchObject({
      rules: ['forkNumber', 'forkVotes'],
      height: BigInt(EPOCH),
    })
  })
})
