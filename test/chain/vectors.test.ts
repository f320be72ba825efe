import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  decodeBase64Url,
  decodeHex,
  encodeBase64Url,
  encodeHex,
  readU256LE,
  u256LE,
} from '../../src/ground/base/bytes.ts'
import { parseJson, stringifyJson } from '../../src/ground/base/json.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { expectedFieldsOf, startsEpoch } from '../../src/ground/chain/difficulty.ts'
import { genesisHeader } from '../../src/ground/chain/genesis.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import { decodeHeader, decodeWork, encodeHeader, encodeWork, type Header } from '../../src/ground/chain/header.ts'
import { headerFromJson, headerToJson } from '../../src/ground/chain/header-json.ts'
import { versionCode, versionText } from '../../src/ground/chain/known-networks.ts'
import { graphAt, type Network } from '../../src/ground/chain/network.ts'
import { development, mainnet01, recapDevelopment, testnet04 } from '../../src/ground/chain/network-data.ts'
import { outputsHash, payloadHash, transactionsHash } from '../../src/ground/chain/payload.ts'
import { meets, powHash, solves } from '../../src/ground/chain/pow.ts'
import { brokenRules } from '../../src/ground/chain/validate.ts'
import { headerRecords } from '../records.ts'

const read = (name: string) => JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8'))
const networks: Record<string, Network> = {
  mainnet01,
  testnet04,
  development,
  'recap-development': recapDevelopment,
}

describe('162 headers, most of them real', () => {
  it.each(
    headerRecords.map((record, i) => [i, record.kind, record.network, record.height, record.chain, record] as const),
  )(
    'header %i decodes, hashes and passes as published: %s, %s, height %i, chain %i',
    (_i, kind, network, height, chain, record) => {
      const bytes = decodeHex(record.header_hex)
      const isWork = kind === 'unsolved-work'
      const fields = isWork ? decodeWork(bytes) : decodeHeader(bytes)
      const work = encodeWork(fields)
      expect(encodeHex(isWork ? work : encodeHeader(fields as Header))).toBe(record.header_hex)
      expect(versionText(fields.version, { name: network, code: versionCode(network) ?? 0 })).toBe(network)
      expect(fields.height).toBe(BigInt(height))
      expect(fields.chainId).toBe(chain)
      expect(fields.featureFlags).toBe(BigInt(record.feature_flags))
      expect(fields.nonce).toBe(BigInt(record.nonce))
      expect(fields.creationTime).toBe(BigInt(record.creation_time_us))
      expect(fields.epochStart).toBe(BigInt(record.epoch_start_us))
      expect(encodeHex(u256LE(fields.target))).toBe(record.target_hex_le)
      expect(encodeHex(powHash(work))).toBe(record.pow_hash_hex)
      expect(solves(work)).toBe(record.solved)
      if (isWork) return
      const claimed = (fields as Header).hash
      expect(encodeBase64Url(claimed)).toBe(record.block_hash_b64url)
      expect(encodeBase64Url(blockHash(work)) === record.block_hash_b64url).toBe(record.block_hash_recomputes)
      expect(headerFromJson(parseJson(stringifyJson(headerToJson(fields as Header))))).toEqual(fields)
    },
  )

  it('each header names the adjacents of the graph at the height of its parent', () => {
    for (const record of headerRecords.filter(({ kind }) => kind === 'block' || kind === 'genesis')) {
      const header = decodeHeader(decodeHex(record.header_hex))
      const at = record.kind === 'genesis' ? record.height : record.height - 1
      expect([...header.adjacents.keys()]).toEqual(graphAt(networks[record.network], at).adjacents[record.chain])
    }
  })

  it('60 genesis headers follow from network and payload hash', () => {
    const genesis = headerRecords.filter(({ kind }) => kind === 'genesis')
    expect(genesis).toHaveLength(60)
    for (const record of genesis) {
      const real = decodeHeader(decodeHex(record.header_hex))
      expect(genesisHeader(networks[record.network], record.chain, real.payloadHash)).toEqual(real)
    }
  })

  it('a hash one above the target is a miss', () => {
    const target = 12345678901234567890n
    expect(meets(u256LE(target), target)).toBe(true)
    expect(meets(u256LE(target + 1n), target)).toBe(false)
  })
})

interface DifficultyRecord {
  network: string
  height: number
  epoch_boundary: boolean
  header_hex: string
  parent_hex: string
  adjacent_parents: Record<string, string>
}

describe('real blocks with all their parents', () => {
  const sets: DifficultyRecord[] = read('difficulty.json')
  it.each(sets.map((set) => [set.network, set.height, set] as const))(
    'a real block with its parents keeps every rule: %s, height %i',
    (name, height, set) => {
      const network = networks[name]
      const header = decodeHeader(decodeHex(set.header_hex))
      const parent = decodeHeader(decodeHex(set.parent_hex))
      const adjacentParents = new Map(
        Object.entries(set.adjacent_parents).map(([chain, hex]) => [Number(chain), decodeHeader(decodeHex(hex))]),
      )
      expect(startsEpoch(network, height - 1)).toBe(set.epoch_boundary)
      const expected = expectedFieldsOf(network, parent, [...adjacentParents.values()], header.creationTime)
      expect(expected).toEqual({ target: header.target, epochStart: header.epochStart, weight: header.weight })
      const options = { now: header.creationTime, checkPow: true }
      expect(brokenRules(network, header, { parent, adjacentParents }, options)).toEqual([])
    },
  )

  it('a changed field of a real block breaks its rule', () => {
    const set = sets[sets.length - 1]
    const network = networks[set.network]
    const parent = decodeHeader(decodeHex(set.parent_hex))
    const adjacentParents = new Map(
      Object.entries(set.adjacent_parents).map(([chain, hex]) => [Number(chain), decodeHeader(decodeHex(hex))]),
    )
    const valid = decodeHeader(decodeHex(set.header_hex))
    const check = (change: Partial<Header>, now = valid.creationTime) =>
      brokenRules(network, { ...valid, ...change }, { parent, adjacentParents }, { now, checkPow: true })
    expect(check({}, valid.creationTime - 1n)).toEqual(['future'])
    expect(check({ hash: new Uint8Array(32) })).toEqual(['hash'])
    expect(check({ nonce: valid.nonce + 1n })).toEqual(['hash', 'proofOfWork'])
    for (const [rule, change] of Object.entries({
      version: { version: 7 },
      forkNumber: { featureFlags: 1n },
      unknownFork: { featureFlags: 2n },
      forkVotes: { featureFlags: 1n << 32n },
      chain: { chainId: 1 },
      parent: { parent: new Uint8Array(32) },
      height: { height: valid.height + 1n },
      adjacents: { adjacents: new Map([...valid.adjacents].map(([chain]) => [chain, valid.parent])) },
      creationTime: { creationTime: parent.creationTime },
      target: { target: valid.target - 1n },
      epochStart: { epochStart: valid.epochStart - 1n },
      weight: { weight: valid.weight + 1n },
    })) {
      expect(check(change)).toContain(rule)
    }
    const latest = [...adjacentParents.values()].reduce((a, b) => (a.creationTime > b.creationTime ? a : b))
    if (latest.creationTime > parent.creationTime) {
      expect(check({ creationTime: latest.creationTime })).toContain('creationTime')
    }
  })
})

describe('payload hashes', () => {
  interface PayloadRecord {
    withOutputs: boolean
    payload: {
      transactions: (string | [string, string])[]
      minerData: string
      coinbase?: string
      transactionsHash: string
      outputsHash: string
      payloadHash: string
    }
  }
  it.each((read('payloads.json') as PayloadRecord[]).map((record, i) => [i, record] as const))(
    'the payload hash matches real payload %i',
    (_i, record) => {
      const { payload } = record
      const bytes = (text: string) => decodeBase64Url(text)
      const transactions = payload.transactions.map((item) => bytes(typeof item === 'string' ? item : item[0]))
      const transactionsRoot = transactionsHash(bytes(payload.minerData), transactions)
      expect(encodeBase64Url(transactionsRoot)).toBe(payload.transactionsHash)
      expect(encodeBase64Url(payloadHash(transactionsRoot, bytes(payload.outputsHash)))).toBe(payload.payloadHash)
      if (!record.withOutputs) return
      const outputs = payload.transactions.map((item) => bytes(item[1]))
      expect(encodeBase64Url(outputsHash(bytes(payload.coinbase ?? ''), outputs))).toBe(payload.outputsHash)
    },
  )
})

it('every graph is symmetric, regular and in ascending order', () => {
  for (const { adjacents, degree } of Object.values(graphs)) {
    adjacents.forEach((neighbours, chain) => {
      expect(neighbours).toHaveLength(degree)
      expect([...neighbours].sort((a, b) => a - b)).toEqual(neighbours)
      for (const other of neighbours) expect(adjacents[other]).toContain(chain)
    })
  }
})

it('readU256LE reads the first byte as the least significant', () => {
  expect(
    readU256LE(
      Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 1 : 0)),
      0,
    ),
  ).toBe(1n)
  expect(
    readU256LE(
      Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? 1 : 0)),
      0,
    ),
  ).toBe(1n << 248n)
})
