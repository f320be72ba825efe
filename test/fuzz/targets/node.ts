/** Answers of a node: bodies of every kind, errors and update streams, through the calls of the client. */

import * as chainCalls from '../../../src/client/node/chain-calls.ts'
import * as commandCalls from '../../../src/client/node/command-calls.ts'
import { NotFound } from '../../../src/client/node/errors.ts'
import { EventFilter } from '../../../src/client/node/event-filter.ts'
import { openEventStream } from '../../../src/client/node/event-stream.ts'
import { networkCodeOf } from '../../../src/client/node/genesis-calls.ts'
import type { HttpAnswer, NodeHttp } from '../../../src/client/node/http.ts'
import * as miningCalls from '../../../src/client/node/mining-calls.ts'
import * as nodeCalls from '../../../src/client/node/node-calls.ts'
import * as payloadCalls from '../../../src/client/node/payload-calls.ts'
import { Requests } from '../../../src/client/node/requests.ts'
import { streamBlockNews } from '../../../src/client/node/stream-calls.ts'
import { HeaderVerifier } from '../../../src/client/node/verify.ts'
import { networkOfInfo } from '../../../src/client/node/verify-network.ts'
import { decodeHex, encodeBase64Url } from '../../../src/ground/base/bytes.ts'
import { stringifyJson } from '../../../src/ground/base/json.ts'
import { blockHash } from '../../../src/ground/chain/block-hash.ts'
import { paymentIn } from '../../../src/ground/chain/coinbase.ts'
import { decodeHeader, decodeWork, encodeHeader, encodeWork, type Header } from '../../../src/ground/chain/header.ts'
import { headerToJson } from '../../../src/ground/chain/header-json.ts'
import { development, mainnet01 } from '../../../src/ground/chain/network-data.ts'
import { encodeWorkResponse, workFromBytes } from '../../../src/ground/chain/work.ts'
import { BINARY, JSON_TYPE, OBJECT_JSON_TYPE, TEXT } from '../../../src/ground/schema/operation.ts'
import { operations } from '../../../src/ground/schema/operations.ts'
import { headers, payloads, proofs } from '../seeds.ts'
import { bytesOf, expect, jsonBytes, pieces, type Target, textTarget } from '../target.ts'

const URL = 'http://node.test'
const hash = 'A'.repeat(43)
const decoded = headers.map(decodeHeader)
const [first] = decoded
const key = encodeBase64Url(first.hash)
const objects = decoded.map((header) => JSON.parse(stringifyJson(headerToJson(header))))
const page = (items: readonly unknown[]) => jsonBytes({ limit: items.length, items, next: null })
const account = { account: 'k:ab', predicate: 'keys-all', publicKeys: ['ab'] }

const petersen = mainnet01.graphHistory.map(({ from, graph }) => [from, graph.adjacents.map((each, i) => [i, each])])
const chainIds = mainnet01.graphHistory[1].graph.adjacents.map((_, chain) => String(chain))
const info = {
  nodeVersion: 'mainnet01',
  nodeApiVersion: '0.0',
  nodeChains: chainIds,
  nodeNumberOfChains: chainIds.length,
  nodeGraphHistory: petersen,
  nodeBlockDelay: 30_000_000,
  nodePackageVersion: '3.0',
  nodeServiceDate: null,
}
const graphHistory = mainnet01.graphHistory

const result = {
  gas: 10,
  result: { status: 'success', data: { a: 1.5, b: [{ int: 1 }] } },
  reqKey: hash,
  logs: null,
  events: [{ name: 'TRANSFER', params: ['a', 'b', 1], module: { namespace: null, name: 'coin' }, moduleHash: 'h' }],
  metaData: { blockHeight: 3, blockTime: 1e15, blockHash: hash, prevBlockHash: hash },
  continuation: {
    ...{ pactId: 'p', step: 0, stepCount: 2, stepHasRollback: false, executed: null, yield: { data: {} } },
    continuation: { def: 'm.p', args: [] },
  },
  txId: 4,
}
const command = { cmd: '{}', hash, sigs: [] }
const onChain = { chain: 0, call: {} }

type Context = chainCalls.ClientContext

/** A node that answers every request with the same bytes. */
function answering(body: Uint8Array, type: string | undefined, status = 200, fromNode = true): Context {
  const headers = {
    ...(type !== undefined && { 'content-type': type }),
    ...(fromNode && { 'x-chainweb-node-version': '3.0' }),
    'x-server-timestamp': '1700000000',
  }
  const request = async (): Promise<HttpAnswer> => ({ url: URL, status, headers, receivedAtMs: 0, body })
  const requests = new Requests({ baseUrl: URL, request } as unknown as NodeHttp, '/chainweb/0.0/mainnet01')
  const network = networkOfInfo({ info: info as never, graphHistory })
  const networkCode = networkCodeOf(requests, 'mainnet01')
  return {
    requests,
    info: info as never,
    graphHistory,
    url: URL,
    verifiable: async () => network,
    networkCode,
    reportedForks: new Set(),
  }
}

/** A call, its valid answers, and their content type. */
function call(
  name: string,
  seeds: readonly Uint8Array[],
  run: (context: Context) => Promise<unknown>,
  type: string = JSON_TYPE,
): Target {
  return {
    name: `node answers: ${name}`,
    share: 0.4,
    open: () => ({ seeds, read: (bytes) => run(answering(bytes, type)) }),
  }
}

const texts = headers.map(encodeBase64Url)
const header = { ...decoded[0] }
const blockSeeds = [
  page(payloads.slice(0, 2).map((payload, i) => ({ header: objects[i], payloadWithOutputs: payload }))),
]

const calls: readonly Target[] = [
  call('info', [jsonBytes(info)], ({ requests }) => nodeCalls.fetchJudgedInfo(requests, {})),
  call(
    'work',
    headers.slice(0, 2).map((each) => encodeWorkResponse(workFromBytes(each.subarray(0, 286)))),
    (context) => miningCalls.requestWork(context, account, 0, {}),
    BINARY,
  ),
  call(
    'a header as bytes',
    headers,
    (context) => chainCalls.fetchOneHeader(context, header.chainId, key, { verify: true }),
    BINARY,
  ),
  call('a header as text', texts.map(jsonBytes), (context) =>
    chainCalls.fetchOneHeader(context, header.chainId, key, {}),
  ),
  call(
    'a header as object',
    objects.map(jsonBytes),
    (context) => chainCalls.fetchOneHeader(context, header.chainId, key, { encoding: 'object', verify: true }),
    OBJECT_JSON_TYPE,
  ),
  call('headers as text', [page(texts.slice(0, 3))], (context) =>
    chainCalls.listHeaders(context, header.chainId, { verify: true }).page(),
  ),
  call(
    'headers as objects',
    [page(objects.slice(0, 3))],
    (context) => chainCalls.listHeaders(context, header.chainId, { encoding: 'object' }).page(),
    OBJECT_JSON_TYPE,
  ),
  call('a branch of headers', [page(texts.slice(0, 2))], (context) =>
    chainCalls.listHeaders(context, header.chainId, { encoding: 'binary' }, { upper: [hash] }).page(),
  ),
  call('a branch of hashes', [page([hash, key])], (context) =>
    chainCalls.listHashes(context, 0, {}, { upper: [hash] }).page(),
  ),
  call('blocks', blockSeeds, (context) => chainCalls.listBlocks(context, header.chainId, { verify: true }).page()),
  call('a payload', payloads.map(jsonBytes), (context) =>
    payloadCalls.fetchPayload(context, 'outputs', {
      chain: 0,
      hash: String(payloads[0].payloadHash),
      options: { verify: true },
    }),
  ),
  call('payloads', [jsonBytes(payloads)], (context) =>
    payloadCalls.fetchPayloads(context, 'outputs', {
      chain: 0,
      keys: payloads.map(({ payloadHash }) => String(payloadHash)),
      options: { verify: true },
    }),
  ),
  call(
    'the cut',
    [jsonBytes({ hashes: { 0: { height: 1, hash } }, weight: hash, height: 1, origin: null })],
    ({ requests }) => requests.json(operations.cut),
  ),
  call('pending transactions', [jsonBytes({ hashes: [hash], highwaterMark: [1, 2] })], (context) =>
    nodeCalls.fetchPending(context, 0, {}),
  ),
  call('transactions', [jsonBytes([{ tag: 'Pending', contents: '{}' }]), jsonBytes([{ tag: 'Missing' }])], (context) =>
    nodeCalls.fetchMempoolEntries(context, 'mempoolLookup', { chain: 0, keys: [hash], call: {} }),
  ),
  call(
    'a local result',
    [jsonBytes(result), jsonBytes({ preflightResult: result, preflightWarnings: ['w'] })],
    (context) => commandCalls.evaluateLocally(context, command, onChain),
  ),
  call('results', [jsonBytes({ [hash]: result })], (context) => commandCalls.poll(context, [hash], onChain)),
  call('request keys', [jsonBytes({ requestKeys: [hash] })], (context) =>
    commandCalls.send(context, [command], onChain),
  ),
  call('a proof', [jsonBytes(proofs[0].slice(0, 200))], (context) =>
    commandCalls.fetchProof(context, { key: hash, targetChain: 1 }, onChain),
  ),
  call('the state of a backup', [bytesOf('backup-done')], (context) => nodeCalls.checkBackup(context, 'id', {}), TEXT),
]

/** The first bytes choose status and content type; the client reports an error whatever the body says. */
const errors: Target = {
  name: 'node answers: errors',
  open: () => ({
    seeds: [
      ...['\x00\x00{"reason":"key not found","key":"a"}', '\x01\x01Unauthorized Miner: no', '\x02\x02<html>no</html>'],
      ...['\x03\x00upper bound exceeded', '\x04\x03', '\x05\x01{}'],
    ].map(bytesOf),
    read: async (bytes) => {
      const status = [404, 403, 503, 400, 301, 500, 204, 406][(bytes[0] ?? 0) % 8]
      const type = [JSON_TYPE, TEXT, 'text/html', undefined][(bytes[1] ?? 0) % 4]
      const context = answering(bytes.subarray(2), type, status, (bytes[1] ?? 0) < 128)
      await told(() => miningCalls.requestWork(context, account, 0, {}))
      await told(() => chainCalls.listHashes(context, 0, {}, { upper: [hash] }).page())
      await told(() => nodeCalls.startBackup(context, false, {}))
      await miningCalls.isMiningDisabled(context, account, {})
    },
  }),
}

/** Errors of a node are printable and of bounded length. */
async function told(run: () => Promise<unknown>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    expect(error.message.length <= 2_000, 'a message of bounded length')
    expect(!/\p{Cc}/u.test(error.message), 'a printable message')
  }
}

const streams = [
  'event:New Cut\n\nevent:New Cut\n\n',
  ': a comment\r\nid: 1\r\nretry: 1000\r\nevent: New Cut\r\ndata: x\r\ndata: y\r\n\r\n',
  '\ufeffevent:Refreshed Block\revent:New Cut\r\rdata\n\n',
].map(bytesOf)
const update = { header: objects[0], txCount: 1, powHash: 'ab'.repeat(32), target: 'cd'.repeat(32) }
const blockEvents = [
  `event:BlockHeader\ndata:${JSON.stringify(update)}\n\n`,
  `event:BlockHeader\ndata:${JSON.stringify({ ...update, payloadWithOutputs: payloads[0] })}\n\n`,
].map(bytesOf)

const MAX_EVENT_BYTES = 4096
const streamHeaders = { 'content-type': 'text/event-stream', 'x-chainweb-node-version': '3.0' }

/** A stream that ends once; the client gets no second one. */
function streamHttp(bytes: Uint8Array, onEnd: () => void): NodeHttp {
  let isOver = false
  const stream = async () => {
    if (isOver) return new Promise(() => undefined)
    isOver = true
    const body = (async function* () {
      yield* pieces(bytes)
      setImmediate(onEnd)
    })()
    return { url: URL, status: 200, headers: streamHeaders, receivedAtMs: 0, body, cancel: () => setImmediate(onEnd) }
  }
  return { baseUrl: URL, stream, clock: stillClock } as unknown as NodeHttp
}

const filtered = (parts: readonly Uint8Array[]) => {
  const filter = new EventFilter({ retryMs: 0, maxEventBytes: MAX_EVENT_BYTES })
  return Buffer.concat(parts.map((part) => filter.push(part)))
}

/** A clock that stands still and runs no timers. */
const stillClock = { wallMs: () => 0, monotonicMs: () => 0, after: () => () => undefined }

/** Headers with correct hashes. Each may name earlier ones as its parent or as adjacent. */
function linked(bytes: Uint8Array): Header[] {
  const size = 318
  const made: Header[] = []
  for (let at = 0; at + size <= bytes.length && made.length < 6; at += size) {
    const fields = decodeWork(bytes.subarray(at, at + size - 32))
    const links = bytes[at + size - 1]
    const parent = made[links % 8]?.hash ?? fields.parent
    const adjacents = new Map(
      [...fields.adjacents].map(([chain, own], i) => [chain, made[(links >> i) % 8]?.hash ?? own]),
    )
    const whole = { ...fields, parent, adjacents }
    made.push({ ...whole, hash: blockHash(encodeWork(whole)) })
  }
  return made
}

/** A header of a chain that does not exist, one that names it as adjacent, and one that names it as parent. */
function foreignParent(): Uint8Array {
  const [own] = decoded
  const nowhere = 500
  const chains = [...own.adjacents].map(([chain, named], i) => [i === 2 ? nowhere : chain, named] as const)
  const made = [{ ...own, chainId: nowhere }, { ...own, adjacents: new Map(chains) }, own].map(encodeHeader)
  // The last byte says which earlier headers a header names (see `linked`).
  for (const [i, links] of [7, 3, 0].entries()) made[i][317] = links
  return Buffer.concat(made)
}

const transfer = (amount: string) =>
  `{"gas":0,"events":[{"name":"OTHER","params":["","k:me",9]},{"name":"TRANSFER","params":["","k:me",${amount}]}]}`

export const nodeTargets: readonly Target[] = [
  ...calls,
  errors,
  textTarget(
    'node answers: the output of a coinbase',
    ['2.304523', '1.15226150000000000001', '2', '{"decimal":"0.5"}', '{"int":3}'].map(transfer),
    (text) => {
      const amount = paymentIn(text)?.amount ?? null
      expect(amount === null || /^\d+(\.\d+)?$/.test(amount), 'a reward is a decimal number')
    },
    // paymentIn() returns null if it cannot read a reward, and never throws.
    { allows: () => false },
  ),
  {
    name: 'event filter',
    share: 10,
    open: () => ({
      seeds: [...streams, ...blockEvents],
      read: (bytes) => {
        const whole = filtered([bytes])
        expect(whole.equals(filtered(pieces(bytes))), 'the same events however the bytes come')
        expect(whole.at(-1) === 10, 'whole lines')
      },
    }),
  },
  {
    name: 'update stream of work',
    share: 0.2,
    open: () => ({
      seeds: streams,
      read: (bytes) =>
        new Promise<void>((resolve) => {
          const end = () => {
            stream.close()
            resolve()
          }
          const stream = openEventStream({
            http: streamHttp(bytes, end),
            path: '/updates',
            events: ['New Cut', 'Refreshed Block'],
            onEvent: () => undefined,
            maxEventBytes: MAX_EVENT_BYTES,
            clock: stillClock,
          })
        }),
    }),
  },
  {
    name: 'update stream of blocks',
    share: 0.2,
    open: () => ({
      seeds: blockEvents,
      read: async (bytes) => {
        const over = new AbortController()
        const context = { ...answering(new Uint8Array(), JSON_TYPE, 404), http: streamHttp(bytes, () => over.abort()) }
        const news = streamBlockNews(context, 'headerUpdates', { signal: over.signal, verify: { checkPow: false } })
        for await (const each of news) expect(each.type === 'block' || each.type === 'gap', 'news')
      },
    }),
  },
  {
    name: 'headers to verify',
    share: 0.3,
    open: () => {
      const chain = headers.slice(0, 4)
      const genesis = decodeHex(Buffer.from(headers.at(-1) ?? new Uint8Array()).toString('hex'))
      return {
        seeds: [Buffer.concat(chain), Buffer.concat([genesis, ...chain.slice(0, 2)]), foreignParent()],
        read: async (bytes) => {
          const batch = linked(bytes)
          const byHash = new Map(batch.map((each) => [encodeBase64Url(each.hash), each]))
          const fetchHeader = async (chain: number, wanted: string) => {
            const found = byHash.get(wanted)
            if (found?.chainId === chain) return found
            throw new NotFound({ url: URL, status: 404, excerpt: '' }, wanted, 'none')
          }
          const fetchRange = async function* () {
            yield* batch
          }
          for (const network of [mainnet01, development]) {
            for (const isKnown of [true, false]) {
              const options = { checkPow: false, checkTargets: true, unknownForks: () => undefined }
              const verifier = new HeaderVerifier(
                { network, isKnown },
                options,
                { fetchHeader, fetchRange },
                { url: URL, operation: 'x' },
                new Set(),
              )
              // The headers as a node would send them, one after the other.
              for (const each of batch) await told(() => verifier.verify([each], {}))
              expect(equal(encodeHeader(batch[0] ?? first), batch[0] ?? first), 'headers stay as they are')
            }
          }
        },
      }
    },
  },
]

const equal = (bytes: Uint8Array, header: Header) => Buffer.compare(bytes, encodeHeader(header)) === 0
