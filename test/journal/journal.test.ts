import { appendFileSync, chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { readJournal } from '../../src/mining/journal/content.ts'
import type { Disk } from '../../src/mining/journal/disk.ts'
import { Journal } from '../../src/mining/journal/journal.ts'
import { sealJournalLine } from '../../src/mining/journal/line-seal.ts'
import { applyLine, type BlockRecord, type JournalLine, parseLine } from '../../src/mining/journal/record.ts'
import { itWith } from '../needs.ts'
import { readRecords } from './records.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-journal-'))
  folders.push(path)
  return path
}

const hashOf = (character: string) => character.repeat(43)
const at = '2026-11-22T10:00:00.000Z'

function found(hash: string, changes: Partial<JournalLine & { readonly step: 'found' }> = {}): JournalLine {
  return {
    ...{ at, hash, step: 'found', network: 'testing', account: 'k:me', issuer: 'http://node.test', chain: 3 },
    ...{ height: 7, device: 'thread0', effort: 0.5, difficulty: 1000, work: 'A'.repeat(382) },
    ...changes,
  } as JournalLine
}

function opened(path: string) {
  const said: string[] = []
  const events = {
    onTrouble: (message: string) => void said.push(`trouble: ${message}`),
    onRecovered: (message: string) => void said.push(`recovered: ${message}`),
  }
  return { journal: Journal.open(path, events), said }
}

describe('journal', () => {
  it('a journal is read as it was written: the newest state of each solution, in the order of finding', async () => {
    const path = folder()
    const { journal, said } = opened(path)
    journal.append(found(hashOf('a')))
    journal.append({ at, hash: hashOf('a'), step: 'handed-in' })
    journal.append(found(hashOf('b')))
    journal.append({ at, hash: hashOf('a'), step: 'acknowledged' })
    journal.append({ at, hash: hashOf('a'), step: 'confirmed', depth: 1 })
    journal.append({ at, hash: hashOf('a'), step: 'reward', amount: '2.30452' })
    journal.append({ at, hash: hashOf('b'), step: 'rejected', reason: 'no-payload', message: '404' })
    const { records, damaged } = await readRecords(path)
    expect(damaged).toBe(0)
    expect([...records.values()]).toMatchObject([
      { hash: hashOf('a'), state: 'confirmed', depth: 1, reward: '2.30452', foundAt: at, chain: 3, height: 7 },
      { hash: hashOf('b'), state: 'rejected', reason: 'no-payload', reward: null },
    ])
    expect(said).toEqual([])
  })

  it('a journal has a file per month, and continues in a file that was deleted', async () => {
    const path = folder()
    const { journal } = opened(path)
    journal.append(found(hashOf('a'), { at: '2026-10-31T23:59:59.999Z' }))
    journal.append(found(hashOf('b'), { at: '2026-11-01T00:00:00.000Z' }))
    expect(readdirSync(path)).toEqual(expect.arrayContaining(['blocks-2026-10.jsonl', 'blocks-2026-11.jsonl']))
    rmSync(join(path, 'blocks-2026-11.jsonl'))
    journal.append(found(hashOf('c'), { at: '2026-11-01T00:00:00.000Z' }))
    expect([...(await readRecords(path)).records.keys()]).toEqual([hashOf('a'), hashOf('c')])
  })

  it('a journal has no empty lines, however often it is opened', async () => {
    const path = folder()
    const lines = ['a', 'b', 'c'].map((each) => found(hashOf(each)))
    for (const line of lines) opened(path).journal.append(line)
    const text = readFileSync(join(path, 'blocks-2026-11.jsonl'), 'utf8')
    expect(text).toBe(lines.map((line) => Buffer.from(sealJournalLine(JSON.stringify(line))).toString()).join(''))
  })

  it.each([
    ['with seals', (text: string) => Buffer.from(sealJournalLine(text)).toString()],
    ['without seals, as an earlier newcut wrote them', (text: string) => `${text}\n`],
  ])('a journal loses nothing else if its last line was cut off at any byte: lines %s', async (_, written) => {
    const whole = ['a', 'b'].map((each) => written(JSON.stringify(found(hashOf(each))))).join('')
    const firstLine = whole.indexOf('\n')
    for (let length = firstLine + 1; length <= whole.length; length += 13) {
      const path = folder()
      writeFileSync(join(path, 'blocks-2026-11.jsonl'), whole.slice(0, length))
      opened(path).journal.append(found(hashOf('c')))
      const { records, damaged } = await readRecords(path)
      const isWhole = length >= whole.length - 1
      expect([...records.keys()]).toEqual(isWhole ? ['a', 'b', 'c'].map(hashOf) : ['a', 'c'].map(hashOf))
      expect(damaged).toBe(isWhole || length === firstLine + 1 ? 0 : 1)
    }
  })

  const mayWriteAll = process.getuid?.() === 0 || process.platform === 'win32'
  itWith(
    mayWriteAll ? 'folders do not refuse this user to write: run it as another one, on Linux or macOS' : null,
    'a journal reports once that it cannot be written, and once that it can be again',
    async () => {
      const path = folder()
      const { journal, said } = opened(path)
      chmodSync(path, 0o500)
      journal.append(found(hashOf('a'), { at: '2056-12-01T00:00:00.000Z' }))
      journal.append(found(hashOf('b'), { at: '2056-12-01T00:00:00.000Z' }))
      chmodSync(path, 0o700)
      journal.append(found(hashOf('c'), { at: '2056-12-01T00:00:00.000Z' }))
      expect(said).toEqual([expect.stringMatching(/^trouble: .*EACCES/), 'recovered: the journal can be written again'])
    },
  )

  itWith(
    process.platform === 'linux' ? null : 'there is no /dev/full: run it on Linux',
    'a journal continues when the disk is full, reports that once, and writes the missing lines later',
    async () => {
      const path = folder()
      const { journal, said } = opened(path)
      // /dev/full stands in for the file.
      const { symlinkSync } = await import('node:fs')
      symlinkSync('/dev/full', join(path, 'blocks-2056-12.jsonl'))
      const late = { at: '2056-12-01T00:00:00.000Z' }
      journal.append(found(hashOf('a'), late))
      journal.append(found(hashOf('b'), late))
      expect(said).toEqual([expect.stringMatching(/^trouble: the journal cannot be written: .*ENOSPC/)])
      rmSync(join(path, 'blocks-2056-12.jsonl'))
      journal.append(found(hashOf('c'), late))
      expect(said.at(-1)).toBe('recovered: the journal can be written again')
      expect([...(await readRecords(path)).records.keys()]).toEqual(['a', 'b', 'c'].map(hashOf))
    },
  )

  it('a journal waits for one sync at a time, however slow the disk is, and outlives a file that cannot be closed', () => {
    let open = 0
    const syncs: ((error: Error | null) => void)[] = []
    const file = {
      lastByte: () => null,
      append: (bytes: Uint8Array, from: number) => bytes.length - from,
      sync: (done: (error: Error | null) => void) => void syncs.push(done),
      close: () => {
        open--
        throw Object.assign(new Error('EIO: simulated'), { code: 'EIO' })
      },
    }
    const disk: Disk = {
      makeFolder: () => undefined,
      list: () => [],
      open: () => {
        open++
        return file
      },
      readAt: () => 0,
      factsOf: () => null,
      replace: () => undefined,
    }
    const said: string[] = []
    const events = {
      onTrouble: (message: string) => void said.push(message),
      onRecovered: () => void said.push('well'),
    }
    const journal = Journal.openLater('/journal', events, disk)
    for (const each of ['a', 'b', 'c']) journal.append(found(hashOf(each)))
    expect(syncs.length).toBe(1)
    expect(open).toBe(1)
    syncs[0](null)
    expect(syncs.length).toBe(2)
    expect(open).toBe(1)
    syncs[1](new Error('EIO: simulated'))
    expect(syncs.length).toBe(2)
    expect(open).toBe(0)
    expect(said).toEqual(['well', expect.stringMatching(/^the journal does not get onto its disk: EIO/)])
  })

  it('a journal whose folder cannot be made is refused with a clear error', () => {
    const path = join(folder(), 'file')
    writeFileSync(path, '')
    expect(() => opened(join(path, 'below'))).toThrow(/cannot write the journal in .*below: .*ENOTDIR/)
  })

  it('a journal is empty if its folder does not exist', async () => {
    expect(await readRecords(join(folder(), 'none'))).toEqual({ records: new Map(), damaged: 0 })
  })

  it('a journal has all steps of a solution, even if the clock was set back into the previous month', async () => {
    const path = folder()
    const { journal } = opened(path)
    const hash = hashOf('a')
    journal.append({ ...found(hash), at: '2026-12-01T00:00:10.000Z' })
    journal.append({ at: '2026-11-30T23:59:50.000Z', hash, step: 'handed-in' })
    journal.append({ at: '2026-11-30T23:59:51.000Z', hash, step: 'confirmed', depth: 1 })
    journal.append({ at: '2026-11-30T23:59:51.000Z', hash: hashOf('b'), step: 'handed-in' })
    const { records, damaged } = await readRecords(path)
    expect([...records.values()]).toMatchObject([{ hash, state: 'confirmed', depth: 1 }])
    expect(damaged, 'a step of a solution that nobody found').toBe(1)
  })

  it('a journal with any bytes is read without failing, and its unreadable lines are counted', async () => {
    const path = folder()
    const file = join(path, 'blocks-2026-11.jsonl')
    const property = fc.asyncProperty(fc.array(fc.string({ maxLength: 50 }), { maxLength: 20 }), async (lines) => {
      writeFileSync(file, lines.join('\n'))
      appendFileSync(file, `\n${JSON.stringify(found(hashOf('a')))}\n`)
      const { records } = await readRecords(path)
      expect([...records.keys()]).toEqual([hashOf('a')])
    })
    await fc.assert(property, { numRuns: 100 })
  })

  it('a journal is plain lines of JSON', () => {
    const path = folder()
    opened(path).journal.append(found(hashOf('a')))
    const [name] = readdirSync(path).filter((each) => readFileSync(join(path, each)).length > 0)
    const [line] = readFileSync(join(path, name), 'utf8').split('\n')
    expect(JSON.parse(line)).toMatchObject(found(hashOf('a')))
    expect(parseLine(Buffer.from(line))).toEqual(found(hashOf('a')))
  })
})

describe('record', () => {
  const record = (state: BlockRecord['state'], changes: Partial<BlockRecord> = {}): BlockRecord => {
    const first = applyLine(undefined, found(hashOf('a')))
    if (first === null) throw new Error('no record')
    return { ...first, state, ...changes }
  }

  it.each([
    ['found', {}, true],
    ['handed-in', {}, true],
    ['acknowledged', {}, true],
    ['unconfirmed', {}, true],
    ['confirmed', { depth: 5 }, true],
    ['confirmed', { depth: 6 }, false],
    ['lost', { reason: 'stopped' }, true],
    ['lost', { reason: 'unreachable' }, false],
    ['lost', { reason: 'unreachable', mayReturn: true }, true],
    ['stale', {}, false],
    ['orphaned', {}, false],
    ['stale', { mayReturn: true }, true],
    ['orphaned', { mayReturn: true }, true],
    ['rejected', { reason: 'unknown' }, false],
  ] as const)('a record that is %s %o is unfinished: %s', async (state, changes, expected) => {
    const path = folder()
    const { journal } = opened(path)
    journal.append(found(hashOf('a')))
    const messages = { message: '', reason: '', ...changes }
    if (state !== 'found') journal.append({ at, hash: hashOf('a'), step: state, ...messages } as JournalLine)
    const { table } = await readJournal(path)
    expect(table.rows).toBe(1)
    expect(table.isUnfinished(0, 6)).toEqual(expected)
  })

  it('a record needs its first line', () => {
    expect(applyLine(undefined, { at, hash: hashOf('a'), step: 'handed-in' })).toBeNull()
  })

  it('a record has the fields of its newest step, and nothing of the step before', () => {
    const lines: readonly JournalLine[] = [
      { at, hash: hashOf('a'), step: 'lost', reason: 'stopped', message: 'the miner stopped', mayReturn: true },
      { at, hash: hashOf('a'), step: 'confirmed', depth: 2 },
      { at, hash: hashOf('a'), step: 'reward', amount: '2.5', fees: '0.1' },
      { at, hash: hashOf('a'), step: 'orphaned', mayReturn: true },
      { at, hash: hashOf('a'), step: 'orphaned' },
      { at, hash: hashOf('a'), step: 'reward', amount: '2.4' },
    ]
    const told: unknown[] = []
    let now = record('found')
    for (const line of lines) {
      now = applyLine(now, line) ?? expect.unreachable()
      told.push([now.state, now.depth, now.mayReturn, now.reason, now.message, now.reward, now.fees])
    }
    expect(told).toEqual([
      ['lost', null, true, 'stopped', 'the miner stopped', null, null],
      ['confirmed', 2, false, null, null, null, null],
      ['confirmed', 2, false, null, null, '2.5', '0.1'],
      ['orphaned', null, true, null, null, '2.5', '0.1'],
      ['orphaned', null, false, null, null, '2.5', '0.1'],
      ['orphaned', null, false, null, null, '2.4', null],
    ])
  })

  it('a record keeps its state when its solution is found once more', () => {
    expect(applyLine(record('confirmed', { depth: 2 }), found(hashOf('a')))).toMatchObject({ state: 'confirmed' })
  })
})
