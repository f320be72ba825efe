/** Atomic replacement of files, on a real file system. */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { prepareReplacement, replaceFile } from '../../src/ground/base/replace-file.ts'
import { fileCallsOf } from '../file-calls.ts'
import { itWith } from '../needs.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-replace-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

const modeOf = (path: string) => statSync(path).mode & 0o7777

it('a new file has the mode that the umask leaves, or the named one', () => {
  const here = folder()
  replaceFile(join(here, 'usual'), 'a')
  writeFileSync(join(here, 'plain'), 'a')
  replaceFile(join(here, 'private'), 'a', { mode: 0o600 })
  expect(modeOf(join(here, 'usual'))).toBe(modeOf(join(here, 'plain')))
  expect(modeOf(join(here, 'private'))).toBe(0o600)
  expect(readdirSync(here)).toHaveLength(3)
})

it('a replaced file keeps its owner and mode, unless a mode is named', () => {
  const here = folder()
  const file = join(here, 'file')
  writeFileSync(file, 'old')
  chmodSync(file, 0o640)
  replaceFile(file, [Buffer.from('ne'), Buffer.from('w')])
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(modeOf(file)).toBe(0o640)
  replaceFile(file, 'newer', { mode: 0o755 })
  expect(readFileSync(file, 'utf8')).toBe('newer')
  expect(modeOf(file)).toBe(0o755)
  expect(readdirSync(here)).toEqual(['file'])
})

it('root leaves a file with its owner, but for a named mode', ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root can give files away')
  const file = join(folder(), 'file')
  const prepared = prepareReplacement(file, 'a')
  prepared.commit()
  const given = { uid: 12_345, gid: 12_346 }
  chownSync(file, given.uid, given.gid)
  // The system takes this mode away from a file that gets another owner.
  chmodSync(file, 0o4755)
  replaceFile(file, 'b')
  expect(statSync(file)).toMatchObject(given)
  expect(modeOf(file)).toBe(0o4755)
  replaceFile(file, 'c', { mode: 0o600 })
  expect(statSync(file)).toMatchObject({ uid: 0, gid: process.getgid?.() })
})

it('the new content of a private file is private while it is written', () => {
  const here = folder()
  const file = join(here, 'file')
  writeFileSync(file, 'old')
  chmodSync(file, 0o600)
  const modes: number[] = []
  const parts = function* () {
    for (const name of readdirSync(here)) modes.push(modeOf(join(here, name)))
    yield Buffer.from('new')
  }
  replaceFile(file, parts())
  expect(modes).toEqual([0o600, 0o600])
})

itWith(
  process.platform === 'win32' ? 'Windows cannot sync folders' : null,
  'the new content is on disk before the file has it, and the name after',
  () => {
    const code = `module.replaceFile(${JSON.stringify(join(folder(), 'file'))}, 'a')`
    const calls = fileCallsOf('ground/base/replace-file', code)
    const named = ['write', 'fsync', 'rename']
    expect(calls.filter((call) => named.includes(call))).toEqual([...named, 'fsync'])
  },
)

it('replaceFile follows links', () => {
  const here = folder()
  writeFileSync(join(here, 'file'), 'old')
  symlinkSync('file', join(here, 'link'))
  replaceFile(join(here, 'link'), 'new')
  expect(readFileSync(join(here, 'file'), 'utf8')).toBe('new')
  expect(lstatSync(join(here, 'link')).isSymbolicLink()).toBe(true)
})

it('a failed or abandoned replacement leaves the old file, and no other file', () => {
  const here = folder()
  const file = join(here, 'file')
  writeFileSync(file, 'old')
  const broken = function* () {
    yield Buffer.from('half')
    throw new Error('no more')
  }
  expect(() => replaceFile(file, broken())).toThrow('no more')
  const prepared = prepareReplacement(file, 'new')
  expect(readdirSync(here)).toHaveLength(2)
  prepared.discard()
  expect(readdirSync(here)).toEqual(['file'])
  expect(readFileSync(file, 'utf8')).toBe('old')
  expect(() => replaceFile(join(here, 'none', 'file'), 'a')).toThrow('ENOENT')
  // A folder cannot be replaced by a file.
  mkdirSync(join(here, 'folder'))
  expect(() => replaceFile(join(here, 'folder'), 'a')).toThrow(/EISDIR|EEXIST|EPERM|ENOTEMPTY|EBUSY/)
  expect(readdirSync(here)).toEqual(['file', 'folder'])
})
