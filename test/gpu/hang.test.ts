/**
 * Detection of a hung GPU: its hashrate is unknown, newcut notices after 4.5 s (the default times), shows it, restarts
 * it, and finally parks it. The whole miner runs in its own process, on a software driver instead of a GPU.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { workFromBytes } from '../../src/ground/chain/work.ts'
import { GpuEngine } from '../../src/mining/engine/gpu/gpu.ts'
import { nonceRanges } from '../../src/mining/engine/range.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { childEnv } from '../children.ts'
import { describeWith, itWith } from '../needs.ts'
import { engineWork, freshWork } from '../support/work.ts'
import { until } from '../wait.ts'
import { driverLack, testDriver } from './driver.ts'

const driver = await testDriver()
const env = driver?.env ?? null
const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
const MINE = ['mine', '--threads', '0', '--gpu', 'all', '--allow-software', '--difficulty', '100000000']

/** `newcut mine` on the GPU alone. */
class MinerProcess {
  readonly child: ChildProcess
  #output = ''

  constructor() {
    const cache = mkdtempSync(join(tmpdir(), 'newcut-'))
    this.child = spawn(process.execPath, [MAIN, ...MINE, '--http', '127.0.0.1:0'], {
      env: { ...childEnv, XDG_CACHE_HOME: cache, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.child.stdout?.on('data', (bytes: Buffer) => {
      this.#output += bytes
    })
  }

  async get(path: string): Promise<string | null> {
    if (this.child.exitCode !== null) throw new Error(`the miner ended with ${this.child.exitCode}: ${this.#output}`)
    const [, url] = /(http:\/\/127\.0\.0\.1:\d+)\/metrics/.exec(this.#output) ?? []
    return url === undefined ? null : await (await fetch(url + path)).text()
  }

  async summary(): Promise<Snapshot | null> {
    const text = await this.get('/api/summary')
    return text === null ? null : (JSON.parse(text) as Snapshot)
  }

  /** Process id of the GPU child. */
  get gpuPid(): number {
    const { pid } = this.child
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').at(-1))
  }

  /** Waits until the GPU searches. */
  async searches(): Promise<void> {
    await until(async () => {
      const [device] = (await this.summary())?.devices ?? []
      return device !== undefined && device.state === undefined && device.hashes > 0
    })
  }
}

let miner: MinerProcess | null = null
let engine: GpuEngine | null = null

afterEach(async () => {
  miner?.child.kill('SIGKILL')
  miner = null
  await engine?.stop()
  engine = null
})

describeWith(driverLack(), 'a GPU that hangs', () => {
  it('a device that hangs has no rate after 4.5 s without a batch, and is restarted', async () => {
    miner = new MinerProcess()
    const own = miner
    await own.searches()
    const hung = own.gpuPid
    process.kill(hung, 'SIGSTOP')
    await until(async () => (await own.summary())?.devices[0].state === 'restarting')
    const snapshot = (await own.summary()) as Snapshot
    expect(snapshot.devices[0]).toMatchObject({ reason: 'no batch for 4.5 s', faults: 1 })
    expect(snapshot.devices[0].hashrates['10s']).toBe(0)
    expect(snapshot.hashrates['10s']).toBe(0)
    const metrics = (await own.get('/metrics')) ?? ''
    expect(metrics).toContain('newcut_device_up{engine="gpu",device="gpu0"} 0')
    expect(metrics).toContain('newcut_hashrate_hashes_per_second{engine="gpu",device="gpu0"} 0')
    await own.searches()
    await until(async () => ((await own.summary())?.devices[0].hashes ?? 0) > snapshot.devices[0].hashes)
    expect(own.gpuPid).not.toBe(hung)
  })

  // A test must not remove the driver of the machine (TEST_GPU=system).
  itWith(
    env?.VK_ICD_FILENAMES === undefined ? 'the driver is that of the machine' : null,
    'a device is parked at last when its card is removed',
    async () => {
      // The driver of a removed card: its file disappears while the device searches.
      const folder = mkdtempSync(join(tmpdir(), 'newcut-'))
      const copy = join(folder, 'icd.json')
      const file = env?.VK_ICD_FILENAMES ?? ''
      const driver = JSON.parse(readFileSync(file, 'utf8')) as { ICD: { library_path: string } }
      driver.ICD.library_path = resolve(dirname(file), driver.ICD.library_path)
      writeFileSync(copy, JSON.stringify(driver))
      const warnings: string[] = []
      engine = new GpuEngine({
        adapters: [null],
        ranges: nonceRanges(1, Math.random),
        allowSoftware: true,
        tuningFile: null,
        env: { ...env, VK_ICD_FILENAMES: copy, VK_DRIVER_FILES: copy },
        restartMs: 20,
      })
      const own = engine
      const bytes = freshWork(1n << 40n)
      await own.start(286, { onCandidate: () => undefined, onWarning: (text) => void warnings.push(text) })
      await own.setWork(engineWork(1, bytes, workFromBytes(bytes).fields.target))
      await until(() => own.hashes() > 0)
      rmSync(folder, { recursive: true })
      process.kill(own.details()[0].pid ?? 0, 'SIGKILL')
      await until(() => own.devices()[0].state === 'parked')
      const hashes = own.hashes()
      expect(warnings).toHaveLength(5)
      expect(warnings[0]).toMatch(/started again in .* SIGKILL/)
      expect(warnings[1]).toMatch(/started again in .* no graphics driver offers a device that computes/)
      expect(warnings[4]).toMatch(/^gpu0 is parked after 5 failures in a row: no graphics driver offers/)
      expect(own.hashes()).toBe(hashes)
    },
  )
})
