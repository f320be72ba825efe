/**
 * The embedded node under load from another process, and the client's decoding of pages. Fails if an answer is wrong.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codecOf } from '../src/client/node/header-encoding.ts'
import { type HeaderObject, NodeClient } from '../src/client/node/public.ts'
import { readJson } from '../src/client/node/requests.ts'
import { decodeHeader } from '../src/ground/chain/header.ts'
import { minerDataJson } from '../src/ground/chain/payload.ts'
import { decodeWorkResponse } from '../src/ground/chain/work.ts'
import { operations } from '../src/ground/schema/operations.ts'
import { answersPerSecond, requestBytes } from './load.ts'
import { percentile, type Row } from './report.ts'
import { type Server, startServer } from './server.ts'
import { type Effort, MAX_WAIT_MS, pause } from './suite.ts'

const SUITE = 'node'
const PREFIX = '/chainweb/0.0/development'
const OBJECTS = 'application/json;blockheader-encoding=object'
const CHAINS = 20
const CONNECTIONS = 8
const MAX_BLOCKS_A_CALL = 1000
/** Quiet time after which no further event is expected. */
const QUIET_MS = 300
const KEY = 'ab'.repeat(32)
const account = { account: `k:${KEY}`, predicate: 'keys-all', publicKeys: [KEY] }

interface Size {
  /** Heights of a network in memory, at least one page. */
  readonly heights: number
  readonly pageItems: number
  readonly pagesBefore: number
  readonly streams: number
  readonly headersOnDisk: number
}
const FULL: Size = { heights: 1000, pageItems: 360, pagesBefore: 50, streams: 2000, headersOnDisk: 100_000 }
const QUICK: Size = { heights: 20, pageItems: 20, pagesBefore: 0, streams: 10, headersOnDisk: 100 }

export async function node(effort: Effort): Promise<Row[]> {
  const size = effort.isQuick ? QUICK : FULL
  const folder = mkdtempSync(join(tmpdir(), 'newcut-bench-node-'))
  try {
    return [
      ...(await inMemory(effort, size)),
      ...(await newCuts(effort, size.streams)),
      ...(await onDisk(effort, join(folder, 'data'), size.headersOnDisk)),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const row = (name: string, unit: Row['unit'], samples: number[], note?: string): Row => {
  return { suite: SUITE, name, unit, samples, ...(note !== undefined && { note }) }
}

/** Growth, memory, and every kind of request on a network in memory. */
async function inMemory({ sampleMs, rounds }: Effort, size: Size): Promise<Row[]> {
  const { heights, pageItems } = size
  const server = await startServer({})
  try {
    const before = await server.memoryBytes()
    const { blocksPerSecond } = await grow(server, heights * CHAINS)
    const perHeader = ((await server.memoryBytes()) - before) / (heights * CHAINS)
    const requests = {
      [`header pages of ${pageItems} objects`]: { request: headerPage(pageItems), check: pageCheck(pageItems) },
      'single headers': { request: await singleHeader(server), check: isHeader },
      'work requests': { request: workRequest(), check: isWork },
    }
    const rows: Row[] = [row('blocks without proof of work', '1/s', blocksPerSecond)]
    // With few headers, other allocations dominate.
    if (heights >= 1000) rows.push(row('memory per header with payload', 'B', [perHeader]))
    for (const [name, each] of Object.entries(requests)) {
      const samples: number[] = []
      const load = { port: server.port, connections: CONNECTIONS, durationMs: sampleMs, ...each }
      for (let round = -1; round < rounds; round++) {
        const rate = await answersPerSecond(load)
        if (round >= 0) samples.push(rate)
      }
      rows.push(row(name, '1/s', samples))
    }
    return [...rows, ...(await pageDecoding(server, rounds, size))]
  } finally {
    await server.stop()
  }
}

function headerPage(items: number): Uint8Array {
  return requestBytes('GET', `${PREFIX}/chain/0/header?limit=${items}`, { accept: OBJECTS })
}

async function singleHeader({ url }: Server): Promise<Uint8Array> {
  const { hashes } = (await (await fetch(`${url}${PREFIX}/cut`)).json()) as { hashes: Record<string, { hash: string }> }
  return requestBytes('GET', `${PREFIX}/chain/0/header/${hashes[0].hash}`, { accept: 'application/octet-stream' })
}

function workRequest(): Uint8Array {
  const headers = { 'content-type': 'application/json', accept: 'application/octet-stream' }
  return requestBytes('GET', `${PREFIX}/mining/work`, headers, minerDataJson(account))
}

function pageCheck(expected: number): (body: Buffer) => void {
  return (body) => {
    const { items } = JSON.parse(body.toString()) as { items: { height: number; hash: string }[] }
    if (items.length !== expected || items.some(({ height }, i) => height !== i)) throw new Error('node: a wrong page')
  }
}

function isHeader(body: Buffer): void {
  if (decodeHeader(body).chainId !== 0) throw new Error('node: a wrong header')
}

function isWork(body: Buffer): void {
  decodeWorkResponse(body)
}

/** Decodes a page as `headers(0, { encoding: 'object' })` does, then to core headers. */
async function pageDecoding({ url }: Server, rounds: number, size: Size): Promise<Row[]> {
  const { pageItems, pagesBefore } = size
  const client = await NodeClient.connect({ url })
  const path = `${PREFIX}/chain/0/header?limit=${pageItems}`
  const answer = await client.http.request({ path, accept: OBJECTS }).finally(() => client.close())
  const page = () => readJson(operations.headers, answer, OBJECTS) as { items: HeaderObject[] }
  const [object, decoded] = [codecOf('object'), codecOf('decoded')]
  const tasks = {
    [`client: page of ${pageItems} objects`]: () =>
      page().items.map((item) => object.placeOf(object.fromObject(item, undefined)).chain),
    [`client: page of ${pageItems} objects to headers`]: () =>
      page().items.map((item) => decoded.fromObject(item, undefined).chainId),
  }
  return Object.entries(tasks).map(([name, task]) => {
    const samples: number[] = []
    for (let round = -pagesBefore; round < 5 * rounds; round++) {
      const startMs = performance.now()
      const chains = task()
      if (round >= 0) samples.push(performance.now() - startMs)
      if (chains.length !== pageItems || chains.some((chain) => chain !== 0)) throw new Error('node: a wrong page')
    }
    return row(name, 'ms', samples)
  })
}

/** Time from block submission until its New Cut has reached every open stream: p50 and p99 per round. */
async function newCuts({ rounds }: Effort, streams: number): Promise<Row[]> {
  const server = await startServer({ updateStreamLimit: streams })
  const sockets: Socket[] = []
  const client = await NodeClient.connect({ url: server.url })
  try {
    let heard: () => void = () => undefined
    const request = requestBytes('GET', `${PREFIX}/mining/updates`, { accept: 'text/event-stream' }, '\0\0\0\0')
    for (let i = 0; i < streams; i++) {
      const socket = connect(server.port, '127.0.0.1')
      sockets.push(socket)
      socket.write(request)
      await once(socket, 'data')
      socket.on('data', () => heard())
    }
    const p50: number[] = []
    const p99: number[] = []
    for (let round = -2; round < rounds; round++) {
      const work = await workOnChainZero(client)
      // Skip the event for chain 0 becoming minable again, which is not measured.
      await pause(QUIET_MS)
      const delaysMs: number[] = []
      const startMs = performance.now()
      const allHeard = new Promise<void>((resolve) => {
        heard = () => {
          if (delaysMs.push(performance.now() - startMs) === streams) resolve()
        }
      })
      await client.solved(work)
      await Promise.race([allHeard, pause(MAX_WAIT_MS)])
      if (delaysMs.length < streams) throw new Error(`node: ${delaysMs.length} of ${streams} streams heard of a cut`)
      if (round < 0) continue
      p50.push(percentile(delaysMs, 0.5))
      p99.push(percentile(delaysMs, 0.99))
    }
    return [row(`New Cut at ${streams} streams, p50`, 'ms', p50), row(`New Cut at ${streams} streams, p99`, 'ms', p99)]
  } finally {
    for (const socket of sockets) socket.destroy()
    await client.close()
    await server.stop()
  }
}

/** Gets work for chain 0. While other chains block it, extends those. */
async function workOnChainZero(client: NodeClient): Promise<Uint8Array> {
  for (;;) {
    const { work } = await client.work(account, 0)
    if (work.fields.chainId === 0) return work.bytes
    await client.solved(work.bytes)
    await pause(5)
  }
}

/** Reopens a network on disk. */
async function onDisk({ rounds }: Effort, dataDir: string, headers: number): Promise<Row[]> {
  const first = await startServer({ dataDir })
  const { blocksPerSecond } = await grow(first, headers)
  await first.stop()
  const loadMs: number[] = []
  const bytes: number[] = []
  const empty = await startServer({})
  const emptyBytes = await empty.memoryBytes()
  await empty.stop()
  for (let round = 0; round < Math.ceil(rounds / 3); round++) {
    const server = await startServer({ dataDir })
    loadMs.push(server.startMs)
    bytes.push(((await server.memoryBytes()) - emptyBytes) / headers)
    await server.stop()
  }
  return [
    row('blocks without proof of work, on disk', '1/s', blocksPerSecond),
    row(`load ${headers} headers from disk`, 'ms', loadMs),
    ...(headers >= 100_000 ? [row('memory per header, payloads on disk', 'B', bytes)] : []),
  ]
}

/** Adds about this many blocks, evenly over all chains. */
async function grow({ url }: Server, blocks: number): Promise<{ blocksPerSecond: number[] }> {
  const blocksPerSecond: number[] = []
  for (let made = 0; made < blocks; ) {
    const each = Math.ceil(Math.min(MAX_BLOCKS_A_CALL, blocks - made) / CHAINS)
    const counts = Object.fromEntries(Array.from({ length: CHAINS }, (_, chain) => [chain, each]))
    const startMs = performance.now()
    const answer = await fetch(`${url}/make-blocks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(counts),
    })
    if (answer.status !== 200) throw new Error(`node: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
    made += each * CHAINS
    blocksPerSecond.push((each * CHAINS * 1000) / (performance.now() - startMs))
  }
  return { blocksPerSecond }
}
