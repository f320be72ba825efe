/** The modules that a miner for a node loads, in a real process. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { keepYoungGenerationSmall } from '../../src/ground/platform/small-heap.ts'
import { loadedByArgs, loadedByMiner, PACKAGES_OF_MINER, sumOfBudget } from '../budgets.ts'
import { startWith, stopAll } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-footprint-'))
const preload = fileURLToPath(new URL('loaded.mjs', import.meta.url))
/** All that a miner for a node has loaded when it has found a block. */
let loaded: Awaited<ReturnType<typeof loadedBy>>

beforeAll(async () => {
  const devnet = await startDevnet({ port: 0, graph: 'pair', difficulty: 100n })
  try {
    loaded = await loadedBy(
      ...['mine', '--node', devnet.url, '--threads', '1', '--gpu', 'none', '--state', 'off', '--http', '127.0.0.1:0'],
      ...['--blocks', '1'],
    )
  } finally {
    await devnet.close()
  }
})
afterAll(async () => {
  await stopAll()
  rmSync(folder, { recursive: true })
})

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The modules of a loaded file. A bundle names each above its code. */
function modulesIn(name: string): string[] {
  if (!name.startsWith('dist/src/bundled/')) return [name]
  const named = readFileSync(join(root, name), 'utf8').matchAll(/^\/\/ ((?:dist\/src|node_modules)\/.*\.[cm]?js)$/gm)
  return [...named].map(([, module]) => module)
}

/** The modules and the files that this command loads, as paths from the root of the checkout, each once. */
async function loadedBy(...args: readonly string[]) {
  const LOADED = join(folder, 'loaded')
  rmSync(LOADED, { force: true })
  const { code, out } = await startWith(['--import', preload], args, { LOADED }).ended
  expect({ code, out }).toMatchObject({ code: 0 })
  const lines = readFileSync(LOADED, 'utf8').split('\n')
  const paths = lines.filter((line) => /^(file:|\/)/.test(line)).map((line) => line.replace(/^file:\/\//, ''))
  const files = [...new Set(paths.flatMap((path) => /.*?((?:dist\/src|node_modules)\/.*)/.exec(path)?.[1] ?? []))]
  return {
    files,
    names: [...new Set(files.flatMap(modulesIn))],
    youngBytes: Number(/^young (\d+)$/m.exec(lines.join('\n'))?.[1]),
  }
}

it.each(loadedByArgs)('newcut $args loads at most $own modules in $files files', async ({ args, own, files }) => {
  const { files: loaded, names } = await loadedBy(...args)
  expect(names.filter((name) => name.startsWith('dist/')).length).toBeLessThanOrEqual(own)
  // Without bundles, each module is a file.
  if (existsSync(join(root, 'dist/src/bundled'))) expect(loaded.length).toBeLessThanOrEqual(files)
})

describe('newcut mine --node', () => {
  it('newcut mine --node loads no GPU, network, contracts, wallet, rigs or fleet, and no package for others', () => {
    const { names } = loaded
    const foreign =
      /^dist\/src\/(devnet|contracts|wallet|payouts|web\/explorer|source\/(pool|fleet)\/(?!address)|stratum-check\/(?!maker-rigs\.js)|engine\/(fleet|passthrough|external|gpu\/(?!shader\.js)|stratum\/(?!limits\.js)))/
    expect(names.filter((name) => foreign.test(name))).toEqual([])
    const packages = new Set(names.flatMap((name) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1] ?? []))
    for (const name of ['webgpu', 'yaml', 'pino', 'tldts', '@nats-io/transport-node', 'classic-level', 'hash-wasm']) {
      expect(packages).not.toContain(name)
    }
    // The build bundles these.
    for (const name of ['undici', 'fastify', 'prom-client', 'typebox']) expect(packages).not.toContain(name)
    expect(names).toContain('dist/src/mining/engine/cpu/cpu.js')
  })

  it('newcut mine --node loads at most the listed modules, in at most the listed files', () => {
    const { files, names } = loaded
    const own = names.filter((name) => name.startsWith('dist/')).length
    const packages = names.length - own
    const isBundled = existsSync(join(root, 'dist/src/bundled'))
    const budget = isBundled ? loadedByMiner.bundled : loadedByMiner.separate
    expect(own).toBeLessThanOrEqual(sumOfBudget(budget.own))
    expect(packages).toBeLessThanOrEqual(PACKAGES_OF_MINER)
    expect(files.length).toBeLessThanOrEqual(sumOfBudget(budget.files))
  })

  it('newcut mine --node keeps its young generation small, unless the user has chosen its size', () => {
    expect(loaded.youngBytes).toBeLessThanOrEqual(2 ** 24)
    const workers = process.listenerCount('worker')
    keepYoungGenerationSmall(['--max-semi-space-size=32'], {})
    keepYoungGenerationSmall([], { NODE_OPTIONS: '--max_semi_space_size=32' })
    expect(process.listenerCount('worker')).toBe(workers)
  })
})
