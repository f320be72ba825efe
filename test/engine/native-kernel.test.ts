import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { chooseKernel } from '../../src/mining/engine/cpu/kernels.ts'
import type { KernelPreference } from '../../src/mining/engine/cpu/names.ts'
import { provideNativeKernel } from '../../src/mining/engine/cpu/native-build.ts'
import { chooseNative, loadChosen, NO_NATIVE } from '../../src/mining/engine/cpu/native-choice.ts'
import { findNative, KERNEL } from '../../src/mining/engine/cpu/native-files.ts'
import { loadNative, type NativeAddon, nativeNames } from '../../src/mining/engine/cpu/native-kernel.ts'
import { storeInCache } from '../../src/mining/engine/native/cache.ts'
import { compilePart } from '../../src/mining/engine/native/compile.ts'
import { describeWith, itWith } from '../needs.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-native-'))
afterAll(() => rmSync(folder, { recursive: true }))

const noCompiler = spawnSync('cc', ['--version']).status === 0 ? null : 'cc is not installed: apt-get install gcc'
const built = loadChosen(chooseNative())
const here = nativeNames.filter((name) => name in built.sweeps)
const [widest] = here
const narrowest = here[here.length - 1]

function choose(preference: KernelPreference, addon: NativeAddon) {
  const { kernel, refused, note } = chooseKernel(286, preference, randomBytes, new Set(), () => addon)
  return { name: kernel?.name ?? null, refused, ...(note !== null && { note }) }
}

const noKernel = built.obstacle === null ? null : `there is no native kernel (${built.obstacle}): npm run install`

describeWith(noKernel, `choice among native kernels (${here.join(', ')})`, () => {
  it('the choice "native" takes the widest kernel of the processor, without a message about wider ones', () => {
    expect(choose('native', built)).toEqual({ name: widest, refused: [] })
    const narrow = { sweeps: { [narrowest]: built.sweeps[narrowest] }, obstacle: null }
    expect(choose('native', narrow)).toEqual({ name: narrowest, refused: [] })
  })

  it('the choice "auto" takes a native kernel or WebAssembly, without a message about others', () => {
    const { name, refused } = choose('auto', built)
    expect([...here, 'wasm']).toContain(name)
    expect(refused).toEqual([])
  })

  it('the choice "auto" compiles a WebAssembly kernel only if there is no wide native kernel', () => {
    const { WebAssembly } = globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } }
    const compile = vi.spyOn(WebAssembly, 'Module')
    try {
      for (const name of here) {
        compile.mockClear()
        choose('auto', { sweeps: { [name]: built.sweeps[name] }, obstacle: null })
        expect(compile.mock.calls.length, name).toEqual(name === 'native-sse41' ? 1 : 0)
      }
    } finally {
      compile.mockRestore()
    }
  })

  it('the name of a kernel chooses that kernel or none', () => {
    for (const name of here) expect(choose(name, built)).toEqual({ name, refused: [] })
    const addon = { sweeps: { [narrowest]: built.sweeps[narrowest] }, obstacle: null }
    const other = narrowest === 'native-neon' ? 'native-avx2' : 'native-neon'
    const lack = narrowest === 'native-neon' ? 'AVX2' : 'NEON'
    const refused = [`kernel ${other} does not run here: this processor has no ${lack}`]
    expect(choose(other, addon)).toEqual({ name: null, refused })
  })

  it('the choice "native" reports a kernel that fails its self-test, and takes the next', () => {
    const addon = { sweeps: { ...built.sweeps, [widest]: () => 0 }, obstacle: null }
    const refused = [expect.stringMatching(`kernel ${widest} failed its self-test: .* it returned 0 instead of`)]
    expect(choose('native', addon)).toEqual({ name: here[1] ?? null, refused })
  })

  it('a sweep without a valid job throws instead of reading past its memory', () => {
    const sweep = built.sweeps[widest]
    const jobs = [new Uint32Array(26), new Int32Array(27), new Uint32Array(27).fill(16), null]
    for (const job of jobs) expect(() => sweep?.(job as Uint32Array, 0, 64)).toThrow(TypeError)
    expect(() => sweep?.(new Uint32Array(27), 0, 65_537)).toThrow(TypeError)
  })
})

describe('without native kernels', () => {
  const broken = join(folder, 'broken.node')
  const empty = join(folder, 'empty.cjs')
  beforeAll(() => {
    writeFileSync(broken, 'built for another system')
    writeFileSync(empty, 'module.exports = {}')
  })

  it.each([
    ['a missing file', join(folder, 'missing.node'), /^kernel native is not built$/],
    ['a file of another system', broken, /^kernel native does not load: .+$/],
    [
      'a processor that has none',
      empty,
      /^kernel native does not run here: this processor has none of AVX-512, AVX2, /,
    ],
  ])(
    'the choice "auto" takes WebAssembly if the native kernels have %s, and gives the reason in a sentence',
    (_, file, sentence) => {
      const addon = loadNative(file)
      const refused = [expect.stringMatching(sentence)]
      expect(choose('auto', addon)).toEqual({ name: 'wasm', refused: [], note: expect.stringMatching(sentence) })
      expect(choose('native', addon)).toEqual({ name: null, refused })
      expect(choose('native-avx2', addon)).toEqual({ name: null, refused })
      for (const name of ['wasm', 'js'] as const) expect(choose(name, addon)).toEqual({ name, refused: [] })
    },
  )
})

itWith(noCompiler, 'the installation compiles a kernel that loads', async () => {
  const output = join(folder, 'compiled.node')
  expect(await compilePart({ part: KERNEL, output, compiler: 'cc' })).toBeNull()
  const { sweeps, obstacle } = loadNative(output)
  expect(obstacle).toBeNull()
  expect(Object.keys(sweeps)).toEqual(here)
})

describe('the native kernel if install scripts did not run', () => {
  const unstopped = new AbortController().signal
  let count = 0
  const places = () => {
    const own = join(folder, `cache-${count++}`)
    return {
      prebuilt: join(own, 'prebuilt.node'),
      installed: join(own, 'installed.node'),
      cached: join(own, 'newcut', 'kernel.node'),
    }
  }

  itWith(noCompiler, 'the native kernel is compiled once into the cache, and one line reports it', async () => {
    const own = places()
    const env = { ...process.env, CC: '' }
    const { choice, news } = await provideNativeKernel({ env, signal: unstopped, places: own, limitMs: 120_000 })
    expect(news).toEqual([expect.stringMatching(/^native kernel compiled with cc in \d+\.\d s, kept in .*newcut$/)])
    expect(choice).toEqual({ file: own.cached, origin: 'cached', obstacle: null, passedOver: [] })
    expect(readdirSync(dirname(own.cached))).toEqual(['kernel.node', 'kernel.node.sha256'])
    expect(await provideNativeKernel({ env, signal: unstopped, places: own })).toEqual({ choice, news: [] })
  })

  itWith(
    noCompiler,
    'the native kernel is compiled if the installed file does not load, and a line says so',
    async () => {
      const own = places()
      mkdirSync(dirname(own.installed), { recursive: true })
      writeFileSync(own.installed, '')
      const env = { ...process.env, CC: '' }
      const { choice, news } = await provideNativeKernel({ env, signal: unstopped, places: own, limitMs: 120_000 })
      const fault = 'the native kernel that was compiled at installation is not used: kernel native does not load: '
      expect(choice).toMatchObject({ file: own.cached, origin: 'cached', passedOver: [expect.stringContaining(fault)] })
      expect(news).toEqual([choice.passedOver[0], expect.stringMatching(/^native kernel compiled with cc/)])
    },
  )

  it('the native kernel is not compiled again if the cache has one, even if that does not load', async () => {
    const own = places()
    writeFileSync(join(folder, 'empty'), '')
    expect(storeInCache(join(folder, 'empty'), own.cached)).toBeNull()
    const { choice, news } = await provideNativeKernel({ env: process.env, signal: unstopped, places: own })
    expect(choice).toMatchObject({ file: null, obstacle: expect.stringMatching(/^kernel native does not load: /) })
    expect(news).toEqual(choice.passedOver)
    expect(readFileSync(own.cached, 'utf8')).toBe('')
  })

  it.each([
    ['there is no compiler', 'no-such-compiler', /^no native kernel: there is no C compiler no-such-compiler; Web/],
    [
      'the compiler fails',
      `${process.execPath} -e process.exit(1)`,
      /^no native kernel: .* failed: .*; WebAssembly is used instead$/,
    ],
  ])('the native kernel is reported as missing in one sentence when %s', async (_, CC, sentence) => {
    const own = places()
    const env = { ...process.env, CC }
    const { choice, news } = await provideNativeKernel({ env, signal: unstopped, places: own, limitMs: 60_000 })
    expect(news).toEqual([expect.stringMatching(sentence)])
    expect(choice).toEqual(NO_NATIVE)
    expect(existsSync(own.cached)).toBe(false)
  })

  it('the native kernel is not awaited if the compiler is slow', async () => {
    const CC = `${process.execPath} -e setTimeout(()=>0,15000) --`
    const env = { ...process.env, CC }
    const { news } = await provideNativeKernel({ env, signal: unstopped, places: places(), limitMs: 200 })
    const late = /^the native kernel is still being compiled after \d\.\d s: the next start uses it$/
    expect(news).toEqual([expect.stringMatching(late)])
  })

  it('the native kernel is not awaited if the engine stops meanwhile', async () => {
    const stop = new AbortController()
    const CC = `${process.execPath} -e setTimeout(()=>0,15000) --`
    const provided = provideNativeKernel({ env: { ...process.env, CC }, signal: stop.signal, places: places() })
    stop.abort()
    expect(await provided).toEqual({ choice: NO_NATIVE, news: [] })
  })

  it('the native kernel has a separate cache file for each compiler', () => {
    const file = (CC: string) => findNative({ XDG_CACHE_HOME: folder, LOCALAPPDATA: folder, CC }).cached
    expect(file('cc')).not.toBe(file('clang'))
    expect(file('cc')).toBe(file('cc'))
    expect(file('cc')).toContain(join(folder, 'newcut/native/kernel-'))
  })

  // The state after `npm ci --ignore-scripts`: compiled TypeScript and sources, but no build folder.
  itWith(noCompiler, 'the native kernel is compiled by the first search and used by the next', async () => {
    const root = join(folder, 'no-scripts')
    for (const part of ['dist', 'src/mining/engine/cpu/native', 'package.json']) {
      cpSync(fileURLToPath(new URL(`../../${part}`, import.meta.url)), join(root, part), { recursive: true })
    }
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'))
    const solve = (kernel: string) => {
      return spawnSync(
        process.execPath,
        [join(root, 'dist/src/main.js'), 'solve', '--kernel', kernel, 'f'.repeat(64)],
        {
          input: new Uint8Array(286),
          encoding: 'utf8',
          env: { PATH: process.env.PATH, XDG_CACHE_HOME: join(root, 'cache') },
        },
      )
    }
    const cache = join(root, 'cache/newcut/native')
    const first = solve('auto')
    expect(first.stderr).toMatch(/^newcut: (native kernel compiled|the native kernel is still being compiled).*\n$/)
    expect(first.status).toBe(0)
    while (!(existsSync(cache) ? readdirSync(cache) : []).some((name) => name.endsWith('.sha256'))) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(solve('native')).toMatchObject({ status: 0, stderr: '' })
  })
})
