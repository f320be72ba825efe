/** A node and a miner, both real processes with state on disk, and access to the parts of the miner that tests kill. */
import { join } from 'node:path'
import { tuningFileOf } from '../../src/mining/engine/cache-folder.ts'
import { shaderText } from '../../src/mining/engine/gpu/shader.ts'
import { DEFAULT_TUNING, tuningKey, writeTuning } from '../../src/mining/engine/gpu/tuning.ts'
import { type Running, start, startWith } from '../cli/run.ts'
import { gpuChildrenOf, isGpuChild } from '../gpu/children.ts'
import type { TestDriver } from '../gpu/driver.ts'
import { until } from '../wait.ts'

const THREADS = `--import=${new URL('./threads.mjs', import.meta.url).href}`
const THREAD_IS_THERE = 'a search thread is there'

export interface FieldOptions {
  readonly folder: string
  readonly port: number
  /** The miner's --confirmations. */
  readonly confirmations: number
  /** The driver of the GPU, or null to mine without one. */
  readonly driver: TestDriver | null
}

export class Field {
  readonly url: string
  /** Folder of the journal. */
  readonly state: string
  readonly #options: FieldOptions
  readonly #env: Record<string, string>
  readonly #gpuPids = new Set<number>()
  /** Block hashes of the solutions that earlier runs of the miner reported. */
  readonly #found = new Set<string>()
  node: Running
  miner: Running
  /** The number of starts of the node. */
  nodes = 0

  constructor(options: FieldOptions) {
    const { folder, port, driver } = options
    this.#options = options
    this.url = `http://127.0.0.1:${port}`
    this.state = join(folder, 'state')
    this.#env = { XDG_CACHE_HOME: join(folder, 'cache'), ...driver?.env }
    // Tuning takes many seconds on a software driver.
    const tuning = tuningFileOf(this.#env, process.platform)
    if (driver !== null) writeTuning(tuning, tuningKey(driver.adapter, shaderText()), DEFAULT_TUNING)
    this.node = this.startNode()
    this.miner = this.startMiner()
  }

  startNode(): Running {
    const { port, folder } = this.#options
    const network = ['--graph', 'petersen', '--block-delay', '1s', '--difficulty', '20k', '--mine-page', 'off']
    this.node = start(['devnet', '--port', String(port), '--data', join(folder, 'data'), ...network])
    this.nodes++
    return this.node
  }

  startMiner(): Running {
    if (this.miner !== undefined) this.found()
    const { confirmations, driver } = this.#options
    const gpu = driver === null ? ['--gpu', 'none'] : ['--gpu', 'all', '--allow-software']
    const quiet = ['--http', 'off', '--threads', '1', '--log', 'json']
    const kept = ['--state', this.state, '--confirmations', String(confirmations)]
    this.miner = startWith([THREADS], ['mine', '--node', this.url, ...gpu, ...quiet, ...kept], this.#env)
    return this.miner
  }

  /** Waits until this run of the miner prints the text, from now. Throws if miner or node exit meanwhile. */
  async says(text: string | RegExp): Promise<void> {
    const { out } = this.miner
    const before = out().length
    await this.#until(() => out().slice(before).search(text) !== -1, String(text))
  }

  /** Waits until this run of the miner has printed the text at any time. Throws as `says`. */
  async said(text: string | RegExp): Promise<void> {
    await this.#until(() => this.miner.out().search(text) !== -1, String(text))
  }

  /** Block hashes of all solutions that any run of the miner has reported. */
  found(): ReadonlySet<string> {
    // The last line may be incomplete.
    const lines = this.miner.out().split('\n').slice(0, -1)
    for (const line of lines.filter((each) => each.includes('"step":"found"'))) this.#found.add(JSON.parse(line).hash)
    return this.#found
  }

  /** Waits until another block is accepted. */
  mines(): Promise<void> {
    return this.says('"verdict":"accepted"')
  }

  /** Waits for a search thread. */
  async hasThread(): Promise<void> {
    await this.#until(() => this.miner.err().includes(THREAD_IS_THERE), THREAD_IS_THERE)
  }

  /** Waits for a GPU child of the miner other than `besides`. @returns the process id of the newest */
  async gpuChild(besides?: number): Promise<number> {
    const newest = () =>
      this.gpuChildren()
        .filter((pid) => pid !== besides)
        .at(-1)
    await this.#until(() => newest() !== undefined, 'a GPU child')
    return newest() ?? 0
  }

  /** Process ids of the GPU children of the miner, the newest last. */
  gpuChildren(): readonly number[] {
    const found = gpuChildrenOf(this.miner.child.pid ?? 0)
    for (const child of found) this.#gpuPids.add(child)
    return found
  }

  /** GPU children of this run and of earlier ones that still live. */
  leftBehind(): readonly number[] {
    return [...this.#gpuPids].filter(isGpuChild)
  }

  async #until(condition: () => boolean, what: string): Promise<void> {
    const { miner, node } = this
    await until(() => {
      if (condition()) return true
      for (const [name, run] of Object.entries({ miner, node })) {
        if (hasEnded(run))
          throw new Error(`${what}: the ${name} ended by itself: ${run.err()} ${run.out().slice(-2000)}`)
      }
      return false
    })
  }
}

const hasEnded = ({ child }: Running) => child.exitCode !== null || child.signalCode !== null
