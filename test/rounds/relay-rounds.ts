/**
 * Relays, leaders, the NATS server and the node of a fleet are killed repeatedly in any order, while rigs submit shares
 * all the time. At the end the stream has every accepted share once, and every solution has a final verdict that agrees
 * with the chains. Every block is credited once.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { FleetShareReader } from '../../src/mining/accounts/fleet-reader.ts'
import type { WorkerTable } from '../../src/mining/accounts/rig-rows.ts'
import type { ShareEntry, ShareReader } from '../../src/mining/accounts/share-store.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import type { BlockRecord } from '../../src/mining/journal/record.ts'
import { findPosition } from '../../src/mining/source/node/mining-node.ts'
import { assess } from '../../src/pool/payouts/assess.ts'
import { PayoutLedger } from '../../src/pool/payouts/ledger.ts'
import type { PayoutReport } from '../../src/pool/payouts/report.ts'
import { run, stopAll } from '../cli/run.ts'
import { readRecords } from '../journal/records.ts'
import { randomFrom } from '../random.ts'
import { until } from '../wait.ts'
import { type Part, POOL, RelayField, relays } from './relay-field.ts'

const parts = ['relay', 'relay', 'leader', 'standby', 'nats', 'node'] as const
const DIFFICULTY = 20_000
const ENDS = ['credited', 'stale', 'orphaned']
/** No round begins after this time. */
const MAX_MS = Number(process.env.TEST_MINUTES ?? 20) * 60_000

export interface KillOptions {
  readonly rounds: number
  readonly seed: number
}

/** The result of one run of the rounds. */
interface Tally {
  readonly rounds: number
  readonly kills: ReadonlyMap<string, number>
}

export async function killRelays(options: KillOptions, { annotate }: TestContext): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-relays-'))
  const field = await RelayField.start(folder)
  try {
    await field.works('at the start')
    const { rounds, kills } = await strikeAll(field, options)
    await field.works('at the end')
    await field.stopRigs()
    const client = await NodeClient.connect({ url: field.node })
    await settle(field, client)
    const shares = await streamOf(field)
    const tell = async (line: string) => {
      await annotate(line)
      console.log(line)
    }
    await tell(`${rounds} rounds, seed ${options.seed}: ${[...kills].map(([name, n]) => `${n} ${name}`).join(', ')}`)
    await tell(await expectKept(field, shares))
    await tell(await accountsOf(field, shares))
    await tell(await expectSettled(field, client, shares))
    await tell(await expectCreditedOnce(field, client, shares))
    await client.close()
  } finally {
    await stopAll()
    await field.nats.kill()
    rmSync(folder, { recursive: true })
  }
}

async function strikeAll(field: RelayField, { rounds, seed }: KillOptions): Promise<Tally> {
  const random = randomFrom(seed)
  const kills = new Map<string, number>()
  const startMs = systemClock.monotonicMs()
  for (let round = 0; round < rounds; round++) {
    if (systemClock.monotonicMs() - startMs > MAX_MS) return { rounds: round, kills }
    // The test exercises random moments and durations.
    await sleep(500 * random())
    const names = await strike(field, random)
    const what = `round ${round + 1}: ${names.join(', ')}`
    await field.works(what)
    // The difficulty falls while everything is down, until every share would be a block.
    await post(field, 'difficulty', { difficulty: DIFFICULTY })
    const before = field.blocks
    if (random() < 0.3) await field.until(() => field.blocks > before, `${what}: a block is accepted`)
    for (const name of names) kills.set(name, (kills.get(name) ?? 0) + 1)
    const { accepted } = field.answers
    console.log(`${what}; ${accepted.length} shares, ${field.blocks} blocks`)
  }
  return { rounds, kills }
}

/** Sends a command to the node, repeatedly while it restarts. */
async function post(field: RelayField, order: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const options = { method: 'POST', headers, body: JSON.stringify(body) }
  const isDone = () =>
    fetch(`${field.node}/devnet/${order}`, options).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(isDone)
}

const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)

/** Kills one to three processes, and restarts them in another order. @returns the names of the killed */
async function strike(field: RelayField, random: () => number): Promise<string[]> {
  await field.until(() => field.leading() !== null, 'somebody leads')
  const leader = field.leading() ?? 'a'
  const relay = shuffled(relays, random)
  const partOf = (name: (typeof parts)[number]): Part => {
    if (name === 'relay') return relay.pop() ?? 'hall-1'
    if (name === 'leader') return leader
    return name === 'standby' ? (leader === 'a' ? 'b' : 'a') : name
  }
  const names = shuffled(parts, random).slice(0, 1 + Math.floor(3 * random()))
  const killed = names.map(partOf)
  for (const part of killed) {
    await field.kill(part)
    await sleep(200 * random() ** 2)
  }
  for (const part of shuffled(killed, random)) {
    await sleep(800 * random() ** 2)
    await field.restart(part)
  }
  return names
}

/** Waits until all pending solutions have their verdict, and buries all blocks. */
async function settle(field: RelayField, client: NodeClient): Promise<void> {
  const one = Object.fromEntries(client.info.nodeChains.map((chain) => [chain, 1]))
  await until(async () => (await recordsOf(field)).every(({ state }) => ENDS.includes(state)))
  for (let i = 0; i < 3; i++) await post(field, 'make-blocks', one)
  await until(async () => (await recordsOf(field)).every(({ state }) => ENDS.includes(state)))
  for (const relay of relays) await field.end('SIGTERM', relay)
}

async function recordsOf(field: RelayField): Promise<BlockRecord[]> {
  const journals = await Promise.all(relays.map((relay) => readRecords(field.state(relay))))
  return journals.flatMap(({ records }) => [...records.values()])
}

async function readerOf(field: RelayField): Promise<ShareReader> {
  const server = { addresses: [readNatsAddress(field.nats.url)], trust: {}, fleet: 'main', agent: 'test' }
  const onWarning = (message: string) => expect.fail(message)
  const options = { ...server, clock: systemClock, random: Math.random, onWarning }
  return await FleetShareReader.open(options, new AbortController().signal)
}

async function streamOf(field: RelayField): Promise<ShareEntry[]> {
  const reader = await readerOf(field)
  const shares: ShareEntry[] = []
  for await (const share of reader.shares()) shares.push(share)
  await reader.close()
  return shares
}

/** The stream has every accepted share, and none twice; no share was accepted twice. */
async function expectKept(field: RelayField, shares: readonly ShareEntry[]): Promise<string> {
  const { accepted, refused, unanswered } = field.answers
  const kept = new Set(shares.map(({ id }) => id))
  const answered = new Set(accepted.map(({ id }) => id))
  const lost = [...answered].filter((id) => !kept.has(id))
  expect(lost, 'shares that were answered as accepted, and are not in the stream').toEqual([])
  expect(kept.size, 'each share is in the stream once').toBe(shares.length)
  expect(answered.size, 'each share is accepted once').toBe(accepted.length)
  const reasons = [...refused].map(([reason, n]) => `${n} ${reason}`).join(', ')
  const twice = shares.length - kept.size + accepted.length - answered.size
  const counts = `${answered.size} answered, ${kept.size} kept, ${twice} twice, ${lost.length} lost`
  return `shares: ${counts}, ${unanswered} without an answer, refused: ${reasons || 'none'}`
}

/** A restarted relay has the accounts of its own rigs, as read from the stream. */
async function accountsOf(field: RelayField, shares: readonly ShareEntry[]): Promise<string> {
  const [relay] = relays
  const [, url] = await field.start(relay, '127.0.0.1:0').sees(/dashboard: (http:\/\/[^\s"\\]+?)\/?["\s\\]/)
  const { rigs } = (await (await fetch(`${url}/api/rigs?limit=65536`)).json()) as WorkerTable
  const own = new Map<string, { accepted: number; blocks: number }>()
  for (const { worker, refusedAs, block } of shares) {
    if (!worker.startsWith(relay)) continue
    const { accepted, blocks } = own.get(worker) ?? { accepted: 0, blocks: 0 }
    // The share of a block that was refused counts as a block only.
    const isAccepted = refusedAs === undefined
    own.set(worker, { accepted: accepted + Number(isAccepted), blocks: blocks + Number(block !== null) })
  }
  const counted = rigs.flatMap(({ worker, accepted, blocks }) =>
    accepted + blocks > 0 ? [[worker, { accepted, blocks }]] : [],
  )
  expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(own))
  await field.end('SIGTERM', relay)
  const refused = shares.filter(({ refusedAs }) => refusedAs !== undefined).length
  return `accounts of ${relay} after its restart: ${own.size} workers as in the stream; ${refused} refused blocks`
}

async function chainsOf(client: NodeClient): Promise<Set<string>> {
  const blocks = new Set<string>()
  for (const [chain, { hash }] of Object.entries((await client.cut()).hashes)) {
    for await (const header of client.headerBranch(Number(chain), { upper: [hash] }, { minheight: 1 })) {
      const block = encodeBase64Url(header.hash)
      expect(blocks.has(block), `${block} is in the chains once`).toBe(false)
      blocks.add(block)
    }
  }
  return blocks
}

async function expectSettled(field: RelayField, client: NodeClient, shares: readonly ShareEntry[]): Promise<string> {
  const blocks = await chainsOf(client)
  const records = await recordsOf(field)
  const known = new Set(records.map(({ hash }) => hash))
  const answered = new Set(field.answers.accepted.map(({ id }) => id))
  const found = shares.filter(({ block }) => block !== null)
  // If several solutions belong to the same work, a relay submits the first.
  const placeOfBlock = ({ chain, height }: { readonly chain: number; readonly height: number }) => `${chain} ${height}`
  const places = new Set(records.map(placeOfBlock))
  const unknown = found.filter(({ block }) => !known.has(block ?? ''))
  const lost = unknown.filter((share) => answered.has(share.id) && !places.has(placeOfBlock(share)))
  expect(lost, 'blocks whose share was answered as accepted, and that no journal knows').toEqual([])
  expect(
    unknown.filter(({ block }) => blocks.has(block ?? '')),
    'blocks of the chains that no journal knows',
  ).toEqual([])
  const wrong = records.filter(({ hash, state }) => blocks.has(hash) !== (state === 'credited'))
  expect(wrong, 'verdicts that the chains contradict').toEqual([])
  const credited = records.filter(({ state }) => state === 'credited')
  const inStream = new Set(found.map(({ block }) => block))
  const unshared = credited.filter(({ hash }) => !inStream.has(hash)).map(({ hash }) => hash)
  expect(unshared, 'blocks without a share, for which nobody would be paid').toEqual([])
  const states = new Map<string, number>()
  for (const { state } of records) states.set(state, (states.get(state) ?? 0) + 1)
  const told = [...states].map(([state, n]) => `${n} ${state}`).join(', ')
  return `blocks: ${found.length} shares that are blocks, solutions: ${told}; ${lost.length} lost`
}

/** Payouts credit each block of the chains once, also on a repeated run. */
async function expectCreditedOnce(
  field: RelayField,
  client: NodeClient,
  shares: readonly ShareEntry[],
): Promise<string> {
  const blocks = await chainsOf(client)
  const own = [...new Set(shares.flatMap(({ block }) => block ?? []))].filter((block) => blocks.has(block))
  const reader = await readerOf(field)
  const ledger = new PayoutLedger()
  const scheme = { scheme: 'pplns', window: { text: '2.0', value: { numerator: 2n, denominator: 1n } } } as const
  const fee = { text: '0', value: { numerator: 0n, denominator: 1n } }
  const rules = { account: `k:${POOL}`, network: client.info.nodeVersion, ...scheme, fee, confirmations: 2 }
  const { signal } = new AbortController()
  const node = {
    client,
    network: client.network.network,
    placeOf: (block: Parameters<typeof findPosition>[1]) => findPosition(client, block, { signal }),
  }
  const credits = async () => {
    const at = new Date(systemClock.wallMs()).toISOString()
    const { lines } = await assess({ ledger, reader, node, rules, signal, at })
    ledger.add(...lines)
    return lines.flatMap((line) => (line.type === 'credit' ? [line.block] : []))
  }
  const first = await credits()
  expect(first.toSorted()).toEqual(own.toSorted())
  expect(await credits(), 'blocks that are credited again').toEqual([])
  await reader.close()
  const where = ['--fleet', field.nats.url, '--node', field.node, '--state', field.state('nats')]
  const { code, out, err } = await run(['payouts', ...where, '--public-key', POOL, '--confirmations', '2', '--json'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const report = JSON.parse(out) as PayoutReport
  const credited = report.blocks.filter(({ state }) => state === 'credited').map(({ block }) => block)
  expect(credited.toSorted()).toEqual(own.toSorted())
  return `payouts: ${first.length} blocks credited once each, of ${blocks.size} in the chains`
}
