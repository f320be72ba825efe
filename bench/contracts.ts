/**
 * Contracts on the embedded node, with the load in another process. Measures reads, transfers up to their results,
 * blocks, start time, many accounts on disk, and the delay of miners' work. Verifies every answer.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NodeClient } from '../src/client/node/public.ts'
import { readStored } from '../src/devnet/command/read.ts'
import { genesisOf } from '../src/devnet/ledger/genesis.ts'
import { Ledger } from '../src/devnet/ledger/ledger.ts'
import { MemoryVersions } from '../src/devnet/ledger/versions.ts'
import { genesisState } from '../src/devnet/rules/chains.ts'
import { rulesFor } from '../src/devnet/rules/network-rules.ts'
import { networkOf, settingsOf } from '../src/devnet/rules/settings.ts'
import { MemoryTransactionIndex } from '../src/devnet/store/transaction-index.ts'
import { arrivals, commandCalls } from './command-calls.ts'
import { answersPerSecond, requestBytes } from './load.ts'
import { percentile, type Row, relativeTo } from './report.ts'
import { type Server, startServer } from './server.ts'
import { type Effort, pause } from './suite.ts'
import { commandOn, type LoadOrder, type LoadResult, PREFIX, post, transferOn } from './transfers.ts'

const SUITE = 'contracts'
const JSON_TYPE = { 'content-type': 'application/json' }
const CONNECTIONS = 8
const BLOCK_TRANSFERS = 150
const BLOCK_TIME_MS = 1000
const KEY = 'ab'.repeat(32)
const MINER = { account: `k:${KEY}`, predicate: 'keys-all', publicKeys: [KEY] }

const row = (name: string, unit: Row['unit'], samples: number[], relative?: Row['relative']): Row => {
  return { suite: SUITE, name, unit, samples, ...(relative && { relative }) }
}

interface Size {
  /** Network for transfers to every chain. */
  readonly network: { readonly chains: number; readonly graph?: 'pair' }
  readonly transfersMs: number
  /** Accounts of the two nodes on disk. */
  readonly few: number
  readonly many: number
  /** Prepared requests, more than the node caches. */
  readonly lookups: number
}
const FULL: Size = { network: { chains: 20 }, transfersMs: 60_000, few: 1000, many: 1_000_000, lookups: 30_000 }
const QUICK: Size = { network: { chains: 2, graph: 'pair' }, transfersMs: 300, few: 50, many: 100, lookups: 50 }

export async function contracts(effort: Effort): Promise<Row[]> {
  const size = effort.isQuick ? QUICK : FULL
  return [
    ...(await reading(effort)),
    ...(await commandCalls(effort)),
    ...(await arrivals(effort)),
    blocks(effort),
    ...(await transfers(size)),
    ...(await accountsOnDisk(effort, size)),
  ]
}

/** Start time, and /local reads of a balance. */
async function reading({ sampleMs, rounds }: Effort): Promise<Row[]> {
  const startMs: number[] = []
  for (let round = 1; round < rounds; round++) {
    const server = await startServer({})
    startMs.push(server.startMs)
    await server.stop()
  }
  const server = await startServer({})
  try {
    startMs.push(server.startMs)
    const rates: number[] = []
    const asked = { request: balanceRequest('sender00'), check: isBalance }
    const load = { port: server.port, connections: CONNECTIONS, durationMs: 2 * sampleMs, ...asked }
    for (let round = -1; round < rounds; round++) {
      const rate = await answersPerSecond(load)
      if (round >= 0) rates.push(rate)
    }
    return [
      row('start in memory, system contracts loaded', 'ms', startMs),
      row('plain local of a balance', '1/s', rates),
    ]
  } finally {
    await server.stop()
  }
}

function balanceRequest(account: string): Uint8Array {
  const path = `${PREFIX}/chain/0/pact/api/v1/local?preflight=false&signatureVerification=false`
  return requestBytes('POST', path, JSON_TYPE, JSON.stringify(commandOn(0, `(coin.get-balance "${account}")`)))
}

function isBalance(body: Buffer): void {
  const { result } = JSON.parse(body.toString()) as { result: { status: string; data: unknown } }
  if (result.status !== 'success' || typeof result.data !== 'number') throw new Error(`contracts: ${body}`)
}

/** Executes a block of transfers in this process; signatures were verified on arrival. */
function blocks({ rounds, isQuick }: Effort): Row {
  const network = networkOf(settingsOf({ graph: 'singleton', pow: false }))
  const { store, heads } = genesisState(network, () => genesisOf(1).payload)
  const options = { store, heads: heads.values(), index: new MemoryTransactionIndex() }
  const ledger = new Ledger({
    ...options,
    rules: rulesFor(network, '3.2'),
    versions: new MemoryVersions(),
    check: () => null,
  })
  const [parent] = heads.values()
  const samples: number[] = []
  // A fresh node executes its first few thousand commands more slowly.
  for (let round = isQuick ? -1 : -30; round < rounds; round++) {
    const commands = Array.from({ length: BLOCK_TRANSFERS }, () => transferOn(0))
    const startMs = performance.now()
    const draft = ledger.begin(parent, MINER)
    for (const { hash, sigs, cmd } of commands) {
      const bytes = Buffer.from(JSON.stringify({ hash, sigs, cmd }))
      if (draft.add({ command: readStored(bytes), bytes }) !== 'added') throw new Error('contracts: not added')
    }
    const { payload } = draft
    if (round >= 0) samples.push(performance.now() - startMs)
    const isRight = payload.transactions.every(({ output }) => Buffer.from(output).includes('"status":"success"'))
    if (!isRight) throw new Error('contracts: a transfer failed')
  }
  return row(`a block of ${BLOCK_TRANSFERS} transfers`, 'ms', samples)
}

/** Transfers up to their results, and how long the miner waits for work meanwhile. */
async function transfers({ network: { chains, ...graph }, transfersMs: durationMs }: Size): Promise<Row[]> {
  const server = await startServer(graph)
  try {
    const loaded = load({ url: server.url, chains, durationMs })
    const { waits, result } = await mine(server, chains, loaded)
    const { results, durationMs: tookMs } = result
    return [
      row('transfers from send to result', '1/s', [(results * 1000) / tookMs]),
      row('blocks meanwhile', '1/s', [(waits.length * 1000) / tookMs]),
      row('work request meanwhile p50', 'ms', [percentile(waits, 0.5)]),
      row('work request meanwhile p99', 'ms', [percentile(waits, 0.99)]),
    ]
  } finally {
    await server.stop()
  }
}

async function load(order: LoadOrder): Promise<LoadResult> {
  const child = fork(fileURLToPath(new URL('./transfers-child.js', import.meta.url)), [JSON.stringify(order)])
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`contracts: the load ended with ${code}`)
  })
  const [result] = (await Promise.race([once(child, 'message'), ended])) as [LoadResult]
  ended.catch(() => undefined)
  return result
}

/**
 * Mines a block per second on each chain until the load has ended. @returns the durations of its work requests in
 * milliseconds
 */
async function mine({ url }: Server, chains: number, loaded: Promise<LoadResult>) {
  const client = await NodeClient.connect({ url })
  const startedAtMs = performance.now()
  const waits: number[] = []
  let isLoaded = true
  const endLoad = () => {
    isLoaded = false
  }
  loaded.then(endLoad, endLoad)
  try {
    while (isLoaded || waits.length === 0) {
      const startMs = performance.now()
      const { work } = await client.work(MINER)
      waits.push(performance.now() - startMs)
      await client.solved(work.bytes)
      await pause(Math.max(0, startedAtMs + (waits.length * BLOCK_TIME_MS) / chains - performance.now()))
    }
    return { waits, result: await loaded }
  } finally {
    await client.close()
  }
}

/** Lookups and memory with many accounts on disk, compared with few. */
async function accountsOnDisk({ sampleMs, rounds }: Effort, { few: least, many, lookups }: Size): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-bench-contracts-'))
  try {
    const [few, all] = [
      await growNode(join(folder, 'few'), least, lookups),
      await growNode(join(folder, 'many'), many, lookups),
    ]
    try {
      const rates: number[][] = [[], []]
      for (let round = -1; round < rounds; round++) {
        for (const [i, { server, next }] of [few, all].entries()) {
          const load = { port: server.port, connections: CONNECTIONS, durationMs: 2 * sampleMs, request: next }
          const rate = await answersPerSecond({ ...load, check: isBalance })
          if (round >= 0) rates[i].push(rate)
        }
      }
      return [
        row(`lookups of random accounts, ${least} on disk`, '1/s', rates[0]),
        row(
          `lookups of random accounts, ${many} on disk`,
          '1/s',
          rates[1],
          relativeTo(String(least), rates[1], rates[0]),
        ),
        row(`memory of the node, ${least} accounts on disk`, 'MiB', [(await few.server.memoryBytes()) / 2 ** 20]),
        row(`memory of the node, ${many} accounts on disk`, 'MiB', [(await all.server.memoryBytes()) / 2 ** 20]),
      ]
    } finally {
      await few.server.stop()
      await all.server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const ACCOUNTS_A_COMMAND = 500
const KEYS = JSON.stringify({ k: [KEY] })

/** Grows chain 0 of a node on disk to this many accounts, and restarts the node. */
async function growNode(dataDir: string, accounts: number, lookups: number) {
  const server = await startServer({ dataDir, graph: 'singleton' })
  const api = `${server.url}${PREFIX}/chain/0/pact/api/v1`
  for (let from = 0; from < accounts; from += ACCOUNTS_A_COMMAND) {
    const create = `(coin.create-account (format "account-{}" [i]) (read-keyset "k"))`
    const code = `(length (map (lambda (i) ${create}) (enumerate ${from} ${Math.min(from + ACCOUNTS_A_COMMAND, accounts) - 1})))`
    const command = commandOn(0, code, { data: KEYS, gasLimit: 150_000 })
    await post(`${api}/send`, { cmds: [command] })
    await post(`${server.url}/make-blocks`, { 0: 1 })
    const found = (await post(`${api}/poll`, { requestKeys: [command.hash] })) as Record<string, { result: unknown }>
    if (!JSON.stringify(found[command.hash]?.result).includes('success')) {
      throw new Error(`contracts: accounts were not made: ${JSON.stringify(found)}`)
    }
  }
  await server.stop()
  const requests = Array.from({ length: lookups }, () => {
    return balanceRequest(`account-${Math.floor(Math.random() * accounts)}`)
  })
  let at = 0
  const next = () => requests[at++ % requests.length]
  return { server: await startServer({ dataDir, graph: 'singleton' }), next }
}
