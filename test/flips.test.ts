/**
 * Flipped bits in the files that decide: each one changes nothing, or newcut says so. The printed counts are those of
 * bench/baselines/flips.md. A full run flips every bit; others flip some.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDevnet } from '../src/compose/devnet.ts'
import { readCopyFile } from '../src/devnet/copy/open-copy.ts'
import { openDatabase } from '../src/devnet/data/database.ts'
import { BLOCKS, openDataDirectory, STATE } from '../src/devnet/data/directory.ts'
import { unpackState } from '../src/devnet/data/state-file.ts'
import { NewcutError } from '../src/ground/base/errors.ts'
import { CopyCache } from '../src/language/copy/cache.ts'
import { COPY_LIMITS, openCopy } from '../src/language/copy/network-copy.ts'
import { pinText } from '../src/language/copy/pin.ts'
import type { SavedAccount } from '../src/mining/accounts/account.ts'
import { BlockShares } from '../src/mining/accounts/block-shares.ts'
import { LevelStore } from '../src/mining/accounts/level-store.ts'
import { readTuningFile, writeTuningFile } from '../src/mining/engine/cache-folder.ts'
import { readJournal } from '../src/mining/journal/content.ts'
import { Journal } from '../src/mining/journal/journal.ts'
import { PayoutJournal, readPayoutFile } from '../src/pool/payouts/payout-journal.ts'
import type { PayoutLine } from '../src/pool/payouts/payout-line.ts'
import { listOf, START_MS, shareOf } from './accounts/shares.ts'
import { grow } from './devnet/grow.ts'
import { startDevnet as startWholeNode } from './devnet/whole-node.ts'
import { readRecords } from './journal/records.ts'
import { VirtualClock } from './mine/virtual-clock.ts'
import { accountOf, blockOf } from './payouts/memory-shares.ts'
import { isFull, rotation } from './rotation.ts'

const CHILD = fileURLToPath(new URL('accounts/table-flips-child.mjs', import.meta.url))

/** Flips of one file that a run which is not full makes. */
const SOME = 400
/** The same for a database, whose opening takes milliseconds. */
const SOME_OF_DATABASE = 60
const ALL_OF_DATABASE = 3_000

/** The content that a reader finds, and whether it said that something is damaged. */
interface Found {
  readonly content: unknown
  readonly isReported: boolean
}

interface Kind {
  /** For people. */
  readonly name: string
  readonly write: (folder: string) => void | Promise<void>
  /** Throws if it refuses the file. */
  readonly read: (folder: string) => Found | Promise<Found>
  readonly isFlipped: (path: string) => boolean
  readonly isDatabase?: true
  /** Why a flip may change the content silently. */
  readonly gap?: string
}

const at = '2026-11-29T12:00:00.000Z'
const [POOL, ANN] = ['f', 'a'].map(accountOf)

const payoutLines: readonly PayoutLine[] = [
  {
    ...{ at, type: 'credit', network: 'development', account: POOL, block: blockOf('A'), chain: 0, height: 7 },
    ...{ foundMs: 5, finder: ANN, scheme: 'solo', window: '2.0', feePercent: '1', reward: '2.0', fee: '0.02' },
    ...{ rest: '0.0', parts: [{ payee: ANN, amount: '1.98', shares: 1, worth: '9' }], round: [] },
  },
  {
    ...{ at, type: 'order', network: 'development', account: POOL, chain: 0, requestKey: blockOf('k'), expires: 9 },
    command: { hash: blockOf('k'), sigs: [{ sig: 'ab' }], cmd: '{"meta":{}}' },
    pays: [{ account: ANN, amount: '1.98', for: [{ block: blockOf('A'), amount: '1.98' }] }],
  },
  { at, type: 'result', requestKey: blockOf('k'), outcome: 'paid', height: 9, message: '' },
  { at, type: 'orphaned', block: blockOf('A') },
]

const payouts = {
  write: (folder: string) => {
    const journal = PayoutJournal.open(folder, () => 0)
    for (const line of payoutLines) journal.append(line)
    journal.close()
  },
  read: (folder: string) => ({ content: readPayoutFile(folder).lines, isReported: false }),
}

const named = { at, hash: blockOf('h') }
const origin = { network: 'development', account: ANN, issuer: 'http://127.0.0.1:1848' }

function writeSolutions(folder: string): void {
  const journal = Journal.open(folder, { onTrouble: () => undefined, onRecovered: () => undefined })
  const place = { chain: 3, height: 77, device: 'thread0', effort: 1.25, difficulty: 1000 }
  journal.append({ ...named, step: 'found', ...origin, ...place, work: 'w'.repeat(384) })
  journal.append({ ...named, step: 'handed-in' })
  journal.append({ ...named, step: 'confirmed', depth: 6 })
  journal.append({ ...named, step: 'reward', amount: '1.5', fees: '0.25' })
}

async function readSolutions(folder: string): Promise<Found> {
  const { records, damaged } = await readRecords(folder)
  return { content: [...records], isReported: damaged > 0 }
}

const savedAccount: SavedAccount = {
  ...{ user: ANN, worker: 'w', agent: 'test/1', address: '10.0.0.1', difficulty: 2 ** 40, accepted: 4 },
  ...{ hashes: 4 * 2 ** 40, blocks: 1, refused: { stale: 3 }, firstMs: START_MS, lastShareMs: START_MS + 8 },
  ...{ heardMs: START_MS + 8, decayed: [1, 2], minutes: [], streak: 0, unknownJobs: 0, warning: null },
}

const block = { network: 'mainnet01', chain: 0, height: 5, hash: blockOf('p') }
const rows = [
  ['row:coin.coin-table|k:a', { balance: 1 }],
  ['keyset:free.k', null],
] as const

const openShares = (folder: string, onWarning: (message: string) => void = expect.fail) =>
  LevelStore.open({ folder, network: 'net', clock: new VirtualClock(), onWarning })

async function recordsIn(location: string): Promise<[string, string][]> {
  const database = await openDatabase(location, { create: false })
  const records = await database.iterator().all()
  await database.close()
  return records.map(([key, value]) => [key, Buffer.from(value).toString('base64')])
}

/** Address of the network that a fork asks for what its cache does not have. */
let forkedUrl = ''

const kinds: readonly Kind[] = [
  { name: 'journal of payouts: `payouts.jsonl`', ...payouts, isFlipped: (path) => path.endsWith('/payouts.jsonl') },
  { name: 'its end: `payouts.end`', ...payouts, isFlipped: (path) => path.endsWith('/payouts.end') },
  {
    name: 'shares of blocks: `block-shares.jsonl`',
    write: (folder) => {
      const shares = new BlockShares(folder, expect.fail)
      for (const number of [1, 2]) {
        const { timeMs: foundMs, ...share } = shareOf(number, { block: blockOf('s') })
        shares.add({ ...share, foundMs })
      }
    },
    read: (folder) => {
      const told: string[] = []
      const shares = new BlockShares(folder, (message) => told.push(message))
      return { content: [...shares.pending], isReported: told.length > 0 }
    },
    isFlipped: () => true,
  },
  {
    name: 'newest shares and accounts: log file of LevelDB',
    write: async (folder) => {
      const store = await openShares(folder)
      for (let i = 0; i < 3; i++) await store.append([shareOf(3 * i), shareOf(3 * i + 1), shareOf(3 * i + 2)])
      await store.refuse([{ minuteMs: START_MS, user: ANN, worker: 'w', verdict: 'stale', count: 3 }])
      await store.save({ changed: [savedAccount], dropped: [], throughMs: START_MS, savedMs: START_MS + 8 })
      await store.close()
    },
    read: async (folder) => {
      const told: string[] = []
      const store = await openShares(folder, (message) => told.push(message))
      try {
        const content: unknown[] = [await listOf(store.shares()), await listOf(store.refusals()), await store.load()]
        return { content, isReported: told.length > 0 }
      } finally {
        await store.close()
      }
    },
    isFlipped: (path) => path.endsWith('.log'),
    isDatabase: true,
    gap: 'a record whose length is damaged looks like one that a crash cut off',
  },
  {
    name: 'cache of a fork',
    write: (folder) => {
      const cache = new CopyCache(folder, block)
      for (const [key, json] of rows) cache.put(key, json)
      cache.save()
    },
    // Missing entries are fetched again.
    read: (folder) => {
      const told: string[] = []
      const cache = new CopyCache(folder, block, (message) => told.push(message))
      const isMissing = rows.some(([key]) => !cache.has(key))
      const known = rows.map(([key, json]) => (cache.has(key) ? cache.get(key) : json))
      return {
        content: [known, [...cache.withPrefix('')].length <= rows.length],
        isReported: isMissing || told.length > 0,
      }
    },
    isFlipped: () => true,
  },
  {
    name: 'pin of a fork: `pins/*.json`',
    write: async (folder) => {
      cpSync(fileURLToPath(new URL('fixtures/0.1.0/fork-cache', import.meta.url)), folder, { recursive: true })
      // A network of the same name that has none of these blocks.
      const devnet = await startDevnet({ port: 0, graph: 'pair' })
      onTestFinished(() => devnet.close())
      forkedUrl = devnet.url
    },
    read: async (cacheFolder) => {
      const limits = { ...COPY_LIMITS, perSecond: 100_000, pactKeys: [] }
      const { pin } = await openCopy({ ...limits, url: forkedUrl, cut: '5', chains: null, cacheFolder })
      return { content: pinText(pin), isReported: false }
    },
    isFlipped: (path) => path.includes('/pins/'),
  },
  {
    name: 'place of a fork: `fork.json`',
    write: (folder) =>
      cpSync(fileURLToPath(new URL('fixtures/0.1.0/fork', import.meta.url)), folder, { recursive: true }),
    read: (folder) => {
      const { url, pin, chains = null, time, cache } = readCopyFile(folder) ?? expect.fail('it is a fork')
      return { content: [url, pin, chains, time, cache], isReported: false }
    },
    isFlipped: (path) => path.endsWith('/fork.json'),
  },
  {
    name: 'measured values: `kernels.json`, `gpus.json`',
    write: (folder) => writeTuningFile(join(folder, 'kernels.json'), new Map([['native-avx2|gcc 12', 'staggered']])),
    read: (folder) => {
      const { entries, problem } = readTuningFile(join(folder, 'kernels.json'))
      return { content: entries.get('native-avx2|gcc 12'), isReported: problem !== null || entries.size === 0 }
    },
    isFlipped: () => true,
  },
  {
    name: 'index of the journal of solutions: `blocks.index`',
    write: async (folder) => {
      writeSolutions(folder)
      await readJournal(folder, { onUnsaved: expect.fail, maxUnindexedBytes: 0 })
    },
    read: readSolutions,
    isFlipped: (path) => path.endsWith('/blocks.index'),
  },
  {
    name: 'state of a network: `--state-file`',
    write: async (folder) => {
      const devnet = await startDevnet({ port: 0, graph: 'singleton', pow: false })
      writeFileSync(join(folder, 'network.state'), await devnet.state())
      await devnet.close()
    },
    read: async (folder) => {
      const { directory, pending } = await unpackState(join(folder, 'network.state'))
      try {
        return { content: [await recordsIn(join(directory, BLOCKS)), pending.length], isReported: false }
      } finally {
        rmSync(directory, { recursive: true })
      }
    },
    isFlipped: () => true,
    isDatabase: true,
  },
  ...[BLOCKS, STATE].map((part) => ({
    name: `newest data of a network: log file in \`${part}/\``,
    write: async (folder: string) => {
      const devnet = await startWholeNode({ port: 0, dataDir: folder, graph: 'singleton', pow: false })
      grow(devnet, 5)
      await devnet.close()
    },
    read: async (folder: string) => {
      const notices: string[] = []
      const onNotice = (message: string) => void notices.push(message)
      const data = await openDataDirectory(folder, {
        asked: {},
        onFailure: (error) => void notices.push(error.message),
        onNotice,
      })
      await data.close()
      // Damage is repaired by now, or reported.
      const content = await Promise.all([BLOCKS, STATE].map((name) => recordsIn(join(folder, name))))
      return { content, isReported: notices.length > 0 }
    },
    isFlipped: (path: string) => path.includes(`/${part}/`) && path.endsWith('.log'),
    isDatabase: true as const,
  })),
  {
    name: 'journal of solutions: `blocks-*.jsonl`',
    write: writeSolutions,
    read: readSolutions,
    isFlipped: (path) => path.endsWith('.jsonl'),
  },
]

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  )
}

/** Bit numbers: all of them, or about `count`. */
function bitsOf(bytes: number, count: number): number[] {
  const step = Math.max(1, Math.ceil((8 * bytes) / count))
  // Odd steps meet all bits of a byte.
  const odd = step % 2 === 0 ? step + 1 : step
  const first = rotation % odd
  return Array.from({ length: Math.max(0, Math.ceil((8 * bytes - first) / odd)) }, (_, i) => first + i * odd)
}

type Outcome = 'same' | 'refused' | 'changed'

async function outcomeOf(kind: Kind, folder: string, right: string): Promise<Outcome> {
  let found: Found
  try {
    found = await kind.read(folder)
  } catch (error) {
    if (!(error instanceof NewcutError)) throw error
    return 'refused'
  }
  if (JSON.stringify(found.content) === right) return 'same'
  return found.isReported ? 'refused' : 'changed'
}

describe('a flipped bit changes nothing, or newcut says so:', () => {
  it.each(kinds)('a flipped bit in $name changes nothing, or newcut reports it', async (kind) => {
    const base = mkdtempSync(join(tmpdir(), 'newcut-flips-'))
    onTestFinished(() => rmSync(base, { recursive: true }))
    const [whole, tried] = [join(base, 'whole'), join(base, 'tried')]
    mkdirSync(whole)
    await kind.write(whole)
    // Reading may change the files.
    cpSync(whole, tried, { recursive: true })
    const right = JSON.stringify((await kind.read(tried)).content)
    const counts: Record<Outcome, number> = { same: 0, refused: 0, changed: 0 }
    const paths = filesIn(whole).filter((path) => kind.isFlipped(path))
    expect(paths.length).toBeGreaterThan(0)
    const total = paths.reduce((sum, path) => sum + readFileSync(path).length, 0)
    const most = kind.isDatabase ? (isFull ? ALL_OF_DATABASE : SOME_OF_DATABASE) : isFull ? Infinity : SOME
    for (const path of paths) {
      const bytes = readFileSync(path)
      for (const bit of bitsOf(bytes.length, (most * bytes.length) / total)) {
        rmSync(tried, { recursive: true, force: true })
        cpSync(whole, tried, { recursive: true })
        const flipped = Buffer.from(bytes)
        flipped[bit >> 3] ^= 1 << (bit & 7)
        writeFileSync(join(tried, path.slice(whole.length)), flipped)
        counts[await outcomeOf(kind, tried, right)]++
      }
    }
    const flips = counts.same + counts.refused + counts.changed
    console.log(`${kind.name} | ${flips} of ${8 * total} | ${counts.same} | ${counts.refused} | ${counts.changed}`)
    expect(flips).toBeGreaterThan(20)
    if (kind.gap === undefined) expect(counts.changed).toBe(0)
  })
})

it('a flipped bit in older shares ends the process in LevelDB, or shares are the same or refused', async () => {
  const base = mkdtempSync(join(tmpdir(), 'newcut-flips-'))
  onTestFinished(() => rmSync(base, { recursive: true }))
  const whole = join(base, 'whole')
  const store = await openShares(whole)
  for (let i = 0; i < 100; i++) await store.append([shareOf(200 * i)])
  await store.close()
  // The next start moves them to a table.
  await (await openShares(whole)).close()
  const table = readdirSync(whole).find((name) => name.endsWith('.ldb')) ?? expect.fail('no table')
  const bytes = readFileSync(join(whole, table)).length
  const counts: Record<string, number> = { same: 0, refused: 0, changed: 0, aborted: 0 }
  let bits = bitsOf(bytes, isFull ? ALL_OF_DATABASE : SOME_OF_DATABASE)
  const flips = bits.length
  while (bits.length > 0) {
    const args = [CHILD, whole, join(base, 'tried'), table, ...bits.map(String)]
    const { stdout, stderr, signal, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    const outcomes = stdout.split('\n').slice(0, -1)
    for (const line of outcomes) counts[line.split(' ')[1]]++
    bits = bits.slice(outcomes.length)
    if (bits.length === 0) {
      expect(signal, stderr).toBeNull()
      expect(status, stderr).toBe(0)
    } else {
      expect(signal).toBe('SIGABRT')
      expect(stderr).toContain('leveldb')
      counts.aborted++
      bits.shift()
    }
  }
  console.log(`older shares: table of LevelDB | ${flips} of ${8 * bytes} | ${JSON.stringify(counts)}`)
  expect(counts.changed).toBe(0)
  expect(counts.refused).toBeGreaterThan(10)
})
