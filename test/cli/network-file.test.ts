/** Files of networks: what they may have, and the errors of wrong ones. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readNetworkFiles } from '../../src/faces/cli/network-file.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { completeNetwork, graphAt } from '../../src/ground/chain/network.ts'
import { definitionOf } from '../../src/ground/chain/network-form.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { run, startHere } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-network-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The file of an invented network: four chains in a ring, blocks every 12 s. */
const WHOLE = `network: 1
name: quad
code: 4660
public: false
graphs:
  - from: 0
    graph: [[1, 3], [0, 2], [1, 3], [2, 0]]
block-delay: 12s
window: 60
genesis:
  time: 2026-11-01T00:00:00.000001Z
  targets:
    - { chains: 0-2, difficulty: 1000 }
    - { chains: 3, target: "${'0f'.repeat(32)}" }
  payloads:
    - { chains: 1, hash: EyMMEitzZjPXEtL8cVgEgiN4w48CBBx0wMWZGQDretw }
  first-epoch: faked
rules:
  slow-epochs-until: genesis
  parent-time: 7
  mean-target: { fork: 2 }
  fork-flags: never
forks: { highest: 2, casting: 100 }
gas:
  block: 500000
  sizes:
    - { from: genesis, model: pre31 }
    - { from: 10, model: post31 }
    - { from: { fork: 2 }, model: post32 }
coin:
  payment: result
  pattern: "{account} got {amount} QUAD"
  forecast: none
spv-window:
  - { from: 5, blocks: 1000 }
  - { from: { fork: 1 }, blocks: none }
`

/** Adjacent chains of eleven chains, each next to all others. */
const eleven = [...Array(11).keys()]
const COMPLETE = JSON.stringify(eleven.map((chain) => eleven.filter((other) => other !== chain)))

let written = 0
function fileOf(text: string): string {
  const path = join(folder, `${++written}.yaml`)
  writeFileSync(path, text)
  return path
}

function refusal(...paths: string[]): { readonly code: string; readonly message: string } {
  try {
    readNetworkFiles(paths)
  } catch (error) {
    if (!(error instanceof NewcutError)) throw error
    return { code: error.code, message: error.message.replace(`${folder}/`, '') }
  }
  throw new Error('the files were read')
}

const definitionsIn = (...files: string[]) => readNetworkFiles(files).map(definitionOf)

describe('the file of a network', () => {
  it('a network file has all that verification needs', () => {
    const [definition] = definitionsIn(fileOf(WHOLE))
    const network = completeNetwork(definition)
    if (network === null) throw new Error('a part is missing')
    expect(network).toMatchObject({
      ...{ name: 'quad', code: 4660, isPublic: false, blockDelay: 12_000_000n, window: 60, blockGas: 500_000 },
      ...{ genesisTime: 1_793_491_200_000_001n, fakeFirstEpochStart: true, takesAnyGenesisTarget: false },
      ...{ payment: { model: 'result', pattern: '{account} got {amount} QUAD' }, forecast: { model: 'none' } },
      rules: { endOfEmergencyAdjustment: 0, parentTime: 7, meanTarget: { fork: 2 } },
      forks: { from: Number.POSITIVE_INFINITY, castingBlocks: 100, highestKnown: 2 },
      gasModels: [
        { from: 0, model: 'pre31' },
        { from: 10, model: 'post31' },
        { from: { fork: 2 }, model: 'post32' },
      ],
      spvWindows: [
        { from: 5, blocks: 1000 },
        { from: { fork: 1 }, blocks: null },
      ],
    })
    expect([0, 2, 3].map(network.genesisTarget)).toEqual([
      ...[MAX_TARGET / 1000n, MAX_TARGET / 1000n, BigInt(`0x${'0f'.repeat(32)}`)],
    ])
    expect([0, 1].map(network.genesisPayload)).toEqual([null, 'EyMMEitzZjPXEtL8cVgEgiN4w48CBBx0wMWZGQDretw'])
    expect(graphAt(network, 0)).toEqual({
      name: 'other',
      degree: 2,
      adjacents: [
        [1, 3],
        [0, 2],
        [1, 3],
        [0, 2],
      ],
    })
  })

  it('a network file may be JSON, and needs no more than a name', () => {
    const [definition] = definitionsIn(fileOf('{ "network": 1, "name": "quad" }'))
    expect(definition.name).toBe('quad')
    expect(definition.isPublic).toBe(true)
    expect(completeNetwork(definition)).toBeNull()
  })

  it.each([
    ['an unknown key', 'block-delay:', 'block-dely:', 'line 8: block-dely: no such field; did you mean block-delay?'],
    [
      'a height that is not a number',
      'parent-time: 7',
      'parent-time: soon',
      'line 20: rules.parent-time: expected genesis, a height, { fork: N } or never',
    ],
    [
      'a negative height',
      '{ from: 10,',
      '{ from: -10,',
      'line 28: gas.sizes.1.from: expected genesis, a height, { fork: N } or never',
    ],
    [
      'conditions in another order',
      '{ from: 10,',
      '{ from: genesis,',
      'line 28: gas.sizes.1.from: expected a later one than before',
    ],
    [
      'an unknown model',
      'model: post31',
      'model: post33',
      'line 28: gas.sizes.1.model: expected pre31 or post31 or post32',
    ],
    [
      'a code of more than 32 bits',
      'code: 4660',
      'code: 4294967296',
      'line 3: code: expected a whole number from 0 to 4294967295',
    ],
    [
      'a graph that is not regular',
      '[2, 0]]',
      '[2]]',
      'line 7: graphs.0.graph: has 1 chains adjacent to chain 3, expected 2',
    ],
    [
      'a graph with too many adjacent chains',
      '[[1, 3], [0, 2], [1, 3], [2, 0]]',
      COMPLETE,
      'line 7: graphs.0.graph: has chains with 10 adjacent chains, expected at most 9',
    ],
    [
      'two graphs from one height',
      'block-delay:',
      '  - { from: 0, graph: pair }\nblock-delay:',
      'line 8: graphs.1.from: expected more than 0',
    ],
    ['neither a target nor a difficulty', ', difficulty: 1000', '', 'line 13: genesis.targets.0: expected either'],
    ['no pattern for a result', '\n  pattern: "{account} got {amount} QUAD"', '', 'line 31: coin.payment: expected a'],
    ['a symbol with a space', 'forecast: none', 'symbol: Q D', 'line 33: coin.symbol: expected 1 to 12 letters'],
    ['another grant', 'forecast: none', 'grants: [GAS]', 'line 33: coin.grants.0: expected COINBASE or DEBIT'],
    [
      'a transaction without code',
      'first-epoch: faked',
      'transactions: [{ data: {} }]',
      'line 17: genesis.transactions',
    ],
    [
      'a transaction with code and a file of it',
      'first-epoch: faked',
      'transactions: [{ code: "1", code-file: x }]',
      'line 17: genesis.transactions.0: expected either code or code-file',
    ],
    [
      'a transaction with a file that is not there',
      'first-epoch: faked',
      'transactions: [{ code-file: nowhere.pact }]',
      'line 17: genesis.transactions.0.code-file: nowhere.pact: it does not exist',
    ],
    [
      'a transaction on no chain',
      'first-epoch: faked',
      'transactions: [{ chains: all, code: "1" }]',
      'line 17: genesis.transactions.0.chains: expected a chain or chains',
    ],
    ['a graph from a later height', '- from: 0', '- from: 5', 'line 6: graphs.0.from: expected 0'],
    [
      'no target for a chain',
      'chains: 0-2',
      'chains: 0-1',
      'line 12: genesis.targets: expected a target for each chain, also for chain 2',
    ],
    [
      'a target that is too short',
      '0f0f0f',
      '0f0f',
      'line 14: genesis.targets.1.target: expected 64 hex digits in quotes',
    ],
    [
      'a target and a difficulty',
      'chains: 0-2, diff',
      'target: "0f", diff',
      'line 13: genesis.targets.0.target: expected 64 hex digits',
    ],
    [
      'chains in the wrong order',
      'chains: 0-2',
      'chains: 2-0',
      'line 13: genesis.targets.0.chains: expected a chain or chains',
    ],
    ['a time without a day', '2026-11-01T00', '2026-11-41T00', 'line 11: genesis.time: expected a time such as'],
    [
      'a delay without a unit',
      'block-delay: 12s',
      'block-delay: "12"',
      'line 8: block-delay: expected a time such as 30s',
    ],
    ['a hash that is too short', 'EyMMEitzZjPXEtL8', 'EyMM', 'line 16: genesis.payloads.0.hash: expected a hash'],
    [
      'a pattern without an amount',
      '{amount} QUAD',
      'QUAD',
      'line 32: coin.pattern: expected a pattern with one {amount}',
    ],
    ['a pattern for events', 'payment: result', 'payment: event', 'line 32: coin.pattern: expected none'],
    [
      'a payment by a call without the code',
      'payment: result\n  pattern: "{account} got {amount} QUAD"',
      'payment: call',
      'line 31: coin.payment: expected coin.call too, the code whose value is the reward of a block',
    ],
    [
      'a forecast by a call without the code',
      'forecast: none',
      'forecast: call',
      'line 33: coin.forecast: expected coin.call too',
    ],
    [
      'a call that nothing uses',
      'forecast: none',
      'call: { code: (coin.pays) }',
      'line 33: coin.call: expected none: neither payment nor forecast is `call`',
    ],
    [
      'a call on no chain',
      'forecast: none',
      'call: { code: "1.0", chain: x }',
      'line 33: coin.call.chain: expected a whole',
    ],
    ['another form', 'network: 1', 'network: 2', 'line 1: network: expected 1, the version of this form'],
    ['a name with a slash', 'name: quad', 'name: a/b', 'line 2: name: expected up to 64 letters'],
    ['broken YAML', 'rules:', 'rules: [', 'line 19'],
  ])('a network file with %s is refused with line and reason', (_, from, to, message) => {
    expect(WHOLE).toContain(from)
    const { code, message: said } = refusal(fileOf(WHOLE.replace(from, to)))
    expect(said).toContain(message)
    expect(code).toBe('BAD_CONFIG')
  })

  it('a network file has the code of its first transactions in files beside it', () => {
    const contract = fileOf('(module m G (defcap G () true))')
    const transactions = `transactions: [{ chains: 0-1, code-file: ${basename(contract)}, data: { a: 1 } }, { code: "1" }]`
    const [{ genesis }] = readNetworkFiles([fileOf(WHOLE.replace('first-epoch: faked', transactions))])
    expect(genesis?.transactions).toEqual([
      { chains: '0-1', code: '(module m G (defcap G () true))', data: { a: 1 } },
      { code: '1' },
    ])
  })

  it('a network file is refused if another file has its name, or if it names a public network', () => {
    const [first, second] = [fileOf(WHOLE), fileOf(WHOLE)]
    expect(refusal(first, second).message).toMatch(/^\d+\.yaml and .*\d+\.yaml both describe quad$/)
    expect(refusal(fileOf('{ "network": 1, "name": "mainnet01" }')).message).toMatch(
      /newcut knows the rules of mainnet01/,
    )
    // newcut knows no more than the name and the code of evm-testnet.
    for (const name of ['development', 'evm-testnet']) {
      expect(readNetworkFiles([fileOf(`{ "network": 1, "name": "${name}" }`)])).toHaveLength(1)
    }
  })

  it('a network file that is missing is refused with its name', () => {
    expect(refusal(join(folder, 'none.yaml'))).toEqual({
      code: 'BAD_CONFIG',
      message: expect.stringMatching(/^cannot read network file none\.yaml: /),
    })
  })
})

it('the only network file is the network of a development node, in a data directory too', async () => {
  const network = fileOf(WHOLE)
  const devnet = async (...args: string[]) => {
    const node = startHere(['devnet', '--port', '0', '--no-pow', '--data', join(folder, 'data'), ...args])
    const [, name] = await node.sees(/embedded network: (\w+)/)
    await node.stop()
    return name
  }
  expect(await devnet('--network-file', network)).toBe('quad')
  expect(await devnet()).toBe('quad')
  const { code, err } = await run(['devnet', '--network', 'nowhere'])
  expect(err).toContain('--network nowhere: newcut has no file of that network')
  expect(code).toBe(2)
})
