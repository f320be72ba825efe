/** Vote options are checked against the network of the node. */
import { expect, it } from 'vitest'
import { type ForkSetup, forkRulesOf } from '../../src/compose/source/nodes.ts'
import { mainnet01 } from '../../src/ground/chain/network-data.ts'
import { FakeNode, pairInfo } from '../node/fake-node.ts'

async function rulesFor(nodeVersion: string, options: ForkSetup) {
  const node = await FakeNode.start({ ...pairInfo, nodeVersion })
  return forkRulesOf(await node.connect(), options)
}

it('fork rules come from the network, or from a development network with epochs of its own', async () => {
  expect(await rulesFor('mainnet01', { forkWish: 'yes' })).toEqual(mainnet01.forks)
  expect(await rulesFor('development', { forkEpoch: 20 })).toMatchObject({ castingBlocks: 20, from: 0 })
  expect(await rulesFor('my-net', {})).toMatchObject({ from: Number.POSITIVE_INFINITY })
})

it.each([
  ['epochs of a public network', 'mainnet01', { forkEpoch: 20 }, '`fork-epoch`: mainnet01 has 14280'],
  ['a vote where nobody knows the rules', 'my-net', { forkWish: 'no' }, 'newcut does not know how my-net adopts forks'],
] as const)('the options of fork votes refuse %s', async (_, network, options, message) => {
  await expect(rulesFor(network, options)).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: expect.stringContaining(message),
    hint: expect.any(String),
  })
})
