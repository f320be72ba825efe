/** A sealed log finds flips, cuts, missing lines and lines that changed places. */
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  HashChain,
  isUnfinishedLine,
  LogDamage,
  type LogDisk,
  type LogFiles,
  machineDisk,
  readLog,
  readSealedLine,
  SealedLog,
  sealedLine,
} from '../../src/ground/base/sealed-log.ts'
import { fileCallsOf } from '../file-calls.ts'
import { itWith } from '../needs.ts'

let folder: string
let files: LogFiles
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'newcut-sealed-'))
  files = { path: join(folder, 'log.jsonl'), endPath: join(folder, 'log.end') }
})
afterEach(() => rmSync(folder, { recursive: true }))

const LINES = ['{"n":1,"name":"ä"}', '{"n":2}', '{"n":3,"seal":"no"}', '{"n":4}']

/** Appends each line by itself. */
function append(...lines: readonly string[]): void {
  const log = SealedLog.open(files)
  for (const line of lines) log.append([line])
  log.close()
}

const text = () => readFileSync(files.path, 'utf8')
const linesOf = () => text().split('\n').slice(0, -1)
const write = (lines: readonly string[]) => writeFileSync(files.path, lines.map((line) => `${line}\n`).join(''))
const read = () => readLog(files).lines

/** Flips each bit of a file. @returns the bits whose flip is not found */
function unseenFlips(path: string): number[] {
  const unseen: number[] = []
  const right = readFileSync(path)
  const file = openSync(path, 'r+')
  for (let bit = 0; bit < 8 * right.length; bit++) {
    const at = bit >> 3
    writeSync(file, Uint8Array.of(right[at] ^ (1 << (bit & 7))), 0, 1, at)
    try {
      read()
      unseen.push(bit)
    } catch (error) {
      if (!(error instanceof LogDamage)) throw error
    }
    writeSync(file, right, at, 1, at)
  }
  closeSync(file)
  return unseen
}

it('a sealed log reads back what several writers appended, and the file is JSON', () => {
  expect(read()).toEqual([])
  append(LINES[0])
  append(...LINES.slice(1))
  expect(read()).toEqual(LINES)
  expect(linesOf().map((line) => JSON.parse(line).n)).toEqual([1, 2, 3, 4])
  // The format is fixed: files of this version must stay readable.
  expect(linesOf()[1]).toBe('{"n":2,"seal":"1.--XPk7Za_dyx"}')
})

it.each(['path', 'endPath'] as const)('a sealed log detects every flipped bit (%s)', (name) => {
  append(...LINES)
  expect(unseenFlips(files[name])).toEqual([])
  expect(read()).toEqual(LINES)
})

it('a sealed log detects lines that are missing, swapped, repeated or of another log', () => {
  append(...LINES)
  const [a, b, c, d] = linesOf()
  for (const [lines, line] of [
    [[b, c, d], 1],
    [[a, c, d], 2],
    [[a, b, d], 3],
    [[b, a, c, d], 1],
    [[a, b, b, c, d], 3],
    [[a, b, c, d, d], 5],
  ] as const) {
    write(lines)
    expect(read).toThrow(`line ${line} is damaged: its seal does not fit it and the lines before it`)
    expect(() => append('{"n":5}')).toThrow(`line ${line} is damaged`)
  }
})

describe('a cut', () => {
  it('a cut in the last line is the end of an append that crashed; a cut before is damage', () => {
    append(...LINES)
    const whole = readFileSync(files.path)
    const lastLine = whole.lastIndexOf('\n', whole.length - 2) + 1
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(files.path, whole.subarray(0, length))
      if (length < lastLine - 1)
        expect(read, `${length} bytes`).toThrow(/line 3 is damaged: it is missing, as \S+ shows/)
      else expect(read()).toEqual(length === whole.length - 1 ? LINES : LINES.slice(0, 3))
    }
  })

  it('the next writer mends a log that was cut in its last line', () => {
    append(...LINES)
    const whole = readFileSync(files.path)
    for (const bytes of [whole.subarray(0, -1), whole.subarray(0, -5)]) {
      writeFileSync(files.path, bytes)
      append('{"n":5}')
      expect(read()).toEqual([...(bytes.length === whole.length - 1 ? LINES : LINES.slice(0, 3)), '{"n":5}'])
      writeFileSync(files.path, whole)
      rmSync(files.endPath)
    }
  })

  it('a cut log is not mistaken for a flipped newline', () => {
    append(...LINES)
    writeFileSync(files.path, `${text().slice(0, -1)}\v`)
    expect(read).toThrow('line 4 is damaged: text follows its end')
  })
})

describe('a file without seals', () => {
  it('the first new line of a file without seals seals all earlier lines', () => {
    write(LINES.slice(0, 2))
    expect(read()).toEqual(LINES.slice(0, 2))
    expect(readLog(files).chain.unsealed).toBe(2)
    append(LINES[2])
    expect(linesOf().slice(0, 2)).toEqual(LINES.slice(0, 2))
    expect(read()).toEqual(LINES.slice(0, 3))
    expect(readLog(files).chain.unsealed).toBe(0)
    expect(unseenFlips(files.path)).toEqual([])
  })

  it('a file without seals may end within a line; a line that lacks only its newline counts', () => {
    for (const [rest, count] of [
      ['{"n":', 2],
      ['{"n":3}', 3],
    ] as const) {
      write(LINES.slice(0, 2))
      writeFileSync(files.path, text() + rest)
      expect(read()).toHaveLength(count)
    }
    writeFileSync(files.path, `${LINES[0]}\n${LINES[1]}\v`)
    expect(read).toThrow('line 2 is damaged: text follows its end')
  })

  it('unsealed lines cannot follow sealed lines', () => {
    append(...LINES)
    write([...linesOf(), '{"n":5}'])
    expect(read).toThrow('line 5 is damaged: it has no seal, but the line before it has one')
  })
})

it('a seal of a later version is refused by name', () => {
  append(...LINES)
  write(linesOf().map((line) => line.replace('"1.', '"2.')))
  expect(read).toThrow('line 1 is damaged: its seal has the version 2, and this newcut knows 1')
})

it('the reader checks each line as it comes', () => {
  append(...LINES)
  const chain = new HashChain('a log')
  expect(linesOf().map((line) => chain.take(Buffer.from(line)))).toEqual(LINES)
  expect(chain.end.lines).toBe(4)
  expect(() => chain.take(Buffer.from(linesOf()[0]))).toThrow('a log: line 5 is damaged')
})

describe('the end file', () => {
  it('the end file of another log does not fit, whatever the number of lines', () => {
    append(...LINES)
    const other = join(folder, 'other.end')
    copyFileSync(files.endPath, other)
    for (const path of Object.values(files)) rmSync(path)
    append('{"n":1}', ...LINES.slice(1))
    copyFileSync(other, files.endPath)
    expect(read).toThrow(/line 3 is damaged: it is another line, as \S+ shows/)
  })

  it.each(['{"lines":1,"last":"a"}\n', '{"lines":0,"last":""}\n'])(
    'an end file without a seal is damage: %j',
    (content) => {
      append(...LINES)
      writeFileSync(files.endPath, content)
      expect(read).toThrow(`${files.endPath}: line 1 is damaged: it is not as newcut wrote it`)
    },
  )
})

describe('the lines of a file without an order', () => {
  const [line] = sealedLine('{"n":1}').split('\n')

  it('lines without an order have seals of their own', () => {
    expect(readSealedLine(Buffer.from(line))).toBe('{"n":1}')
    expect(readSealedLine(Buffer.from(line.replace('1', '2')))).toBeNull()
  })

  it('lines without an order end with an unfinished one, unless it is whole or others follow', () => {
    expect(isUnfinishedLine(Buffer.from(line.slice(0, -3)))).toBe(true)
    for (const text of [line, `${line}\v`, `${line}\v${line}`]) expect(isUnfinishedLine(Buffer.from(text))).toBe(false)
  })
})

/** The disk of this machine, and what a log asks of it. An append of `failing` fails. */
function heardDisk(failing = '') {
  const asked: string[] = []
  const disk: LogDisk = {
    read: (path) => {
      asked.push(`read ${basename(path)}`)
      return machineDisk.read(path)
    },
    open: (path) => {
      const file = machineDisk.open(path)
      return {
        append: (text) => {
          asked.push('append')
          if (failing !== '' && text.includes(failing)) throw new Error('the disk is full')
          file.append(text)
        },
        truncate: (bytes) => file.truncate(bytes),
        sync: () => {
          asked.push('sync')
          file.sync()
        },
        close: () => {
          asked.push('close')
          file.close()
        },
      }
    },
    replace: (path, content) => {
      asked.push(`replace ${basename(path)}`)
      machineDisk.replace(path, content)
    },
  }
  return { disk, asked: () => asked.splice(0) }
}

describe('on its disk, a log', () => {
  it('a log writes its end before the lines that follow, and returns after the sync', () => {
    const { disk, asked } = heardDisk()
    const log = SealedLog.open({ ...files, disk })
    expect(asked(), 'a writer may append meanwhile').toEqual(['read log.end', 'read log.jsonl', 'sync'])
    log.append(LINES.slice(0, 2))
    expect(asked()).toEqual(['append', 'sync'])
    log.append(LINES.slice(2))
    expect(asked()).toEqual(['replace log.end', 'append', 'sync'])
    log.close()
    expect(asked()).toEqual(['close'])
    expect(read()).toEqual(LINES)
  })

  it('a log takes no more lines after a failed write', () => {
    const log = SealedLog.open({ ...files, disk: heardDisk('"n":2').disk })
    log.append([LINES[0]])
    for (const line of LINES.slice(1)) expect(() => log.append([line])).toThrow('the disk is full')
    log.close()
    expect(read()).toEqual(LINES.slice(0, 1))
  })

  it('a damaged log is closed', () => {
    append(...LINES)
    write(linesOf().slice(1))
    const { disk, asked } = heardDisk()
    expect(() => SealedLog.open({ ...files, disk })).toThrow(LogDamage)
    expect(asked().at(-1)).toBe('close')
  })

  it('a log is readable for its owner alone', () => {
    append(...LINES)
    for (const path of Object.values(files)) expect(statSync(path).mode & 0o077).toBe(0)
  })

  it('an unreadable log does not count as empty', () => {
    mkdirSync(files.path)
    expect(read).toThrow('EISDIR')
  })

  itWith(
    process.platform === 'win32' ? 'Windows cannot sync folders' : null,
    'a log outlives a power cut: its folder has a new file before the file has lines',
    () => {
      const code = `module.SealedLog.open(${JSON.stringify(files)}).append(['{"n":1}'])`
      const calls = fileCallsOf('ground/base/sealed-log', code).filter((call) => call === 'fsync' || call === 'write')
      expect(calls, 'folder, empty file, line, file').toEqual(['fsync', 'fsync', 'write', 'fsync'])
    },
  )
})
