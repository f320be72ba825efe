import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { readCases } from '../../src/client/conformance/case-file.ts'
import { fileText } from '../../src/commands/input/code-argument.ts'
import { unpackState } from '../../src/devnet/data/state-file.ts'
import { readConfigFile } from '../../src/faces/cli/config-file.ts'
import { fileProblem } from '../../src/ground/base/errors.ts'
import { openUserFile, readBounded, readUserFile, readUserText } from '../../src/ground/base/user-file.ts'
import { cutText } from '../../src/language/copy/network-copy.ts'
import { diskFiles } from '../../src/language/editor/workspace/disk-files.ts'
import { Workspace } from '../../src/language/editor/workspace/workspace.ts'
import { tlsServer } from '../../src/mining/engine/stratum/tls.ts'
import { contractIn } from '../contracts/contract-in.ts'
import { itWith } from '../needs.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-user-file-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

const pipe = at('pipe')
execFileSync('mkfifo', [pipe])
const zero = at('zero')
symlinkSync('/dev/zero', zero)
const pipeLink = at('pipe-link')
symlinkSync(pipe, pipeLink)

const unsuitable = [
  ['a device', '/dev/zero', 'it is a device, not a regular file'],
  ['a link to a device', zero, 'it is a device, not a regular file'],
  ['a named pipe', pipe, 'it is a named pipe, not a regular file'],
  ['a link to a named pipe', pipeLink, 'it is a named pipe, not a regular file'],
] as const

const thrownBy = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return 'nothing was thrown'
}

describe('the reader of a file that a user names', () => {
  it('readUserFile reads a file directly and through a link', () => {
    writeFileSync(at('text'), 'a \u00fc')
    symlinkSync(at('text'), at('link'))
    expect(readUserText(at('text'))).toBe('a \u00fc')
    expect(readUserText(at('link'))).toBe('a \u00fc')
    expect(readUserFile(at('text'), 4)).toHaveLength(4)
  })

  it('readUserFile refuses a file above its limit without reading it', () => {
    writeFileSync(at('large'), '')
    truncateSync(at('large'), 1e12)
    expect(fileProblem(thrownBy(() => readUserFile(at('large'))))).toBe('it has more than 16777216 bytes')
    expect(fileProblem(thrownBy(() => readUserFile(at('text'), 3)))).toBe('it has more than 3 bytes')
  })

  it('readUserFile reads a descriptor up to exactly the limit', () => {
    writeFileSync(at('four'), 'four')
    const read = (maxBytes: number) => {
      const file = openUserFile(at('four'))
      try {
        return readBounded(file, maxBytes).toString()
      } finally {
        closeSync(file)
      }
    }
    expect(read(4)).toBe('four')
    expect(fileProblem(thrownBy(() => read(3)))).toBe('it has more than 3 bytes')
  })

  it('readUserFile reads a file of several pieces unchanged', () => {
    const pieces = Buffer.from(Uint32Array.from({ length: 50_000 }, (_, n) => n).buffer)
    writeFileSync(at('pieces'), pieces)
    expect(readUserFile(at('pieces')).equals(pieces)).toBe(true)
  })

  it('readUserFile closes each file, even one that is too long', () => {
    /** The lowest descriptor that no file has. */
    const free = () => {
      const file = openSync(at('text'), 'r')
      closeSync(file)
      return file
    }
    const before = free()
    for (let n = 0; n < 100; n++) thrownBy(() => readUserFile(at('text'), n % 2 === 0 ? 3 : 4))
    expect(free()).toBeLessThan(before + 50)
  })

  itWith(
    process.platform === 'linux' ? null : 'only Linux has /proc',
    'readBounded stops at the limit in a file without a size',
    () => {
      expect(fileProblem(thrownBy(() => readUserFile('/proc/self/status', 10)))).toBe('it has more than 10 bytes')
    },
  )

  it.each(unsuitable)('readUserFile refuses %s at once, with a text', (_, path, problem) => {
    expect(fileProblem(thrownBy(() => readUserFile(path)))).toBe(problem)
    expect(fileProblem(thrownBy(() => openUserFile(path)))).toBe(problem)
  })

  it('readUserFile refuses a folder and a socket with a text', async () => {
    mkdirSync(at('folder'))
    expect(fileProblem(thrownBy(() => readUserFile(at('folder'))))).toBe('it is a folder (EISDIR)')
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(at('socket'), resolve))
    onTestFinished(() => void server.close())
    expect(fileProblem(thrownBy(() => readUserFile(at('socket'))))).toBe('it is a socket, not a regular file')
  })

  itWith(
    process.platform === 'win32' ? 'Windows has no /dev/null' : null,
    'readUserText takes /dev/null for an empty file',
    () => {
      expect(readUserText('/dev/null')).toBe('')
    },
  )

  it('readUserFile reports a missing file', () => {
    expect(fileProblem(thrownBy(() => readUserFile(at('absent'))))).toBe('it does not exist (ENOENT)')
  })
})

describe.each(unsuitable)('%s', (name, path, problem) => {
  it(`a test file that loads ${name} ends with a text`, async () => {
    writeFileSync(at('load.repl'), `(load "${path}")`)
    const { status, lines } = await contractIn(folder, ['load.repl'])
    expect(lines.join('\n')).toContain(problem)
    expect(status).toBe(1)
  })

  it(`the language server reports that a test file loads ${name}`, () => {
    const live = { areVirtual: true, onArrival: () => undefined, onTrouble: () => undefined }
    const workspace = new Workspace(diskFiles([folder]), null, live)
    workspace.change(at('a.repl'), `(load "${path}")`)
    expect(workspace.findings(at('a.repl')).map(({ message }) => message)).toEqual([`cannot read ${path}: ${problem}`])
  })

  it(`the readers of code, configuration, certificates, cuts and states refuse ${name}`, async () => {
    expect(() => fileText(path)).toThrow(`cannot read ${path}: ${problem}`)
    expect(() => readConfigFile(path)).toThrow(`configuration file ${path}: ${problem}`)
    expect(() => tlsServer({ cert: path, key: path }, () => undefined)).toThrow(problem)
    expect(() => cutText(path)).toThrow(`\`fork.cut: ${path}\`: ${problem}`)
    await expect(unpackState(path)).rejects.toThrow(problem)
  })

  it(`the reader of conformance cases refuses ${name}`, () => {
    const cases = mkdtempSync(at('cases-'))
    symlinkSync(path, join(cases, 'a.json'))
    expect(() => readCases(cases)).toThrow(`${join(cases, 'a.json')}: ${problem}`)
  })
})
