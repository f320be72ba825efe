/** Runs a native CUDA kernel for comparison, on machines with nvcc and an NVIDIA card. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Batch,
  encodeParams,
  judgeNonce,
  nonceCount,
  prepareWork,
  SEARCHED_WORK_BYTES,
} from '../src/mining/engine/gpu/layout.ts'
import { nonceOf } from '../src/mining/engine/range.ts'

/** Compiled benchmarks are in dist/bench; the kernel source stays in bench/cuda. */
const SOURCE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './cuda/search.cu' : '../../bench/cuda/search.cu', import.meta.url),
)
const BATCH: Batch = { low: 0x1234, first: 0, high: 0x5678, lanes: 2 ** 24, trips: 16, step: 1 }
/** One nonce in 2^20 is a candidate: 256 per batch, enough to verify the kernel. */
const BOUND = 0xfff
const MAX_COMPILE_MS = 120_000

export interface CudaResult {
  readonly device: string
  readonly multiprocessors: number
  readonly clockMHz: number
  /** MH/s, one figure per sample. */
  readonly rates: readonly number[]
}

interface Output {
  readonly device: string
  readonly multiprocessors: number
  readonly clockMHz: number
  readonly nonces: number
  readonly ms: number
  readonly found: number
  /** Low and middle words of the candidates in batch 0. */
  readonly candidates: readonly (readonly [number, number])[]
}

/**
 * Measures the CUDA kernel.
 * @returns a sentence if there is no compiler or no card
 * @throws if the kernel computes wrongly
 */
export function cudaRates(samples: number, sampleMs: number): CudaResult | string {
  if (!existsSync(SOURCE)) return 'the source of the CUDA kernel is not installed'
  const folder = mkdtempSync(join(tmpdir(), 'newcut-cuda-'))
  try {
    const program = join(folder, 'search')
    const compiler = ['-O3', '-arch=native', '-o', program, SOURCE]
    const compiled = spawnSync('nvcc', compiler, { encoding: 'utf8', timeout: MAX_COMPILE_MS })
    if (compiled.status !== 0) return `no native CUDA kernel: ${compiled.error?.message ?? lastLine(compiled.stderr)}`
    const outputs: Output[] = []
    for (let sample = 0; sample < samples; sample++) {
      const output = search(program, sampleMs)
      if (typeof output === 'string') return output
      outputs.push(output)
    }
    const { device, multiprocessors, clockMHz } = outputs[0]
    return { device, multiprocessors, clockMHz, rates: outputs.map(({ nonces, ms }) => nonces / ms / 1000) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function search(program: string, sampleMs: number): Output | string {
  const work = prepareWork(randomBytes(SEARCHED_WORK_BYTES), (BigInt(BOUND + 1) << 224n) - 1n)
  const input = Buffer.from(encodeParams(work, BATCH, 1).buffer)
  const run = spawnSync(program, [String(sampleMs / 1000)], { input, encoding: 'utf8', timeout: 30_000 + sampleMs })
  if (run.status !== 0) return `the native CUDA kernel does not run: ${lastLine(run.stderr)}`
  const output = JSON.parse(run.stdout) as Output
  const expected = (nonceCount(BATCH) * (BOUND + 1)) / 2 ** 32
  const isPlausible = Math.abs(output.found - expected) < 6 * Math.sqrt(expected)
  const nonces = output.candidates.map(([low, middle]) => nonceOf(low, middle, BATCH.high))
  if (!isPlausible || nonces.some((nonce) => judgeNonce(work, nonce) === 'false')) {
    throw new Error(`the CUDA kernel is wrong: it found ${output.found} candidates`)
  }
  return output
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}
