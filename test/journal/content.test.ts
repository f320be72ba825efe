/** A journal of any length: what newcut reads of it, with and without its index. */
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  amountIn,
  CanonicalLine,
  depthIn,
  feesIn,
  OriginReader,
  TimeReader,
} from '../../src/mining/journal/canonical-line.ts'
import { CHECKPOINT_NAME } from '../../src/mining/journal/checkpoint.ts'
import { readJournal } from '../../src/mining/journal/content.ts'
import { type Disk, systemDisk } from '../../src/mining/journal/disk.ts'
import { readEarlierRuns } from '../../src/mining/journal/earlier.ts'
import { sealJournalLine } from '../../src/mining/journal/line-seal.ts'
import { parseLine } from '../../src/mining/journal/record.ts'
import { SEGMENT_BYTES } from '../../src/mining/journal/record-table.ts'
import { totalsOf } from '../../src/mining/journal/totals.ts'
import { amountUnitsOf } from '../../src/mining/journal/units.ts'
import { Earnings } from '../../src/mining/mine/earnings.ts'
import { roundsOf } from '../rotation.ts'
import { isUnfinished, readRecords, simplyReadRecords } from './records.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function temporary(): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-journal-'))
  folders.push(path)
  return path
}

/** Random like real hashes: the table of the journal expects that. */
const hashOf = (number: number) => createHash('sha256').update(String(number)).digest('base64url')
const at = '2026-11-22T10:00:00.000Z'
const FOUND = {
  ...{ step: 'found', network: 'testing', account: 'k:me', issuer: 'http://node.test', chain: 3, height: 7 },
  ...{ device: 'thread0', effort: 0.5, difficulty: 1000, work: 'A'.repeat(382) },
}
const lineOf = (hash: string, step: object) => `${JSON.stringify({ at, hash, ...step })}\n`
const sealed = (line: string) => Buffer.from(sealJournalLine(line.trimEnd())).toString()

const coins = fc.constantFrom('1.5', '0.00000000000001', '20', '99999999999', '2.123456789012', '0')
/** Steps of journals: those of newcut, and those that it reads another way. */
const steps: readonly fc.Arbitrary<object>[] = [
  fc
    .record({ effort: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), chain: fc.nat() })
    .map((changes) => ({
      ...FOUND,
      ...changes,
    })),
  fc.constantFrom('testing', 'münchen', 'a "name"').map((network) => ({ ...FOUND, network })),
  fc.constantFrom('k:me', 'k:m', 'k:you').map((account) => ({ ...FOUND, account })),
  fc.constantFrom('handed-in', 'acknowledged', 'credited').map((step) => ({ step })),
  fc.nat().map((depth) => ({ step: 'confirmed', depth })),
  fc.tuple(coins, fc.option(coins, { nil: undefined })).map(([amount, fees]) => ({ step: 'reward', amount, fees })),
  fc.constantFrom('stale', 'orphaned').map((step) => ({ step, mayReturn: true })),
  fc.constantFrom('stopped', 'unreachable').map((reason) => ({ step: 'lost', reason, message: 'ü' })),
]
const oneLine = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(fc.nat(5), fc.oneof(...steps), fc.boolean()).map(([n, step, isSealed]) => {
      const line = lineOf(hashOf(n), step)
      return isSealed ? sealed(line) : line
    }),
  },
  fc.constantFrom(
    '\n',
    '\r\n',
    '{}\n',
    `{"at":"${at}"}\n`,
    'torn',
    lineOf(hashOf(1), { step: 'confirmed', depth: -1 }),
  ),
  fc.tuple(fc.nat(5), fc.oneof(...steps)).map(([n, step]) => lineOf(hashOf(n), step).replace('\n', '\r\n')),
  fc.tuple(fc.nat(5), fc.oneof(...steps)).map(([n, step]) => lineOf(hashOf(n), step).slice(0, -20)),
)
const month = fc.constantFrom('2026-09', '2026-10', '2026-11')
const written = fc.array(fc.tuple(month, fc.array(oneLine, { maxLength: 12 })), { maxLength: 4 })

function write(folder: string, parts: readonly (readonly [string, readonly string[]])[]): void {
  for (const [name, lines] of parts) appendFileSync(join(folder, `blocks-${name}.jsonl`), lines.join(''))
}

const throwing = (why: string) => {
  throw new Error(why)
}
/** Writes the index after every byte. */
const indexing = { onUnsaved: throwing, maxUnindexedBytes: 0 }
const OPTIONS = { network: 'testing', confirmations: 6 }
const rowsOf = (count: number) => Array.from({ length: count }, (_, row) => row)

describe('journal', () => {
  it('the journal reader finds the same records and damaged lines as a simple reader', async () => {
    const property = fc.asyncProperty(written, async (parts) => {
      const folder = temporary()
      write(folder, parts)
      expect(await readRecords(folder)).toEqual(simplyReadRecords(folder))
    })
    await fc.assert(property, { numRuns: roundsOf(300, 60) })
  })

  it('a journal has the same records with an index from any time before', async () => {
    let indexed = 0
    const property = fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 4 }), async (times) => {
      const folder = temporary()
      for (const parts of times) {
        write(folder, parts)
        indexed += (await readJournal(folder, indexing)).isIndexed ? 1 : 0
        expect(await readRecords(folder)).toEqual(simplyReadRecords(folder))
      }
    })
    await fc.assert(property, { numRuns: roundsOf(200, 40) })
    expect(indexed).toBeGreaterThan(0)
  })

  it('a journal is read across the buffers of the reader, whatever the length of its lines', async () => {
    const folder = temporary()
    const long = (n: number) => lineOf(hashOf(n), { ...FOUND, device: 'x'.repeat(n), account: 'ü'.repeat(n) })
    write(folder, [['2026-11', [...rowsOf(400).map(long), `${'y'.repeat(300_000)}\n`, long(500)]]])
    expect(await readRecords(folder)).toEqual(simplyReadRecords(folder))
  })

  it('a journal has the exact sum of all rewards, however fine or large they are', async () => {
    const folder = temporary()
    const amounts = ['0.00000000000000000001', '9007.199254740993', '1.5', '99999999999999999999', '2.123456789012']
    const lines = amounts.flatMap((amount, n) => [
      ...[FOUND, { step: 'confirmed', depth: 6 }, { step: 'reward', amount, fees: '0.25' }].map((step) =>
        lineOf(hashOf(n), step),
      ),
    ])
    write(folder, [
      ['2026-11', [...lines, lineOf(hashOf(9), FOUND), lineOf(hashOf(9), { step: 'reward', amount: '7' })]],
    ])
    const { states, paid, coins, fees } = totalsOf(await readJournal(folder))
    expect([...states]).toEqual([
      ['found', 1],
      ['confirmed', 5],
    ])
    expect(paid).toBe(5)
    expect(coins).toBe('100000000000000009009.82271153000500000001')
    expect(fees).toBe('1.25')
  })
})

describe('earnings of earlier runs', () => {
  it('the earnings of earlier runs cover all records, however many solutions are reported one by one', async () => {
    const property = fc.asyncProperty(written, fc.nat(4), async (parts, maxTracked) => {
      const folder = temporary()
      write(folder, parts)
      const records = [...simplyReadRecords(folder).records.values()].filter(({ network }) => network === 'testing')
      const except = new Set(records.slice(-1).map(({ hash }) => hash))
      const [bySums, byRecords] = [new Earnings(), new Earnings()]
      const { tracked, untracked } = await readEarlierRuns(folder, { ...OPTIONS, except, maxTracked })
      bySums.seedSums(untracked)
      for (const block of tracked) bySums.seed(block)
      for (const record of records.slice(0, -1)) byRecords.seed(record)
      expect(bySums.snapshot()).toEqual(byRecords.snapshot())
      const newest = records.slice(0, -1).slice(-maxTracked || records.length)
      const hashes = tracked.map(({ hash }) => hash)
      expect(hashes).toEqual(records.map(({ hash }) => hash).filter((hash) => hashes.includes(hash)))
      const isTold = ({ hash }: { readonly hash: string }) => hashes.includes(hash)
      for (const record of records.slice(0, -1)) if (isUnfinished(record, 6)) expect(isTold(record)).toBe(true)
      if (maxTracked > 0) expect(newest.slice(-1).every(isTold)).toBe(true)
    })
    await fc.assert(property, { numRuns: roundsOf(200, 40) })
  })
})

describe('line that newcut writes', () => {
  it('a line is taken in place only if the parser takes it, with the same content', () => {
    const text = fc.tuple(fc.oneof(...steps), fc.boolean()).map(([step, isSealed]) => {
      const line = lineOf(hashOf(1), step)
      return isSealed ? sealed(line) : line
    })
    const spoiled = fc
      .tuple(text, fc.nat(), fc.constantFrom('"', '\\', 'x', '9', '-', '.', 'e', '}', '\u0001'))
      .map(([line, where, by]) => {
        const index = where % (line.length - 1)
        return line.slice(0, index) + by + line.slice(index + 1)
      })
    const lengths = fc
      .record({
        hash: fc.constantFrom(0, 42, 43, 44),
        work: fc.constantFrom(0, 1, 199, 200, 201, 1900, 4000, 4001),
        device: fc.constantFrom(0, 1500, 2000, 2001),
      })
      .map(({ hash, work, device }) => {
        return lineOf('h'.repeat(hash), { ...FOUND, device: 'd'.repeat(device), work: 'w'.repeat(work) })
      })
    const shortHash = fc.nat(50).map((length) => lineOf('h'.repeat(length), { step: 'reward', amount: '1.5' }))
    const when = fc
      .tuple(text, fc.constantFrom('2026-02-31T10:00:00.000Z', '2026-13-01T10:00:00.000Z', '2026-11-22T24:30:00.000Z'))
      .map(([line, time]) => line.replace(at, time))
    const shown = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2099-12-31') })
    const anyTime = fc.tuple(text, shown).map(([line, date]) => line.replace(at, date.toISOString()))
    let taken = 0
    const [origins, times] = [new OriginReader(), new TimeReader()]
    const property = fc.property(fc.oneof(text, spoiled, lengths, shortHash, when, anyTime), (line) => {
      const canonical = new CanonicalLine()
      const bytes = Buffer.from(line)
      const latin = bytes.toString('latin1')
      if (!canonical.read(latin, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0)) return
      if (canonical.step === 'found' && origins.read(latin, 0) === null) return
      taken++
      const parsed = parseLine(bytes.subarray(0, -1))
      expect(parsed).toMatchObject({ step: canonical.step, hash: line.slice(41, 84) })
      expect(canonical.end).toBe(bytes.length)
      if (parsed?.step === 'found') {
        const { network, account } = parsed
        expect(origins.read(latin, 0)).toEqual({ network, account })
        expect(times.read(latin, 0)).toEqual(Date.parse(parsed.at))
      }
      if (parsed?.step === 'reward') {
        expect(amountIn(latin, 0)).toEqual(amountUnitsOf(parsed.amount))
        expect(feesIn(latin, 0)).toEqual(amountUnitsOf(parsed.fees))
      }
      if (parsed?.step === 'confirmed') expect(depthIn(latin, 0)).toBe(parsed.depth)
    })
    const numRuns = roundsOf(3000, 1000)
    fc.assert(property, { numRuns })
    expect(taken).toBeGreaterThan(numRuns / 6)
  })
})

/** A journal of this many solutions over two months, and its index. */
async function indexedJournal(count: number) {
  const folder = temporary()
  const solution = (n: number) => [FOUND, { step: 'confirmed', depth: 6 }].map((step) => lineOf(hashOf(n), step))
  const half = count >> 1
  write(folder, [
    ['2026-10', rowsOf(half).flatMap(solution)],
    ['2026-11', rowsOf(count - half).flatMap((n) => solution(half + n))],
  ])
  await readJournal(folder, indexing)
  return { folder, index: join(folder, CHECKPOINT_NAME), newest: join(folder, 'blocks-2026-11.jsonl') }
}

/** Rewrites an index with another head, as the newcut that writes such a head does. */
function writeIndex(path: string, change: (head: string) => string): void {
  const whole = readFileSync(path)
  const [mark, format, length] = whole.toString('latin1', 0, 120).split(' ')
  const end = 120 + Number(length)
  const head = Buffer.from(change(whole.toString('utf8', 120, end)))
  const content = Buffer.concat([head, whole.subarray(end)])
  const first = [mark, format, head.length, createHash('sha256').update(content).digest('hex')].join(' ')
  writeFileSync(path, Buffer.concat([Buffer.from(`${first.padEnd(119)}\n`), content]))
}

/** A disk that counts what is read of the files of the journal. */
function counting(): { readonly disk: Disk; readonly read: () => number } {
  let bytes = 0
  const readAt: Disk['readAt'] = (path, into, from) => {
    const length = systemDisk.readAt(path, into, from)
    if (path.endsWith('.jsonl')) bytes += length
    return length
  }
  return { disk: { ...systemDisk, readAt }, read: () => bytes }
}

describe('index of a journal', () => {
  it('a start with an index reads only the newest lines, and keeps 100 bytes a solution', async () => {
    const { folder, newest } = await indexedJournal(9_000)
    appendFileSync(newest, lineOf(hashOf(10_000), FOUND))
    const { disk, read } = counting()
    const content = await readJournal(folder, { disk })
    expect(content.isIndexed).toBe(true)
    expect(content.table.rows).toBe(9_001)
    // Two ends of files by which the index knows them, and the new line twice: at the end the reader looks once more.
    expect(read()).toBeLessThan(2 * 4096 + 2 * 1024)
    expect(content.table.bytes.reduce((total, { length }) => total + length, 0)).toBe(3 * SEGMENT_BYTES)
    expect(SEGMENT_BYTES).toBe(4096 * 100)
  })

  it('the index leaves to a start the newest 60 and the unfinished solutions, at most 500, and no other', async () => {
    const { folder, newest } = await indexedJournal(600)
    for (let n = 1_000; n < 1_520; n++) appendFileSync(newest, lineOf(hashOf(n), FOUND))
    appendFileSync(newest, lineOf(hashOf(2_000), { ...FOUND, network: 'other' }))
    const { unfinished, left, recent } = await readEarlierRuns(folder, OPTIONS)
    expect(unfinished.length).toBe(500)
    expect(left).toBe(20)
    expect(recent.length).toBe(60)
    expect([unfinished[0].hash, unfinished.at(-1)?.hash, recent.at(-1)?.hash]).toEqual(
      [1_020, 1_519, 1_519].map(hashOf),
    )
    const except = new Set([hashOf(1_519)])
    expect((await readEarlierRuns(folder, { ...OPTIONS, except })).unfinished.at(-1)?.hash).toBe(hashOf(1_518))
  })

  it('the index is written only on request, and only after many new lines', async () => {
    const { folder, index } = await indexedJournal(10)
    rmSync(index)
    await readJournal(folder)
    await readJournal(folder, { onUnsaved: throwing })
    expect(readdirSync(folder)).not.toContain(CHECKPOINT_NAME)
    await readJournal(folder, indexing)
    expect(readdirSync(folder)).toEqual(['blocks-2026-10.jsonl', 'blocks-2026-11.jsonl', CHECKPOINT_NAME])
  })

  it('the index is not used if any byte of it is damaged or missing', async () => {
    const { folder, index } = await indexedJournal(20)
    const whole = readFileSync(index)
    const expected = simplyReadRecords(folder)
    const isIndexed = async () => (await readJournal(folder)).isIndexed
    expect(await isIndexed()).toBe(true)
    for (let n = 0; n < whole.length; n += 4099) {
      const spoiled = Buffer.from(whole)
      spoiled[n] ^= 1
      writeFileSync(index, spoiled)
      expect(await isIndexed(), `byte ${n}`).toBe(false)
      writeFileSync(index, whole.subarray(0, n))
      expect(await isIndexed(), `byte ${n}`).toBe(false)
    }
    expect(await readRecords(folder)).toEqual(expected)
    writeFileSync(index, Buffer.from(whole.toString('latin1').replace(/index 2/, 'index 1'), 'latin1'))
    expect(await isIndexed()).toBe(false)
  })

  it.each([
    ['has changed', (folder: string) => appendFileSync(join(folder, 'blocks-2026-10.jsonl'), '{}\n')],
    ['is gone', (folder: string) => rmSync(join(folder, 'blocks-2026-10.jsonl'))],
    ['is shorter', (folder: string) => writeFileSync(join(folder, 'blocks-2026-11.jsonl'), lineOf(hashOf(1), FOUND))],
    ['was touched', (folder: string) => utimesSync(join(folder, 'blocks-2026-10.jsonl'), 1, 1)],
    ['is new, and older', (folder: string) => writeFileSync(join(folder, 'blocks-2026-01.jsonl'), 'x\n')],
    [
      'was edited before its end',
      (folder: string) => {
        const path = join(folder, 'blocks-2026-11.jsonl')
        writeFileSync(path, `${readFileSync(path, 'utf8').replace(/^.*\n/, '')}${'{"later":"lines"}\n'.repeat(100)}`)
      },
    ],
  ])('the index is not used if a file of the journal %s', async (_, change) => {
    const { folder } = await indexedJournal(20)
    change(folder)
    expect((await readJournal(folder)).isIndexed).toBe(false)
    expect(await readRecords(folder)).toEqual(simplyReadRecords(folder))
  })

  it.each([
    ['of this newcut', (head: string) => head, true],
    [
      'of a machine with the other order of bytes',
      (head: string) => head.replace(/"byteOrder":\d/, '"byteOrder":7'),
      false,
    ],
    [
      'of a newcut with other steps',
      (head: string) => head.replace('"found","handed-in"', '"handed-in","found"'),
      false,
    ],
    ['without its steps', (head: string) => head.replace('"steps"', '"stops"'), false],
  ])('the index is used only if it is one %s', async (_, change, isUsed) => {
    const { folder, index } = await indexedJournal(20)
    writeIndex(index, change)
    expect((await readJournal(folder)).isIndexed).toBe(isUsed)
    expect(await readRecords(folder)).toEqual(simplyReadRecords(folder))
  })

  it('a journal whose index cannot be opened is read without one', async () => {
    const { folder, index } = await indexedJournal(20)
    rmSync(index)
    mkdirSync(index)
    expect((await readJournal(folder)).isIndexed).toBe(false)
    expect(await readRecords(folder)).toEqual(simplyReadRecords(folder))
  })

  it('a start does not use the index if a line was changed in place, and blocks says what to do', async () => {
    const { folder, newest } = await indexedJournal(20)
    writeFileSync(newest, readFileSync(newest, 'utf8').replaceAll(hashOf(10), hashOf(88)))
    appendFileSync(newest, lineOf(hashOf(99), FOUND))
    const { isIndexed, records, table } = await readJournal(folder)
    expect(isIndexed, 'its length and its end are as they were').toBe(true)
    expect(() => [...records(rowsOf(table.rows))]).toThrow(/was changed by another program/)
    expect((await readEarlierRuns(folder, OPTIONS)).recent).toEqual([...simplyReadRecords(folder).records.values()])
  })

  it('an index that cannot be written is reported, and the records are read without it', async () => {
    const { folder, index } = await indexedJournal(5)
    rmSync(index)
    const said: string[] = []
    const replace = () => throwing('the disk is full')
    const { table } = await readJournal(folder, {
      ...{ disk: { ...systemDisk, replace }, maxUnindexedBytes: 0 },
      onUnsaved: (why) => said.push(why),
    })
    expect(table.rows).toBe(5)
    expect(said).toEqual(['the disk is full'])
  })
})
