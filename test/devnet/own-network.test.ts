/** A development node that is a network of a file: its name, graph, limits, rules by height and contracts. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { NodeClient } from '../../src/client/node/client.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { CommandFault, readCommand } from '../../src/devnet/command/read.ts'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { genesisOf } from '../../src/devnet/ledger/genesis.ts'
import { Mempool } from '../../src/devnet/mempool/mempool.ts'
import { transactionOf } from '../../src/devnet/mempool/transaction.ts'
import { forkedNetwork } from '../../src/devnet/options/network-settings.ts'
import { rulesOf } from '../../src/devnet/rules/network-rules.ts'
import { type RequestedSettings, settingsOf } from '../../src/devnet/rules/settings.ts'
import { decodeBase64Url } from '../../src/ground/base/bytes.ts'
import { paymentIn } from '../../src/ground/chain/coinbase.ts'
import { networkForms } from '../../src/ground/chain/network-data.ts'
import { definitionOf, type NetworkForm } from '../../src/ground/chain/network-form.ts'
import { keyPair, signed } from './command.ts'
import { temporaryDirectory } from './grow.ts'
import { startDevnet as startWhole } from './whole-node.ts'

const STOA = { network: 'stoa', code: 10 }
const quad = parse(readFileSync('test/fixtures/quad.yaml', 'utf8')) as NetworkForm
const QUAD: DevnetOptions = { port: 0, pow: false, networkName: 'quad', networks: [quad] }
const owner = keyPair()
const account = `k:${owner.publicKey}`

let devnet: Devnet
let client: NodeClient

beforeAll(async () => {
  devnet = await startDevnet(QUAD)
  client = await NodeClient.connect({ url: devnet.url, networks: [definitionOf(quad)] })
})
afterAll(async () => {
  await client.close()
  await devnet.close()
})

const TRANSFER = '(coin.transfer "sender00" "sender01" 1.0)'
/** Code that needs more gas than a block of Kadena's networks has. */
const HEAVY = '(length (fold (lambda (all one) (+ all [one])) [] (enumerate 1 2500)))'

interface RunResult {
  readonly data: number
}

const command = (code: string, meta: object = {}) =>
  signed({ sender: account, ...meta }, { networkId: 'quad', payload: { exec: { code, data: {} } } }, [owner])

/** Sends a command to a node. */
async function spend(url: string, code: string, meta: object): Promise<void> {
  const answer = await fetch(`${url}/chainweb/0.0/quad/chain/0/pact/api/v1/send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ cmds: [command(code, meta)] }),
  })
  expect(answer.status, await answer.text()).toBe(200)
}

async function post(path: string, body: unknown): Promise<[number, string]> {
  const answer = await fetch(`${devnet.url}/chainweb/0.0/quad/chain/0/pact/api/v1/${path}`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  })
  return [answer.status, await answer.text()]
}

/** Sends a command, makes a block, and returns the result. */
async function included(code: string, meta: object = {}) {
  const sent = command(code, meta)
  expect(await post('send', { cmds: [sent] })).toEqual([200, expect.stringContaining(sent.hash)])
  await devnet.mine({ 0: 1 })
  const [, text] = await post('poll', { requestKeys: [sent.hash] })
  return JSON.parse(text)[sent.hash]
}

describe('a network of a file', () => {
  it('a network of a file has the name, code, graph and delay of the file', async () => {
    const info = await (await fetch(`${devnet.url}/info`)).json()
    expect(info).toMatchObject({ nodeVersion: 'quad', nodeNumberOfChains: 4, nodeBlockDelay: 12_000_000 })
    expect(devnet.cut.get(3)).toMatchObject({ version: 4660, height: 0n })
    expect(devnet.settings).toMatchObject({ difficulty: 4096n, forkEpoch: 100 })
  })

  it('a network of a file is verified by a client with the file', async () => {
    await devnet.mine({ 0: 2 })
    const cut = await client.cut()
    for (const [chain, { hash }] of Object.entries(cut.hashes)) {
      await client.header(Number(chain), hash, { verify: { checkPow: false } })
    }
    expect(client.network.network.code).toBe(4660)
  })

  it('a network of a file runs the coinbases of its contract, and the client recognises what they pay', async () => {
    await devnet.mine({ 0: 1 })
    const head = devnet.cut.get(0)
    if (head === undefined) throw new Error('chain 0 is missing')
    const { coinbase } = await client.payloadOutputs(0, head.payloadHash, { height: Number(head.height) })
    const text = new TextDecoder().decode(decodeBase64Url(coinbase))
    const { result, events = [] } = JSON.parse(text)
    expect(result.status).toBe('success')
    expect(events).toEqual([])
    expect(paymentIn(text, definitionOf(quad).payment)).toMatchObject({ amount: '2.5' })
    expect(paymentIn(text)).toBeNull()
  })

  it('a network of a file has the gas limit of the file for blocks, commands and local calls', async () => {
    await devnet.fund(account, 100)
    const [, local] = await post('local?signatureVerification=false', command(HEAVY, { gasLimit: 400_000 }))
    const { gas, result } = JSON.parse(local)
    expect(gas).toBeGreaterThan(150_000)
    expect(result).toEqual({ status: 'success', data: { int: 2500 } })
    const ran = await included(HEAVY, { gasLimit: 400_000 })
    expect(ran.result).toEqual({ status: 'success', data: { int: 2500 } })
    const [status, refusal] = await post('send', { cmds: [command('1', { gasLimit: 400_001 })] })
    expect(status).toBe(400)
    expect(refusal).toContain('exceeds block gas limit (400000)')
    await expect(devnet.gas({ blockLimit: 400_001 })).rejects.toThrow('expected at most 400000')
  })

  it('a network of a file mints coins by rows, because its contract ignores the amount of a coinbase', async () => {
    const balance = async (amount: string) => ((await devnet.fund(account, amount)).result as RunResult).data
    const before = await balance('1')
    expect(await balance('0.5')).toBe(before + 0.5)
  })

  it('a network of a file has no accounts of Kadena’s networks', async () => {
    const [, text] = await post('local', command('(coin.get-balance "sender00")'))
    expect(JSON.parse(text).result.status).toBe('failure')
  })
})

it('a network of a file changes the rules at the heights of the file', async () => {
  const own = await startDevnet(QUAD)
  try {
    await own.fund(account, 100)
    const url = own.url
    const gasAt = async (height: number) => {
      while (Number(own.cut.get(0)?.height) < height - 1) await own.mine({ 0: 1 })
      const sent = command('1')
      const send = (path: string, body: unknown) =>
        fetch(`${url}/chainweb/0.0/quad/chain/0/pact/api/v1/${path}`, {
          ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
        })
      await send('send', { cmds: [sent] })
      await own.mine({ 0: 1 })
      const answer = JSON.parse(await (await send('poll', { requestKeys: [sent.hash] })).text())
      return [answer[sent.hash].metaData.blockHeight, answer[sent.hash].gas]
    }
    const [[below, before], [at, after]] = [await gasAt(5), await gasAt(6)]
    // The signature costs 21 gas, and its 138 bytes one or two more.
    expect(below).toBe(5)
    expect(at).toBe(6)
    expect([22, 23].includes(after - before)).toBe(true)
  } finally {
    await own.close()
  }
})

describe('contracts of a file that differ by chain', () => {
  const [whole] = quad.genesis?.transactions ?? []
  const marked = (code: string) => ({
    ...quad,
    genesis: {
      ...quad.genesis,
      transactions: [
        whole,
        { chains: '1-2', code: '(module note G (defcap G () true) (defun chain () (at "chain-id" (chain-data))))' },
        { chains: 3, code },
      ],
    },
  })
  const onThree =
    '(module note G (defcap G () true) (defconst CHAIN:string (at "chain-id" (chain-data))) (defun chain () CHAIN))'

  it('contracts of a file that differ by chain are in the first blocks of their chains, and read the number of the chain', async () => {
    const dataDir = await temporaryDirectory()
    const networks = [marked(onThree)]
    const first = await startDevnet({ ...QUAD, networks, dataDir })
    const told = async (chain: number) => {
      const asked = command('(note.chain)', { chainId: String(chain) })
      const answer = await fetch(`${first.url}/chainweb/0.0/quad/chain/${chain}/pact/api/v1/local`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) },
      })
      const { result } = (await answer.json()) as { readonly result: { data?: unknown; error?: { message: string } } }
      return result.data ?? result.error?.message
    }
    expect(await Promise.all([1, 2, 3].map(told))).toEqual(['1', '2', '3'])
    expect(await told(0)).toMatch(/note/)
    const payloads = [0, 1, 2, 3].map((chain) => genesisOf(4, networks[0].genesis.transactions, chain))
    // Chains 1 and 2 have the same contracts, so they share the state too.
    expect(payloads[1]).toBe(payloads[2])
    expect(new Set(payloads).size).toBe(3)
    await first.mine({ 0: 2, 3: 2 })
    const reader = await NodeClient.connect({ url: first.url, networks: [definitionOf(networks[0])] })
    expect(await reader.headers(3, { verify: { checkPow: false } }).all()).toHaveLength(3)
    await reader.close()
    await first.close()
    expect(await checkDataDirectory(dataDir)).toMatchObject({ findings: [] })
    const again = await startDevnet({ port: 0, dataDir })
    expect(again.cut.get(3)?.height).toBe(2n)
    await again.close()
  })

  it('contracts of a file that fail name their transaction and the chain', async () => {
    const starting = startDevnet({ ...QUAD, networks: [marked('(enforce false "not here")')] })
    await expect(starting).rejects.toThrow('genesis.transactions.2: on chain 3: not here')
  })
})

it('a network of a file has the verifiers of the file from their heights', async () => {
  const verifiers = [
    { from: 0, names: [] },
    { from: 3, names: ['allow' as const] },
  ]
  const own = await startDevnet({ ...QUAD, networks: [{ ...quad, verifiers }] })
  try {
    const allow = { name: 'allow', proof: JSON.stringify('(free.m.C)'), clist: [{ name: 'free.m.C', args: [] }] }
    const told = async (name: string) => {
      const payload = { exec: { code: '"ran"', data: {} } }
      const asked = signed({ sender: account }, { networkId: 'quad', payload, verifiers: [{ ...allow, name }] }, [
        owner,
      ])
      const answer = await fetch(`${own.url}/chainweb/0.0/quad/chain/0/pact/api/v1/local`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) },
      })
      const { result } = (await answer.json()) as { readonly result: { data?: unknown; error?: { message: string } } }
      return result.data ?? result.error?.message
    }
    await own.mine({ 0: 1 })
    expect(await told('allow')).toBe('verifier does not exist: allow')
    await own.mine({ 0: 1 })
    expect(await told('allow')).not.toMatch('does not exist')
    expect(await told('signed_list')).toBe('verifier does not exist: signed_list')
  } finally {
    await own.close()
  }
})

describe('a data directory', () => {
  it('a data directory continues its network without the file, and refuses another name and other rules', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startDevnet({ ...QUAD, dataDir })
    await first.fund(account, 100)
    await spend(first.url, HEAVY, { gasLimit: 400_000 })
    await first.mine({ 0: 2 })
    await first.close()
    // It executes all blocks again, also one with more gas than Kadena's networks allow. Four transactions are genesis.
    expect(await checkDataDirectory(dataDir)).toMatchObject({ transactions: 6, findings: [] })
    const again = await startDevnet({ port: 0, dataDir })
    expect(again.network).toMatchObject({ name: 'quad', code: 4660, blockGas: 400_000 })
    await again.mine({ 0: 1 })
    expect(again.cut.get(0)?.height).toBe(4n)
    await again.close()
    const other = { ...quad, gas: { block: 500_000 } }
    await expect(startDevnet({ ...QUAD, networks: [other], dataDir })).rejects.toThrow('began with other rules')
    await expect(startDevnet({ port: 0, networkName: 'stoa', dataDir })).rejects.toThrow('is quad, not stoa')
    const same = await startDevnet({ ...QUAD, dataDir })
    await same.close()
  })
})

it('a network of a file chooses commands for the next block up to its gas limit', () => {
  const chosen = (blockGas: number) => {
    const pool = new Mempool({ nowMs: Date.now, blockGas, onChange: () => undefined, onExpired: () => undefined })
    const read = readCommand(command('1', { gasLimit: 300_000 }) as Parameters<typeof readCommand>[0])
    if (read instanceof CommandFault) throw new Error(read.message)
    pool.insert([transactionOf(read)])
    return pool.nextBlock.length
  }
  expect(chosen(150_000)).toBe(0)
  expect(chosen(400_000)).toBe(1)
})

it('a node runs the coin contract of a file in a thread: its calls may take any time', async () => {
  const isPlain = async (options: DevnetOptions) => {
    const { ledger, close } = await startWhole({ port: 0, pow: false, ...options })
    try {
      const transfer = readCommand(
        signed({}, { payload: { exec: { code: TRANSFER, data: {} } } }) as Parameters<typeof readCommand>[0],
      )
      if (transfer instanceof CommandFault) throw new Error(transfer.message)
      return ledger.isPlain(ledger.base(0, 0).state, transfer)
    } finally {
      await close()
    }
  }
  expect(await isPlain({})).toBe(true)
  // The same contract, as a file has it: sender00 has an account there too.
  const { transactions: _, ...genesis } = quad.genesis ?? {}
  const { payload } = genesisOf(20)
  const own = payload.transactions.map(({ transaction }) => {
    const { cmd } = JSON.parse(new TextDecoder().decode(transaction))
    return JSON.parse(cmd).payload.exec
  })
  const file = { ...quad, genesis: { ...genesis, transactions: own } }
  expect(await isPlain({ networkName: 'quad', networks: [file] })).toBe(false)
})

it.each<[string, object, RegExp]>([
  ['a name without a file', { networkName: 'nowhere' }, /no file of the network nowhere/],
  ['a name that is none', { networkName: 'a b' }, /networkName: 'a b'; expected the name/],
  ['networks without names', { networks: [{}] }, /networks: .*expected a list of networks/],
  [
    'a contract that does not load',
    { ...QUAD, networks: [{ ...quad, genesis: { ...quad.genesis, transactions: [{ code: '(+ 1' }] } }] },
    /genesis\.transactions\.0: /,
  ],
])('startDevnet refuses %s', async (_, options, text) => {
  await expect(startDevnet({ port: 0, ...options })).rejects.toThrow(text)
})

describe('the rules of stoa', () => {
  const on = (asked: RequestedSettings, height: number, featureFlags = 0n) =>
    rulesOf(settingsOf(asked)).on({ height: BigInt(height), featureFlags })

  it('the rules of stoa hold on both sides of height 517,000, in a fork under any name', () => {
    for (const network of [forkedNetwork(STOA, {}), forkedNetwork(STOA, { networkName: 'stoa' })]) {
      expect(on({ network }, 516_998)).toMatchObject({ gasModel: 'pre31', isLanguage541: false, blockGas: 2_000_000 })
      expect(on({ network }, 516_999)).toMatchObject({ gasModel: 'post32', isLanguage541: true })
      // An older release knows no newer rules.
      expect(on({ network, release: '2.32' }, 516_999)).toMatchObject({ gasModel: 'pre31', isLanguage541: false })
    }
    expect(forkedNetwork(STOA, { networkName: 'stoa' })).toBe(networkForms.stoa)
    expect(rulesOf(settingsOf({ network: forkedNetwork(STOA, {}) })).network).toMatchObject({
      ...{ name: 'development', code: 2, isPublic: false },
    })
  })

  it('the rules of stoa have SLH-DSA at all heights with the preview of the next release, and nowhere without it', () => {
    const network = forkedNetwork(STOA, {})
    const release = '3.3-preview'
    const all = { gasModel: 'post33', hasSlhDsa: true, blockGas: 2_000_000 }
    expect(on({ network, release }, 516_998)).toMatchObject({ ...all, isLanguage541: false })
    expect(on({ network, release }, 516_999)).toMatchObject({ ...all, isLanguage541: true })
    for (const release of ['3.2', '2.32'] as const) expect(on({ network, release }, 600_000).hasSlhDsa).toBe(false)
    const highest = (asked: RequestedSettings) => rulesOf(settingsOf(asked)).network.forks.highestKnown
    expect(highest({})).toBe(1)
    expect(highest({ release })).toBe(2)
    expect(highest({ network, release })).toBe(0)
  })

  it('the rules of stoa follow the fork number of mainnet01, which counts from its height only', () => {
    const network = forkedNetwork({ network: 'mainnet01', code: 5 }, {})
    expect(on({ network }, 6_600_000)).toMatchObject({ gasModel: 'post31', isLanguage541: false })
    expect(on({ network }, 6_600_000, 1n)).toMatchObject({ gasModel: 'post32', isLanguage541: true })
    expect(on({ network }, 500_000, 1n)).toMatchObject({ gasModel: 'pre31' })
    expect(on({ network }, 4_577_528).verifiers).toEqual([])
    expect(on({ network }, 4_577_529).verifiers).toEqual(['hyperlane_v3_message'])
    expect(on({}, 1).verifiers).toBeNull()
  })

  it('the rules of stoa are those of a development node that is stoa', async () => {
    const stoa = await startDevnet({ port: 0, pow: false, networkName: 'stoa' })
    try {
      await stoa.mine({ 0: 1 })
      expect(stoa.cut.get(0)).toMatchObject({ version: 10, height: 1n })
      expect(stoa.network).toMatchObject({ name: 'stoa', blockGas: 2_000_000, blockDelay: 30_000_000n })
      expect(stoa.cut.size).toBe(10)
      expect(stoa.settings.forkEpoch).toBe(14_280)
    } finally {
      await stoa.close()
    }
  })
})
