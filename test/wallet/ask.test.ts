/** Read-only calls: the gas that they may take. */
import { expect, it } from 'vitest'
import { ask } from '../../src/client/wallet/ask.ts'
import { definitionOf } from '../../src/ground/chain/network-form.ts'
import { run } from '../cli/run.ts'
import { FakeNode, pairInfo } from '../node/fake-node.ts'

/** A node that answers every read-only call with 1. */
async function nodeOf(nodeVersion: string): Promise<FakeNode> {
  const node = await FakeNode.start({ ...pairInfo, nodeVersion })
  const result = { status: 'success', data: 1 }
  const body = JSON.stringify({
    gas: 1,
    result,
    reqKey: 'A'.repeat(43),
    logs: '',
    metaData: null,
    continuation: null,
    events: [],
    txId: null,
  })
  node.setDefaultAnswer(() => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(body),
  }))
  return node
}

/** The gas limit of the last call of a node. */
const askedGas = ({ last }: FakeNode): number => JSON.parse(JSON.parse(last.body.toString()).cmd).meta.gasLimit

it.each([
  ['a network with a file', 'stoa', [], 2_000_000],
  ['a network of a file of the user', 'my-net', [{ network: 1, name: 'my-net', gas: { block: 400_000 } }], 400_000],
  ['a network that newcut does not know', 'my-net', [], 150_000],
] as const)('a call takes the gas of a whole block of %s', async (_, name, forms, gas) => {
  const node = await nodeOf(name)
  await ask(await node.connect({ networks: forms.map(definitionOf) }), 0, { code: '(+ 1 0)' })
  expect(askedGas(node)).toBe(gas)
})

it('newcut local takes the gas of a whole block, or --gas-limit', async () => {
  const node = await nodeOf('stoa')
  expect(await run(['local', '(+ 1 0)', '--node', node.url])).toMatchObject({ code: 0, out: '1.0\n' })
  expect(askedGas(node)).toBe(2_000_000)
  await run(['local', '(+ 1 0)', '--node', node.url, '--gas-limit', '10'])
  expect(askedGas(node)).toBe(10)
})
