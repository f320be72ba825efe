/**
 * A miner and its node, both real processes, are killed and stopped at random moments, again and again. In the end every
 * block of the node is in the journal of the miner, and every solution in the journal has come to an end that agrees with
 * the chains of the node: none is lost. NEWCUT_TEST_ROUNDS says how many rounds.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { encodeBase64Url } from '../../src/core/bytes.ts'
import { readJournal } from '../../src/journal/journal.ts'
import { isUnfinished } from '../../src/journal/record.ts'
import { NodeClient } from '../../src/node/client.ts'
import { type Running, start, stopAll } from '../cli/run.ts'
import { randomFrom } from '../random.ts'

afterEach(stopAll)

const ROUNDS = Number(process.env.NEWCUT_TEST_ROUNDS ?? 12)
const MS_A_ROUND = 20_000
const CONFIRMATIONS = 3
const kinds = ['kill the miner', 'stop the miner', 'kill the node', 'stop the node', 'kill both'] as const

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

class Field {
  readonly url: string
  readonly state: string
  readonly #data: string
  readonly #port: number
  node: Running
  miner: Running

  constructor(folder: string, port: number) {
    this.#port = port
    this.url = `http://127.0.0.1:${port}`
    this.state = join(folder, 'state')
    this.#data = join(folder, 'data')
    this.node = this.startNode()
    this.miner = this.startMiner()
  }

  startNode(): Running {
    const network = ['--graph', 'petersen', '--block-delay', '1s', '--difficulty', '20k', '--mine-page', 'off']
    this.node = start(['devnet', '--port', String(this.#port), '--data', this.#data, ...network])
    return this.node
  }

  startMiner(): Running {
    const quiet = ['--http', 'off', '--gpu', 'none', '--threads', '1', '--log', 'json']
    const kept = ['--state', this.state, '--confirmations', String(CONFIRMATIONS)]
    this.miner = start(['mine', '--node', this.url, ...quiet, ...kept])
    return this.miner
  }

  /** A block of this run of the miner is accepted. */
  async mines(): Promise<void> {
    const before = this.miner.out().length
    while (!this.miner.out().slice(before).includes('"verdict":"accepted"')) await sleep(20)
  }
}

async function kill({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

async function round(field: Field, kind: (typeof kinds)[number], random: () => number): Promise<void> {
  switch (kind) {
    case 'kill the miner':
      await kill(field.miner)
      await sleep(300 * random())
      field.startMiner()
      return
    case 'kill the node':
      await kill(field.node)
      await sleep(1500 * random())
      field.startNode()
      return
    case 'kill both':
      await Promise.all([kill(field.node), kill(field.miner)])
      field.startMiner()
      await sleep(1000 * random())
      field.startNode()
      return
    default: {
      const { child } = kind === 'stop the miner' ? field.miner : field.node
      child.kill('SIGSTOP')
      await sleep(200 + 2500 * random())
      child.kill('SIGCONT')
    }
  }
}

/** Hashes of all blocks on the branches of the heads, without those of genesis. */
async function blocksOf(client: NodeClient): Promise<Set<string>> {
  const hashes = new Set<string>()
  for (const [chain, { hash }] of Object.entries((await client.cut()).hashes)) {
    for await (const header of client.headerBranch(Number(chain), { upper: [hash] }, { minheight: 1 })) {
      hashes.add(encodeBase64Url(header.hash))
    }
  }
  return hashes
}

it(`${ROUNDS} kills and stops of miner and node lose no solution`, {
  timeout: 60_000 + ROUNDS * MS_A_ROUND,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-rounds-'))
  const field = new Field(folder, await freePort())
  const random = randomFrom(Math.floor(2 ** 31 * Math.random()))
  try {
    await field.mines()
    let nodeKills = 0
    for (let i = 0; i < ROUNDS; i++) {
      const kind = kinds[i % kinds.length]
      if (kind === 'kill the node' || kind === 'kill both') nodeKills++
      await sleep(700 * random())
      await round(field, kind, random)
      // It mines again, each second time before the next blow.
      if (random() < 0.5) await field.mines()
    }
    await field.mines()
    await expectSettled(field, nodeKills)
  } finally {
    for (const { child } of [field.node, field.miner]) child.kill('SIGKILL')
    await Promise.all([field.node.ended, field.miner.ended])
    rmSync(folder, { recursive: true })
  }
})

async function expectSettled(field: Field, nodeKills: number): Promise<void> {
  // The last blocks need others above them to be settled: mining ends, and the newest stay as they are.
  field.miner.child.kill('SIGTERM')
  await field.miner.ended
  const client = await NodeClient.connect({ url: field.url })
  const blocks = await blocksOf(client)
  await client.close()
  const { records, damaged } = await readJournal(field.state)
  expect(
    [...blocks].filter((hash) => !records.has(hash)),
    'blocks that the journal does not know',
  ).toEqual([])
  const all = [...records.values()]
  const settled = all.filter((record) => !isUnfinished(record, CONFIRMATIONS))
  const wrong = settled.filter(({ hash, state }) => blocks.has(hash) !== (state === 'confirmed'))
  expect(wrong, 'verdicts that the chains contradict').toEqual([])
  expect(
    all.filter(({ state }) => state === 'lost'),
    'lost solutions',
  ).toEqual([])
  // A node that was killed has forgotten the payloads of its work.
  const refused = all.filter(({ state }) => state === 'rejected')
  expect(refused.filter(({ reason }) => reason !== 'no-payload')).toEqual([])
  expect(refused.length).toBeLessThanOrEqual(10 * nodeKills)
  // What is not settled is of the last moments: nothing is left behind.
  const open = all.filter((record) => isUnfinished(record, CONFIRMATIONS))
  const newest = Math.max(...all.map(({ foundAt }) => Date.parse(foundAt)))
  expect(open.filter(({ foundAt }) => newest - Date.parse(foundAt) > 60_000)).toEqual([])
  expect(damaged).toBe(0)
  const counts = new Map<string, number>()
  for (const { state, reason } of all) {
    const key = reason === null ? state : `${state} (${reason})`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const states = [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
  console.info(`${ROUNDS} rounds, ${nodeKills} of them kills of the node; ${blocks.size} blocks; solutions: ${states}`)
}
