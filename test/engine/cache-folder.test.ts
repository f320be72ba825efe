/** The files with measured values: every flipped bit changes nothing, or the values are measured again. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readTuningFile, writeTuningFile } from '../../src/mining/engine/cache-folder.ts'

const entries = new Map<string, unknown>([
  ['native-avx2|one 00000001|gcc 12', 'staggered'],
  ['vulkan|card', { workgroup: 256, invocations: 65_536, noncesPerMs: 12_345.5 }],
])

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-tuning-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'folder', 'tuning.json')
}

it('a cache entry returns the written content', () => {
  const path = file()
  expect(readTuningFile(path)).toEqual({ entries: new Map(), problem: null })
  writeTuningFile(path, entries)
  expect(readTuningFile(path)).toEqual({ entries, problem: null })
})

it('a cache entry never has another value after a flip of any bit', () => {
  const path = file()
  writeTuningFile(path, entries)
  const bytes = readFileSync(path)
  const outcomes = { same: 0, damaged: 0, other: 0 }
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3] ^= 1 << (bit & 7)
    writeFileSync(path, flipped)
    const { entries: read, problem } = readTuningFile(path)
    const isSame = [...entries].every(([key, value]) => JSON.stringify(read.get(key)) === JSON.stringify(value))
    outcomes[problem !== null ? 'damaged' : isSame ? 'same' : 'other']++
    if (problem !== null) {
      expect(problem).toBe(`${path} is damaged`)
      expect(read.size).toBe(0)
    }
  }
  expect(outcomes.other).toBe(0)
  // White space, and the name of the seal itself.
  expect(outcomes.same).toBeLessThan(100)
  expect(outcomes.damaged).toBeGreaterThan(1000)
})

it('the cache reads a file without a seal, as an earlier newcut wrote it', () => {
  const path = file()
  writeTuningFile(path, entries)
  writeFileSync(path, JSON.stringify(Object.fromEntries(entries)))
  expect(readTuningFile(path)).toEqual({ entries, problem: null })
})
