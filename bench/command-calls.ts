/**
 * Calls the embedded node from another process: transfers into immediate blocks, results, proofs. Every transfer is
 * accounted for.
 */

import { NodeClient } from '../src/client/node/public.ts'
import { GAS } from '../src/client/wallet/capability.ts'
import type { SignedCommand } from '../src/client/wallet/command.ts'
import { signedCommand, signingKey } from '../src/client/wallet/keys.ts'
import { developmentAccounts } from '../src/ground/chain/development-accounts.ts'
import { decodeProof } from '../src/ground/chain/spv.ts'
import { answersPerSecond, requestBytes } from './load.ts'
import type { Row } from './report.ts'
import { type Server, startServer } from './server.ts'
import type { Effort } from './suite.ts'

const SUITE = 'contracts'
const CHAIN = '/chainweb/0.0/development/chain/0'
const CONNECTIONS = 8
/** Commands per request. */
const BATCH = 50
const [sender, receiver] = developmentAccounts
const key = signingKey(sender.secretKey)

export async function commandCalls({ sampleMs, rounds, isQuick }: Effort): Promise<Row[]> {
  const server = await startServer({ graph: 'pair' })
  const client = await NodeClient.connect({ url: server.url })
  try {
    // The first block is years old, so present commands are not yet valid on top of it.
    await makeBlocks(server, { 0: 1, 1: 1 })
    const moved = await transfers(server, client, { count: isQuick ? BATCH : 10 * BATCH, rounds })
    await makeBlocks(server, { 1: 4 })
    const requests = {
      'poll: one result': { path: 'pact/api/v1/poll', body: { requestKeys: [moved.key] }, check: isResult(moved.key) },
      'spv: a proof for the next chain': {
        path: 'pact/spv',
        body: { requestKey: moved.key, targetChainId: '1' },
        check: isProof(moved.key),
      },
    }
    const rows = [...moved.rows]
    for (const [name, { path, body, check }] of Object.entries(requests)) {
      const request = requestBytes('POST', `${CHAIN}/${path}`, JSON_BODY, JSON.stringify(body))
      const load = { port: server.port, connections: CONNECTIONS, durationMs: sampleMs, request, check }
      const samples: number[] = []
      for (let round = -1; round < rounds; round++) {
        const rate = await answersPerSecond(load)
        if (round >= 0) samples.push(rate)
      }
      rows.push({ suite: SUITE, name, unit: '1/s', samples })
    }
    return rows
  } finally {
    await client.close()
    await server.stop()
  }
}

/** The time of one transfer from `send` until its result, on nodes that make blocks on arrival. */
export async function arrivals({ isQuick }: Effort): Promise<Row[]> {
  const rows: Row[] = []
  for (const [graph, chains] of [
    ['singleton', 'one chain'],
    ['twenty', '20 chains'],
  ] as const) {
    const server = await startServer({ graph, autoMine: { kind: 'on-arrival', confirmations: 5 } })
    const client = await NodeClient.connect({ url: server.url })
    try {
      const samples: number[] = []
      // A fresh node executes its first commands more slowly.
      for (let round = isQuick ? -1 : -10; round < (isQuick ? 2 : 40); round++) {
        const command = transfer(`arrival ${round}`)
        const startMs = performance.now()
        await client.send(0, [command])
        const { result } = await client.listen(0, command.hash)
        if (result.status !== 'success') throw new Error(`contracts: ${JSON.stringify(result)}`)
        if (round >= 0) samples.push(performance.now() - startMs)
      }
      rows.push({
        suite: SUITE,
        name: `a transfer on arrival, from send to its result: ${chains}`,
        unit: 'ms',
        samples,
      })
    } finally {
      await client.close()
      await server.stop()
    }
  }
  return rows
}

const JSON_BODY = { 'content-type': 'application/json' }

/** Times signed transfers from the first request until all are in blocks. @returns the request key of one of them */
async function transfers(
  server: Server,
  client: NodeClient,
  { count, rounds }: { count: number; rounds: number },
): Promise<{ rows: Row[]; key: string }> {
  const handIn: number[] = []
  const intoBlocks: number[] = []
  let last = ''
  let made = 0
  for (let round = -1; round < rounds; round++) {
    const commands = Array.from({ length: count }, () => transfer(`${made++}`))
    const keys = commands.map(({ hash }) => hash)
    const startMs = performance.now()
    for (let i = 0; i < count; i += BATCH) await client.send(0, commands.slice(i, i + BATCH))
    const handedInMs = performance.now()
    await makeBlocks(server, { 0: Math.ceil(count / 500) })
    const endMs = performance.now()
    await expectAll(client, keys)
    last = keys[0]
    if (round < 0) continue
    handIn.push((count * 1000) / (handedInMs - startMs))
    intoBlocks.push((count * 1000) / (endMs - startMs))
  }
  const row = (name: string, samples: number[]): Row => ({ suite: SUITE, name, unit: '1/s', samples })
  return { rows: [row('transfers handed in', handIn), row('transfers handed in and executed', intoBlocks)], key: last }
}

function transfer(nonce: string): SignedCommand {
  const amount = { decimal: '0.5' }
  const move = { name: 'coin.TRANSFER', args: [sender.account, receiver.account, amount] }
  return signedCommand({
    networkId: 'development',
    chain: 0,
    sender: sender.account,
    gasLimit: 400,
    gasPrice: '0.00000001',
    payload: { code: `(coin.transfer "${sender.account}" "${receiver.account}" 0.5)`, data: '{}' },
    signers: [{ key, capabilities: [GAS, move] }],
    ttl: 3600,
    creationTime: Math.floor(Date.now() / 1000) - 1,
    nonce,
  })
}

async function expectAll(client: NodeClient, keys: readonly string[]): Promise<void> {
  const results = await client.poll(0, keys)
  const failed = keys.find((each) => results.get(each)?.result.status !== 'success')
  if (failed !== undefined) throw new Error(`contracts: the transfer ${failed} is in no block, or has failed`)
}

function isResult(requestKey: string): (body: Buffer) => void {
  return (body) => {
    if (JSON.parse(body.toString())[requestKey].result.data !== 'Write succeeded')
      throw new Error('contracts: no result')
  }
}

function isProof(requestKey: string): (body: Buffer) => void {
  return (body) => {
    const { chain, output } = decodeProof(JSON.parse(body.toString()))
    const proves = JSON.parse(new TextDecoder().decode(output)).reqKey
    if (chain !== 1 || proves !== requestKey) throw new Error('contracts: a wrong proof')
  }
}

async function makeBlocks({ url }: Server, counts: Readonly<Record<number, number>>): Promise<void> {
  const init = { method: 'POST', headers: JSON_BODY, body: JSON.stringify(counts) }
  const answer = await fetch(`${url}/make-blocks`, init)
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`contracts: ${answer.status} ${text}`)
}
