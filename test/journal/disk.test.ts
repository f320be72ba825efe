/** A journal on disks that are full, slow, gone or unreadable. */
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { readJournal } from '../../src/mining/journal/content.ts'
import { type Disk, systemDisk } from '../../src/mining/journal/disk.ts'
import { Journal } from '../../src/mining/journal/journal.ts'
import type { JournalLine } from '../../src/mining/journal/record.ts'
import { fileCallsOf } from '../file-calls.ts'
import { readRecords } from './records.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function temporary(): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-disk-'))
  folders.push(path)
  return path
}

const hashOf = (name: string | number) => `${name}`.padEnd(43, '_')
const found = (name: string | number, at = '2026-11-22T10:00:00.000Z') =>
  ({
    ...{ at, hash: hashOf(name), step: 'found', network: 'testing', account: 'k:me', issuer: 'http://node.test' },
    ...{ chain: 3, height: 7, device: 'thread0', effort: 0.5, difficulty: 1000, work: 'A'.repeat(382) },
  }) as JournalLine

/** The disk of this machine with room for so many bytes. Each append writes at most seven of them. */
class SmallDisk {
  room = Number.POSITIVE_INFINITY
  open = 0

  readonly disk: Disk = {
    ...systemDisk,
    open: (path) => {
      const file = systemDisk.open(path)
      this.open++
      return {
        lastByte: file.lastByte,
        append: (bytes, from) => {
          if (this.room <= 0) throw new Error('ENOSPC: simulated')
          const length = file.append(bytes.subarray(0, from + Math.min(7, this.room)), from)
          this.room -= length
          return length
        },
        sync: (done) => done(null),
        close: () => {
          this.open--
          file.close()
        },
      }
    },
  }
}

function opened(path: string, disk?: Disk) {
  const said: string[] = []
  const onTrouble = (message: string) => void said.push(message)
  return { journal: Journal.open(path, { onTrouble, onRecovered: onTrouble }, disk), said }
}

const namesIn = async (path: string) => {
  const { records, damaged } = await readRecords(path)
  return [[...records.keys()].map((hash) => hash.replace(/_+$/, '')), damaged]
}

describe('full disk', () => {
  it('a full disk loses no line, and a line that it truncated is written again automatically', async () => {
    const [path, small] = [temporary(), new SmallDisk()]
    const { journal, said } = opened(path, small.disk)
    journal.append(found('a'))
    small.room = 100
    for (const name of ['b', 'c', 'd']) journal.append(found(name))
    expect(said).toEqual([expect.stringMatching(/^the journal cannot be written: ENOSPC: simulated; newcut still/)])
    small.room = Number.POSITIVE_INFINITY
    for (const name of ['e', 'f']) journal.append(found(name))
    expect(said.slice(1)).toEqual(['the journal can be written again'])
    expect(await namesIn(path)).toEqual([['a', 'b', 'c', 'd', 'e', 'f'], 1])
    expect(small.open, 'files left open').toBe(0)
  })

  it('a full disk delays the lines of two months, and each gets into its file', async () => {
    const [path, small] = [temporary(), new SmallDisk()]
    const { journal } = opened(path, small.disk)
    small.room = 0
    journal.append(found('a', '2026-10-31T23:59:59.999Z'))
    journal.append(found('b', '2026-11-01T00:00:00.000Z'))
    small.room = Number.POSITIVE_INFINITY
    journal.append(found('c', '2026-11-01T00:00:00.001Z'))
    const hashesIn = (name: string) => readFileSync(join(path, name), 'utf8').match(/(?<="hash":")\w/g)
    expect(hashesIn('blocks-2026-10.jsonl')).toEqual(['a'])
    expect(hashesIn('blocks-2026-11.jsonl')).toEqual(['b', 'c'])
  })

  it('a full disk loses the oldest lines once ten thousand are waiting', () => {
    let isFull = true
    const lines: string[] = []
    const append = (bytes: Uint8Array) => {
      lines.push(Buffer.from(bytes).toString())
      return bytes.length
    }
    const file = { lastByte: () => null, append, sync: () => undefined, close: () => undefined }
    const open = () => {
      if (isFull) throw new Error('ENOSPC: simulated')
      return file
    }
    const quiet = { onTrouble: () => undefined, onRecovered: () => undefined }
    const journal = Journal.openLater('/journal', quiet, { ...systemDisk, makeFolder: () => undefined, open })
    const named = { at: '2026-11-22T10:00:00.000Z', hash: hashOf('a') }
    for (let depth = 1; depth <= 10_005; depth++) journal.append({ ...named, step: 'confirmed', depth })
    isFull = false
    // This line takes a place too.
    journal.append(found('a'))
    expect(lines).toHaveLength(10_000)
    expect([lines[0], lines.at(-2), lines.at(-1)]).toEqual(
      ['"depth":7,', '"depth":10005,', '"step":"found"'].map((part) => expect.stringContaining(part)),
    )
  })
})

describe('folder of the journal', () => {
  it('the folder of the journal is made again if someone removed it', async () => {
    const path = join(temporary(), 'state')
    const { journal, said } = opened(path)
    rmSync(path, { recursive: true })
    for (const name of ['a', 'b']) journal.append(found(name))
    expect(said).toEqual([expect.stringMatching(/ENOENT/), 'the journal can be written again'])
    expect(await namesIn(path)).toEqual([['a', 'b'], 0])
  })

  it('the folder of the journal may contain other files of any name', async () => {
    const path = temporary()
    const { journal } = opened(path)
    journal.append(found('a'))
    const [name] = readdirSync(path).filter((each) => each.startsWith('blocks-2026-11'))
    for (const other of [`${name}.bak`, `old-${name}`, 'blocks-26-11.jsonl']) writeFileSync(join(path, other), 'x\n')
    expect(await namesIn(path)).toEqual([['a'], 0])
  })

  it('an unreadable folder of the journal is not an empty one', async () => {
    const path = join(temporary(), 'file')
    writeFileSync(path, '')
    await expect(readJournal(path)).rejects.toThrow(/cannot read the journal in .*file: ENOTDIR/)
  })

  it('the folder of the journal is read by month, in whatever order the disk lists its files', async () => {
    const path = temporary()
    const { journal } = opened(path)
    for (const month of ['09', '10', '11']) journal.append(found(month, `2026-${month}-22T10:00:00.000Z`))
    for (const list of [readdirSync, (folder: string) => readdirSync(folder).reverse()]) {
      const { records } = await readRecords(path, { disk: { ...systemDisk, list } })
      expect([...records.keys()]).toEqual(['09', '10', '11'].map(hashOf))
    }
  })
})

describe('slow disk', () => {
  it('a disk that fails between two syncs causes a warning', () => {
    const syncs: ((error: Error | null) => void)[] = []
    let isGone = false
    const open: Disk['open'] = (path) => {
      if (isGone) throw new Error('EIO: simulated')
      return { ...systemDisk.open(path), sync: (done) => void syncs.push(done) }
    }
    const { journal, said } = opened(temporary(), { ...systemDisk, open })
    for (const name of ['a', 'b']) journal.append(found(name))
    isGone = true
    syncs[0](null)
    expect(said).toEqual([
      expect.stringMatching(/^the journal does not get onto its disk: EIO: simulated; newcut still/),
    ])
  })

  it('the reader of a long journal lets other tasks of the process run', async () => {
    const path = temporary()
    const line = `${JSON.stringify(found('a'))}\n`
    writeFileSync(join(path, 'blocks-2026-11.jsonl'), line.repeat(Math.ceil(2 ** 25 / line.length)))
    let [turns, isReading] = [0, true]
    const turn = () => {
      turns++
      if (isReading) setImmediate(turn)
    }
    setImmediate(turn)
    const { table } = await readJournal(path)
    isReading = false
    expect(table.rows).toBe(1)
    expect(turns, 'one for each 8 MiB').toBeGreaterThanOrEqual(3)
  })
})

describe('disk of this machine', () => {
  it('the disk of this machine flushes appended bytes', () => {
    const path = join(temporary(), 'file')
    const code = `
      const file = module.systemDisk.open(${JSON.stringify(path)})
      file.append(Buffer.from('abc'), 0)
      file.sync(() => file.close())
    `
    expect(fileCallsOf('mining/journal/disk', code)).toEqual(['open', 'write', 'fdatasync', 'close'])
  })

  it('the disk of this machine appends the rest of a line', () => {
    const path = join(temporary(), 'file')
    const file = systemDisk.open(path)
    expect(file.lastByte()).toBe(null)
    expect(file.append(Buffer.from('abc'), 0)).toBe(3)
    expect(file.append(Buffer.from('abcdef'), 3)).toBe(3)
    expect(file.lastByte()).toBe('f'.charCodeAt(0))
    file.close()
    expect(readFileSync(path, 'utf8')).toBe('abcdef')
  })

  it('the disk of this machine leaves no file open that it has read', () => {
    const path = join(temporary(), 'file')
    writeFileSync(path, 'abc')
    /** The lowest descriptor that no file has. */
    const free = () => {
      const file = openSync(path, 'r')
      closeSync(file)
      return file
    }
    const before = free()
    const bytes = new Uint8Array(4)
    for (let n = 0; n < 100; n++) expect(systemDisk.readAt(path, bytes, 1)).toBe(2)
    expect(free()).toBeLessThan(before + 50)
    expect([...bytes.subarray(0, 2)]).toEqual([...Buffer.from('bc')])
  })
})
