/** Native parts are compiled once for a machine and its sources, and code that others may have written never runs. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { storeInCache } from '../../src/mining/engine/native/cache.ts'
import { cachedFile, installedFile, type NativePart } from '../../src/mining/engine/native/part.ts'
import { cachePart, installPart } from '../../src/mining/engine/native/provide.ts'
import { describeWith, itWith } from '../needs.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const top = mkdtempSync(join(tmpdir(), 'newcut spaces and ümlaut-'))
afterAll(() => rmSync(top, { recursive: true }))

const noCompiler = spawnSync('cc', ['--version']).status === 0 ? null : 'cc is not installed: apt-get install gcc'

const TWO = '#include "two.h"\nint two(void) { return TWO; }\n'
const MAIN = `#define NAPI_VERSION 8
#include <node_api.h>
int two(void);
NAPI_MODULE_INIT() {
  napi_value value;
  napi_create_int32(env, two(), &value);
  napi_set_named_property(env, exports, "two", value);
  return exports;
}
`

let count = 0
let folder: string
let part: NativePart
let env: { readonly PATH: string | undefined; readonly XDG_CACHE_HOME: string; readonly CC: string }
let calls: string

/** A small part with two units, its output folder, an own cache, and a compiler that records its calls. */
beforeEach(() => {
  folder = join(top, String(count++))
  mkdirSync(join(folder, 'sources'), { recursive: true })
  writeFileSync(join(folder, 'sources/main.c'), MAIN)
  writeFileSync(join(folder, 'sources/two.c'), TWO)
  writeFileSync(join(folder, 'sources/two.h'), '#define TWO 2\n')
  part = {
    name: 'send',
    title: 'small part',
    units: ['main.c', 'two.c'],
    headers: ['two.h'],
    options: ['-O1'],
    folder: relative(root, join(folder, 'sources')),
    output: relative(root, join(folder, 'build')),
    extension: 'node',
  }
  calls = join(folder, 'calls')
  // The command of a compiler has no spaces.
  const compiler = mkdtempSync(join(tmpdir(), 'newcut-cc-'))
  writeFileSync(join(compiler, 'cc'), `#!/bin/sh\necho called >> '${calls}'\nexec cc "$@"\n`, { mode: 0o755 })
  env = { PATH: process.env.PATH, XDG_CACHE_HOME: join(folder, 'cache'), CC: join(compiler, 'cc') }
  return () => rmSync(compiler, { recursive: true })
})

const compiled = () => existsSync(calls)
const install = () => {
  rmSync(calls, { force: true })
  return installPart(part, env)
}
const loaded = () => createRequire(import.meta.url)(installedFile(part))
const cached = () => cachedFile(part, env)

describeWith(noCompiler, 'a native part', () => {
  it('the native kernel is compiled once: the next installation of the same sources takes it from the cache', async () => {
    expect(await install()).toBe(`small part compiled with ${env.CC}`)
    expect(loaded()).toEqual({ two: 2 })
    rmSync(join(folder, 'build'), { recursive: true })
    expect(await install()).toBe(`small part: taken from ${dirname(cached())}`)
    expect(compiled()).toBe(false)
    expect(loaded()).toEqual({ two: 2 })
  })

  it.each([
    ['a unit', () => writeFileSync(join(folder, 'sources/two.c'), TWO.replace('return TWO', 'return TWO + 1'))],
    ['a header', () => writeFileSync(join(folder, 'sources/two.h'), '#define TWO 3\n')],
  ])('the native kernel is compiled again if %s changes, and the old build is deleted', async (_, change) => {
    await install()
    change()
    expect(await install()).toBe(`small part compiled with ${env.CC}`)
    expect(loaded()).toEqual({ two: 3 })
    expect(readdirSync(join(folder, 'build'))).toHaveLength(1)
  })

  it('the native kernel is compiled again if the cached file is incomplete', async () => {
    await install()
    truncateSync(cached(), 100)
    expect(await install()).toBe(`small part compiled with ${env.CC}`)
    expect(loaded()).toEqual({ two: 2 })
    expect(await install()).toBe(`small part: taken from ${dirname(cached())}`)
  })

  it.each([
    [
      'others may write to the file',
      () => chmodSync(cached(), 0o602),
      () => `others may write to ${cached()} (mode 602)`,
    ],
    [
      'a group may write to the folder',
      () => chmodSync(dirname(cached()), 0o770),
      () => `others may write to ${dirname(cached())} (mode 770)`,
    ],
    [
      'the file is a link',
      () => {
        rmSync(cached())
        symlinkSync(installedFile(part), cached())
      },
      () => `${cached()} is a link`,
    ],
  ])('the native kernel does not come from the cache if %s', async (_, spoil, reason) => {
    await install()
    spoil()
    const said = `small part compiled with ${env.CC}, and not kept for the next installation: ${reason()}`
    expect(await install()).toEqual(said)
    expect(compiled()).toBe(true)
    expect(loaded()).toEqual({ two: 2 })
  })

  const noRoot = process.getuid?.() === 0 ? null : 'only root can give a file to another user'
  itWith(noRoot, 'the native kernel is neither read from nor written to a cache of another user', async () => {
    await install()
    chownSync(dirname(cached()), 12_345, 12_345)
    const before = readdirSync(dirname(cached()))
    const reason = `${dirname(cached())} belongs to another user`
    expect(await install()).toBe(
      `small part compiled with ${env.CC}, and not kept for the next installation: ${reason}`,
    )
    rmSync(cached())
    expect(await install()).toContain(`: ${reason}`)
    expect(readdirSync(dirname(cached()))).toEqual(before.filter((name) => !name.endsWith('.node')))
  })

  it('the native kernel is cached below a folder where anybody may write, but only owners may replace', async () => {
    const sticky = join(folder, 'sticky')
    mkdirSync(sticky)
    chmodSync(sticky, 0o1777)
    env = { ...env, XDG_CACHE_HOME: join(sticky, 'cache') }
    expect(await install()).toBe(`small part compiled with ${env.CC}`)
    expect(await install()).toBe(`small part: taken from ${dirname(cached())}`)
  })

  it('the native kernel is built without a writable cache folder, and a line says so', async () => {
    writeFileSync(join(folder, 'cache'), '')
    expect(await install()).toMatch(/^small part compiled with .*, and not kept for the next installation: ENOTDIR: /)
    expect(loaded()).toEqual({ two: 2 })
  })

  it('the native kernel goes into a private folder of the cache', async () => {
    expect(await cachePart(part, cached(), env)).toBe(`small part compiled with ${env.CC}`)
    expect(readFileSync(`${cached()}.sha256`, 'utf8')).toMatch(/^[0-9a-f]{64}$/)
    expect(existsSync(join(folder, 'build'))).toBe(false)
    expect(await install()).toBe(`small part: taken from ${dirname(cached())}`)
  })

  it('the native kernel has at most eight builds in the cache', () => {
    const place = (i: number) => join(folder, `cache/newcut/native/send-${i}.node`)
    writeFileSync(join(folder, 'build'), 'compiled')
    for (let i = 0; i < 9; i++) expect(storeInCache(join(folder, 'build'), place(i))).toBeNull()
    const names = readdirSync(dirname(place(0)))
    expect(names.filter((name) => name.endsWith('.node'))).toHaveLength(8)
    expect(names.filter((name) => name.endsWith('.sha256'))).toHaveLength(8)
    expect(existsSync(place(8))).toBe(true)
  })
})

it.each([
  ['there is no compiler', 'no-such-compiler', /^no small part: there is no C compiler no-such-compiler$/],
  ['the compiler fails', `${process.execPath} -e process.exit(1)`, /^no small part: .* failed: .+$/],
])('an installation without a part succeeds: %s, and the old build is deleted', async (_, CC, said) => {
  mkdirSync(join(folder, 'build'))
  writeFileSync(installedFile(part), 'old')
  expect(await installPart(part, { ...env, CC })).toMatch(said)
  expect(existsSync(installedFile(part))).toBe(false)
})

it('an installation without its sources says so in one line', async () => {
  rmSync(join(folder, 'sources'), { recursive: true })
  expect(await installPart(part, env)).toMatch(/^no small part: .* failed: .*error: .*\.c/)
})
