/**
 * A miner, a real process, while a chain of its node advances every 200 ms: after a warm-up its memory and its open
 * files stay constant. TEST_SOAK_MINUTES sets the length.
 *
 * Memory is judged in runs of at least 10 minutes. The first fifth of such a run has news ten times as often: V8
 * compiles hot functions one by one, and should be nearly done by then.
 */

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { startDevnet } from '../../src/compose/devnet.ts'
import { childEnv } from '../children.ts'
import { itWith } from '../needs.ts'
import { until } from '../wait.ts'

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
const MINUTES = Number(process.env.TEST_SOAK_MINUTES ?? 0.4)
const IS_JUDGED = MINUTES >= 10
const CUT_EVERY_MS = 200
const SAMPLES = 60
const CUTS_A_SAMPLE = Math.max(1, Math.round((MINUTES * 60_000) / CUT_EVERY_MS / SAMPLES))
/** Samples with news ten times as often. */
const WARM_UP_SAMPLES = IS_JUDGED ? SAMPLES / 5 : 0
/** Share of the samples, from the start, that is not judged. */
const WARM_UP = 0.25
const MAX_BYTES_AN_HOUR = 2 ** 20
/** Idle connections stay open for 15 s: in a short run those of the start still exist at the end. */
const MAX_MORE_FILES = IS_JUDGED ? 6 : 16
const UNREACHABLE = 1n << 100n
/** Each chain has its own stream once the miner has searched work of it. */
const CHAINS = 10
/**
 * Code in the miner. It reports its start. On a signal it reports the memory after garbage collection, and the number
 * of open connections.
 */
const TELL_MEMORY = `import { getHeapCodeStatistics } from 'node:v8'
process.on('SIGUSR2', () => {
  gc(); const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
  const code = getHeapCodeStatistics().code_and_metadata_size
  const connections = process.getActiveResourcesInfo().filter((each) => each === 'TCPSocketWrap').length
  process.stderr.write(JSON.stringify({ used: heapUsed + arrayBuffers, code, rss, connections }) + '\\n')
})
process.stderr.write('{}\\n')`

/** The miner's report; all but the last are in bytes. */
interface Told {
  readonly used: number
  /** Compiled code, a part of `used`. */
  readonly code: number
  readonly rss: number
  readonly connections: number
}

interface Sample extends Told {
  readonly hours: number
  readonly files: number
}

const account = { account: 'k:other', predicate: 'keys-all', publicKeys: [] } as const

itWith(
  process.platform === 'linux' ? null : 'only Linux tells the open files of a process',
  `a miner leaks no memory and no files in ${MINUTES} minutes with news every 200 ms`,
  async ({ annotate }) => {
    const devnet = await startDevnet({ port: 0, graph: 'petersen', pow: false, difficulty: UNREACHABLE })
    const folder = mkdtempSync(join(tmpdir(), 'newcut-soak-'))
    const options = ['--node', devnet.url, '--http', 'off', '--gpu', 'none', '--threads', '1', '--kernel', 'js']
    const preload = `data:text/javascript,${encodeURIComponent(TELL_MEMORY)}`
    const miner = spawn(
      process.execPath,
      ['--expose-gc', '--import', preload, MAIN, 'mine', ...options, '--state', folder],
      { stdio: ['ignore', 'ignore', 'pipe'], env: childEnv },
    )
    const pid = miner.pid ?? 0
    let told = ''
    let errors = ''
    miner.stderr.on('data', (bytes: Buffer) => {
      told += bytes
      errors += bytes
    })
    const client = await NodeClient.connect({ url: devnet.url })
    let cuts = 0
    /** Advances one of the chains after a pause. */
    const cut = async (pauseMs: number) => {
      // The run is about the pace of the news.
      await sleep(pauseMs)
      const { work } = await client.work(account)
      await client.solved(work.bytes)
      cuts++
    }
    const answer = async () => {
      await until(() => {
        if (miner.exitCode !== null || miner.signalCode !== null) throw new Error(`the miner ended: ${errors}`)
        return told.endsWith('}\n')
      })
      return JSON.parse(told.trim().split('\n').at(-1) ?? '') as Told
    }
    const ask = () => {
      told = ''
      miner.kill('SIGUSR2')
      return answer()
    }
    const samples: Sample[] = []
    try {
      await answer()
      while ((await ask()).connections < CHAINS) await cut(CUT_EVERY_MS)
      const startMs = performance.now()
      for (let i = 1; i <= SAMPLES; i++) {
        const [news, pauseMs] =
          i <= WARM_UP_SAMPLES ? [10 * CUTS_A_SAMPLE, CUT_EVERY_MS / 10] : [CUTS_A_SAMPLE, CUT_EVERY_MS]
        for (let each = 0; each < news; each++) await cut(pauseMs)
        const memory = await ask()
        const hours = (performance.now() - startMs) / 3_600_000
        samples.push({ ...memory, hours, files: readdirSync(`/proc/${pid}/fd`).length })
      }
    } finally {
      miner.kill('SIGKILL')
      await client.close()
      await devnet.close()
      rmSync(folder, { recursive: true })
    }
    const settled = samples.slice(Math.floor(WARM_UP * SAMPLES))
    const files = settled.map((sample) => sample.files)
    const growth = slopeOf(settled, ({ used }) => used)
    const codeGrowth = slopeOf(settled, ({ code }) => code)
    const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(2)
    const last = samples[samples.length - 1]
    await annotate(
      `${cuts} cuts; memory in use ${mebibytes(settled[0].used)} MiB, then ${mebibytes(last.used)} MiB, ` +
        `${mebibytes(growth)} MiB an hour, of which compiled code ${mebibytes(codeGrowth)}; resident ${mebibytes(settled[0].rss)}, then ${mebibytes(last.rss)} MiB; ` +
        `open files ${Math.min(...files)} to ${Math.max(...files)}`,
    )
    expect(Math.max(...files) - Math.min(...files), 'open files').toBeLessThanOrEqual(MAX_MORE_FILES)
    if (IS_JUDGED) expect(growth, 'bytes an hour').toBeLessThanOrEqual(MAX_BYTES_AN_HOUR)
    else expect(last.used - settled[0].used, 'bytes').toBeLessThanOrEqual(4 * 2 ** 20)
  },
  600_000 + MINUTES * 180_000,
)

/** Slope of the straight line that fits the samples best, in bytes per hour. */
function slopeOf(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, each) => sum + of(each), 0) / samples.length
  const [x, y] = [mean(({ hours }) => hours), mean(value)]
  const covariance = mean((each) => (each.hours - x) * (value(each) - y))
  return covariance / mean(({ hours }) => (hours - x) ** 2)
}
