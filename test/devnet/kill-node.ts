/** A real node process is killed under load; after a restart it must have every block that it acknowledged. */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it, type TestContext } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { type DataDirectory, openDataDirectory } from '../../src/devnet/data/directory.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import type { ObjectValue } from '../../src/language/contracts/values/value.ts'
import { type Running, run, start, startScript, stopAll } from '../cli/run.ts'
import { randomFrom } from '../random.ts'
import { until } from '../wait.ts'
import { merkleBlockHash } from './checker.ts'
import { jsonOf, PREFIX } from './common.ts'
import { temporaryDirectory } from './grow.ts'
import { chainOf, getWork, heightOf, submit } from './miner.ts'
import { Peer } from './request.ts'

const COINS = 'table:coin.coin-table'
const MINERS = 4
/** Longest time under load before a kill, in ms. A run may also be killed while it is still loading. */
const LOAD_MS = 250

/** A block that the node has acknowledged. */
interface Acknowledged {
  readonly chain: number
  readonly height: number
  readonly hash: string
}

/** Mines until the node is gone. It submits one block for each chain and height, so the node adds all of them. */
async function mine(url: string, taken: Set<string>, acknowledged: Acknowledged[]): Promise<void> {
  const peer = new Peer(url)
  try {
    for (;;) {
      const work = await getWork(peer)
      const [chain, height] = [chainOf(work), heightOf(work)]
      if (taken.has(`${chain} ${height}`)) continue
      taken.add(`${chain} ${height}`)
      const { status } = await submit(peer, work)
      expect(status).toBe(200)
      acknowledged.push({ chain, height, hash: merkleBlockHash(work) })
    }
  } catch (error) {
    // The connection broke because the node was killed.
    if ((error as NodeJS.ErrnoException).code === undefined && !/socket hang up|aborted/.test(`${error}`)) throw error
  } finally {
    peer.close()
  }
}

/** Hashes of the headers of a chain, starting at this height. The last 32 bytes of a header are its hash. */
async function hashesFrom(peer: Peer, chain: number, height: number): Promise<Set<string>> {
  const hashes = new Set<string>()
  let next = ''
  for (;;) {
    const page = jsonOf(await peer.get(`${PREFIX}/chain/${chain}/header?minheight=${height}${next}`))
    for (const header of page.items as string[]) {
      hashes.add(Buffer.from(header, 'base64url').subarray(-32).toString('base64url'))
    }
    if (page.next === null || page.next.startsWith('exclusive:')) return hashes
    next = `&next=${page.next}`
  }
}

/** Every acknowledged block exists, and no chain is lower than its acknowledged blocks. */
async function expectAcknowledged(url: string, acknowledged: readonly Acknowledged[]): Promise<void> {
  const peer = new Peer(url)
  try {
    const heads = jsonOf(await peer.get(`${PREFIX}/cut`)).hashes
    for (const chain of new Set(acknowledged.map((block) => block.chain))) {
      const ofChain = acknowledged.filter((block) => block.chain === chain)
      const heights = ofChain.map(({ height }) => height)
      const hashes = await hashesFrom(peer, chain, Math.min(...heights))
      expect(ofChain.filter(({ hash }) => !hashes.has(hash))).toEqual([])
      expect(heads[chain].height).toBeGreaterThanOrEqual(Math.max(...heights))
    }
  } finally {
    peer.close()
  }
}

async function killed(node: Running): Promise<void> {
  node.child.kill('SIGKILL')
  const { code, signal, err } = await node.ended
  // The signal ended the process, which had not exited by itself.
  expect({ code, signal, err }).toEqual({ code: null, signal: 'SIGKILL', err: '' })
}

export interface Kills {
  /** Kills of a node that miners use. */
  readonly kills: number
  /** Kills of a node that reorganises its chains. */
  readonly reorganisations: number
  /** Reorganisations before each of these kills, at least. */
  readonly steps: number
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

/** Declares two tests, one for each kind of kill. */
export function testKilledNode({ kills, reorganisations, steps }: Kills): void {
  afterEach(stopAll)
  it(`a node killed ${times(kills)} keeps every block it acknowledged`, (context) => killUnderLoad(kills, context))
  it(`a node killed ${times(reorganisations)} during transfers and reorganisations keeps them, the orphans and all balances`, () =>
    killReorganising(reorganisations, steps))
}

async function killUnderLoad(kills: number, { annotate }: TestContext): Promise<void> {
  const seed = randomInt(2 ** 31)
  const random = randomFrom(seed)
  const dataDir = await temporaryDirectory()
  const args = ['devnet', '--port', '0', '--no-pow', '--graph', 'petersen', '--log', 'json', '--data', dataDir]
  const all: Acknowledged[] = []
  let last: Acknowledged[] = []
  for (let kill = 0; kill <= kills; kill++) {
    const node = start(args)
    // The first one always mines: without a block there is nothing to keep.
    if (kill > 0 && kill < kills && random() < 0.2) {
      // The moment is random on purpose, as for all kills here.
      await sleep(random() * 400)
      await killed(node)
      continue
    }
    const [, url, blocks] = await node.sees(/ at (http:\/\/[\d.:]+)".*, (\d+) blocks"/)
    // The node has checked its blocks while it loaded.
    expect(Number(blocks), `seed ${seed}`).toBeGreaterThanOrEqual(10 + all.length)
    await expectAcknowledged(url, kill === kills ? all : last)
    last = []
    const taken = new Set<string>()
    const miners = Array.from({ length: MINERS }, () => mine(url, taken, last))
    // Even on a slow machine each run acknowledges some blocks.
    await until(() => last.length >= 2 || node.child.exitCode !== null)
    await sleep(random() * LOAD_MS)
    await killed(node)
    await Promise.all(miners)
    all.push(...last)
    if (kill % 10 === 9 || kill === kills - 1) {
      expect(await checkDataDirectory(dataDir), `seed ${seed}`).toMatchObject({ orphans: 0, findings: [] })
    }
  }
  expect(all.length).toBeGreaterThan(kills / 2)
  const { code, out } = await run(['devnet', '--data', dataDir, '--check'])
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/nothing is wrong\n$/) })
  await annotate(`${all.length} blocks acknowledged; ${out.split('\n')[0]}`)
}

/** A head that the node printed: its hash, and the balances after it. */
interface PrintedHead {
  readonly id: string
  readonly balances: Readonly<Record<string, string>>
}

/** Balances by account after this block. */
function balancesAfter({ loaded: { store }, ledger }: DataDirectory, id: string): Record<string, string> {
  const block = store.byId(id)
  if (block === undefined) throw new Error(`no block ${id}`)
  const state = ledger.stateOf(block.chain, store.recordOf(block))
  const rows = state.keys(COINS).map((key) => [key, String(state.get<ObjectValue>(COINS, key)?.get('balance'))])
  return Object.fromEntries(rows.sort())
}

async function killReorganising(kills: number, steps: number): Promise<void> {
  const seed = randomInt(2 ** 31)
  const random = randomFrom(seed)
  const dataDir = await temporaryDirectory()
  let moves = 0
  let moved = false
  for (let kill = 0; kill < kills; kill++) {
    const node = startScript(fileURLToPath(new URL('reorganising-node.mjs', import.meta.url)), [dataDir])
    await node.sees(new RegExp(`(.*\\n){${steps}}`))
    await sleep(random() * 300)
    await killed(node)
    const lines = node.out().split('\n').slice(0, -1)
    const { blocks, ruleChanges, heads } = JSON.parse(lines[lines.length - 1])
    moves += lines.length
    const data = await openDataDirectory(dataDir, { asked: {}, onFailure: () => undefined, onNotice: () => undefined })
    const { store, heads: found, ruleChanges: changes } = data.loaded
    // At most one step followed the last printed one.
    expect([0, 1]).toContain(changes.length - ruleChanges)
    expect(store.size, `seed ${seed}`).toBeGreaterThanOrEqual(blocks)
    for (const { id, balances } of heads as PrintedHead[]) {
      expect(balancesAfter(data, id), `seed ${seed}`).toEqual(balances)
      moved ||= Object.values(balances).some((balance) => !/\.0$/.test(balance))
    }
    const ids = heads.map(({ id }: PrintedHead) => id)
    if (store.size === blocks) expect([...found.values()].map(({ hash }) => encodeBase64Url(hash))).toEqual(ids)
    await data.close()
    const report = await checkDataDirectory(dataDir)
    // Opening the directory executed the blocks that the state database lacked.
    expect(report, `seed ${seed}`).toMatchObject({ blocks: store.size, stateBlocks: store.size, findings: [] })
    expect(report.orphans).toBeGreaterThan(0)
  }
  expect(moves).toBeGreaterThanOrEqual(steps * kills)
  expect(moved).toBe(true)
}
