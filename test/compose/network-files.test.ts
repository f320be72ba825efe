/** Files of networks beside a node: a miner says which of them do not fit, and mines all the same. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { connectNodeSource } from '../../src/compose/source/nodes.ts'
import { definitionOf, type NetworkForm } from '../../src/ground/chain/network-form.ts'

let devnet: Devnet
beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'singleton', pow: false })
})
afterAll(() => devnet.close())

/** Reaches the node with files of these forms. */
async function reached(...forms: readonly NetworkForm[]): Promise<readonly [reports: string[], network: string]> {
  const reports: string[] = []
  const setup = {
    ...({ kind: 'nodes', urls: [devnet.url], trust: { insecure: false }, failFast: true } as const),
    payee: { kind: 'key', publicKeys: ['f'.repeat(64)] },
    networks: forms.map(definitionOf),
  }
  const node = await connectNodeSource(setup as never, (message) => reports.push(message), new AbortController().signal)
  await node.close()
  return [reports, node.network]
}

it.each([
  ['the code of the node', [{ network: 1, name: 'development', code: 2 }], []],
  ['no code', [{ network: 1, name: 'development' }], []],
  [
    'another code',
    [{ network: 1, name: 'development', code: 3 }],
    ['the file of development has code 3, but its genesis header has 2: no header will be right'],
  ],
  [
    'another genesis time',
    [{ network: 1, name: 'development', genesis: { time: '2026-11-01T00:00:00Z' } }],
    [
      'the file of development has genesis.time 2026-11-01T00:00:00.000000Z, but its genesis header has 2019-07-17T18:28:37.613832Z: no header will be right',
    ],
  ],
  [
    'other names',
    [
      { network: 1, name: 'one', code: 2 },
      { network: 1, name: 'two' },
    ],
    ['the node belongs to development, but `network-file` describes one, two: it has no effect'],
  ],
] as const)('the miner compares a network file with its node: %s', async (_, forms, reports) => {
  expect(await reached(...(forms as readonly NetworkForm[]))).toEqual([reports, 'development'])
})
