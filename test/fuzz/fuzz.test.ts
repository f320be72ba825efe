/** The short form of the long run (`npm run fuzz`): some inputs for each target, and all inputs that showed a fault. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isFull, rotation, roundsOf } from '../rotation.ts'
import { type Finding, judge, runChunk } from './engine.ts'
import type { Target } from './target.ts'
import { bytesOf } from './target.ts'
import { targetNamed, targets } from './targets.ts'

const SEED = 20260101
/** Inputs of a target whose share is 1. */
const INPUTS = roundsOf(150, 8)

/** An input that showed a fault. */
interface Vector {
  readonly target: string
  /** The fault of its outcome. */
  readonly was: string
  /** Text in which `[times, text]` stands for repetitions; alternatively bytes. */
  readonly parts?: readonly (string | readonly [times: number, text: string])[]
  readonly hex?: string
}

const vectors: readonly Vector[] = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8'))

function inputOf({ parts = [], hex = '' }: Vector): Uint8Array {
  if (hex !== '') return new Uint8Array(Buffer.from(hex, 'hex'))
  return bytesOf(parts.map((part) => (typeof part === 'string' ? part : part[1].repeat(part[0]))).join(''))
}

describe('earlier findings', () => {
  it.each(vectors.map((vector) => [vector.target, vector.was, vector] as const))(
    'the earlier finding %s is fixed: it is no longer %s',
    async (name, _was, vector) => {
      const target = targetNamed(name)
      const reader = await target.open()
      try {
        expect(await judge(reader, inputOf(vector), target.maxMs)).toBeNull()
      } finally {
        await reader.close?.()
      }
    },
  )
})

describe('mutated inputs', () => {
  const chosen = targets.filter((_, index) => isFull || index % 2 === rotation % 2)
  it.each(chosen.map((target) => [target.name, target] as const))(
    'mutated inputs of %s give a result or a documented error, in time',
    async (_name, target) => {
      const findings: Finding[] = []
      const count = Math.ceil(INPUTS * Math.min(1, target.share ?? 1)) + 10
      const from = rotation * count
      await runChunk(target, { seed: SEED, from, to: from + count }, { onFinding: (finding) => findings.push(finding) })
      expect(findings).toEqual([])
    },
  )
})

describe('the engine', () => {
  const MAX_MS = 30
  const reading = (name: string, read: (bytes: Uint8Array) => unknown): Target => ({
    name,
    maxMs: MAX_MS,
    open: () => ({ seeds: [bytesOf('a seed')], read }),
  })
  /** Occupies the processor for longer than a reader may. */
  const linger = () => {
    const since = process.cpuUsage()
    for (let usedMs = 0; usedMs < 1.3 * MAX_MS; ) {
      const { user, system } = process.cpuUsage(since)
      usedMs = (user + system) / 1000
    }
  }

  it.each<[string, (bytes: Uint8Array) => unknown, RegExp]>([
    [
      'an error that is not documented',
      (bytes) => bytes.length > 8 && (undefined as unknown as string).length,
      /TypeError/,
    ],
    ['a rejection', (bytes) => (bytes.length > 8 ? Promise.reject(new Error('no')) : null), /Error: no/],
    [
      'a rejection that nobody waits for',
      (bytes) => {
        if (bytes.length > 8) void Promise.reject(new Error('alone'))
      },
      /unhandled rejection: Error: alone/,
    ],
    ['an endless recursion', (bytes) => (bytes.length > 8 ? deep(0) : null), /RangeError: Maximum call stack/],
    ['an input that takes too long', (bytes) => bytes.length > 8 && linger(), /takes \d+ ms, may take 30 ms/],
  ])('the engine of the fuzzer finds %s', async (name, read, what) => {
    const findings: Finding[] = []
    await runChunk(reading(name, read), { seed: 1, from: 0, to: 10 }, { onFinding: (each) => findings.push(each) })
    expect(findings[0]?.what).toMatch(what)
    expect(findings[0]).toMatchObject({ target: name, seed: 1 })
  })

  it('the engine of the fuzzer detects memory that a reader retains', async () => {
    const kept: Uint8Array[] = []
    const findings: Finding[] = []
    const target = reading('keeper', () => kept.push(new Uint8Array(256 * 1024).fill(1)))
    await runChunk(target, { seed: 1, from: 0, to: 600 }, { onFinding: (each) => findings.push(each) })
    expect(findings.at(-1)?.what).toMatch(/^keeps \d+ MiB/)
  })
})

function deep(level: number): number {
  return 1 + deep(level + 1)
}
