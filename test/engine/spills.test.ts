/**
 * Compilers keep a vector of nonces in registers. A word without a register goes to the stack and back, which costs a
 * store and a load. Two vectors of AVX2 take more than 600 stores, and are slower than one.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'
import { COMMON_OPTIONS } from '../../src/mining/engine/native/part.ts'
import { describeWith, itWith } from '../needs.ts'
import { rotating } from '../rotation.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-spills-'))
afterAll(() => rmSync(folder, { recursive: true }))
const { include_dir: include } = createRequire(import.meta.url)('node-api-headers') as { include_dir: string }
const native = fileURLToPath(new URL('../../src/mining/engine/cpu/native/', import.meta.url))

const compilers = ['gcc-10', 'gcc-11', 'gcc-12', 'gcc-13', 'gcc-14'].concat([
  'clang-14',
  'clang-15',
  'clang-16',
  'clang-17',
  'clang-18',
  'clang-19',
])
/** Vector stores to the stack in a whole function. About 30 come before the loop, for what all nonces share. */
const MOST: Readonly<Record<string, number>> = { single: 110, staggered: 40, mixed: 40 }
const STORE = /^\s*v?mov(?:dqa|dqu|aps|ups)\w*\s+%[xy]mm\d+, *-?\d*\(%r[sb]p\)/gm

const lackOf = (compiler: string) =>
  process.arch !== 'x64'
    ? 'needs a processor of x64'
    : spawnSync(compiler, ['--version']).error === undefined
      ? null
      : `${compiler} is not installed: apt-get install ${compiler}`

describeWith(
  compilers.some((each) => lackOf(each) === null) ? null : 'there is none of these compilers',
  'a sweep',
  () => {
    const pairs = compilers.flatMap((compiler) => ['avx2', 'sse41'].map((width) => [compiler, width]))
    for (const [compiler, width] of rotating(pairs, 8)) {
      itWith(lackOf(compiler), `the sweep of ${width}, compiled by ${compiler}, has few stores to the stack`, () => {
        const assembly = join(folder, `${compiler}-${width}.s`)
        const options = [...COMMON_OPTIONS, '-O3', '-I', include, '-S', '-o', assembly]
        execFileSync(compiler, [...options, join(native, `${width}.c`)])
        const text = readFileSync(assembly, 'utf8')
        for (const [order, most] of Object.entries(MOST)) {
          const name = `sweep_${width}_${order}`
          const body = text.split(new RegExp(`^${name}:`, 'm'))[1]?.split(`.size\t${name}`)[0] ?? ''
          expect(body.length, name).toBeGreaterThan(10_000)
          expect(body.match(STORE)?.length, name).toBeLessThanOrEqual(most)
          expect(body.match(STORE)?.length, name).toBeGreaterThan(0)
        }
      })
    }
  },
)
