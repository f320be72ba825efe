/** Starts a real miner with its HTTP server on an embedded development network. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { type MinerStart, runMiner } from '../../src/compose/miner.ts'
import type { KernelPreference } from '../../src/mining/engine/cpu/names.ts'
import type { Priority } from '../../src/mining/engine/cpu/priority.ts'
import type { StatedPower } from '../../src/mining/mine/energy.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import type { Prices } from '../../src/mining/mine/profit.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import type { EfficiencySetup, GpuSetup } from '../../src/mining/tune/own-search.ts'
import { testDriver } from '../gpu/driver.ts'

export interface RunningOptions {
  readonly token?: string
  readonly hwmon?: string
  readonly powercap?: string
  /** Environment of the tools that read sensors. */
  readonly env?: NodeJS.ProcessEnv
  readonly difficulty?: bigint
  readonly threads?: number | 'auto'
  readonly kernel?: KernelPreference
  readonly efficiency?: EfficiencySetup
  /** Power that the user states. */
  readonly power?: StatedPower
  readonly gpu?: GpuSetup
  /** Scheduling priority of the search threads. Default: low. */
  readonly priority?: Priority
  /** Whether the miner uses two addresses of its node, as if they were two nodes. */
  readonly hasTwoNodes?: boolean
  /** Whether rigs may connect. */
  readonly letsRigsIn?: boolean
  /** Stated prices. Default: none. */
  readonly prices?: Prices
}

export interface RunningMiner {
  readonly url: string
  readonly nodeUrl: string
  /** `HOST:PORT` of the stratum server, or null if rigs may not connect. */
  readonly rigsAddress: string | null
  readonly events: readonly MinerEvent[]
  readonly ended: Promise<Snapshot>
  readonly json: (path: string) => Promise<unknown>
  readonly change: MinerStart['change']
  /** Sends a JSON-RPC request with this body. */
  readonly call: (body: string, headers?: Record<string, string>) => Promise<Response>
}

/** Starts a miner, which is stopped at the end of the test. */
export async function startMiner(options: RunningOptions = {}): Promise<RunningMiner> {
  const {
    token,
    hwmon = '/nowhere',
    powercap = '/nowhere',
    env = {},
    // Some fifty blocks a second for a fast core: thousands would keep the node from answering.
    difficulty = 1_000_000n,
    threads = 1,
    kernel = 'auto',
    priority = 'low',
    efficiency,
    power = {},
    gpu = null,
    hasTwoNodes = false,
    letsRigsIn = false,
    prices,
  } = options
  const devnet = await startDevnet({ port: 0, difficulty })
  const stop = new AbortController()
  const events: MinerEvent[] = []
  let ended: Promise<Snapshot> | undefined
  const start = await new Promise<MinerStart>((resolve, reject) => {
    ended = runMiner(
      {
        source: {
          kind: 'nodes',
          urls: [devnet.url, ...(hasTwoNodes ? [devnet.url.replace('127.0.0.1', 'localhost')] : [])],
          trust: { insecure: false },
          failFast: true,
          payee: { account: null, predicate: 'keys-all', publicKeys: null },
        },
        search: {
          ...{ kind: 'own', threads, kernel, priority, gpu, efficiency },
          stratum: letsRigsIn
            ? { host: '127.0.0.1', port: 0, tls: null, difficulty: 1000, perAddress: 1024 }
            : undefined,
        },
        http: { host: '127.0.0.1', port: 0, isRequired: true, ...(token && { token }) },
        limits: {},
        power,
        sensors: { hwmon, powercap, env },
        prices,
      },
      { onEvent: (event) => void events.push(event), onStart: resolve, stopped: stop.signal },
    )
    ended.catch(reject)
  })
  if (start.api === null || ended === undefined) throw new Error('the miner serves nothing')
  const { url } = start.api
  const over = ended
  onTestFinished(async () => {
    stop.abort()
    await over
    await devnet.close()
  })
  return {
    url,
    nodeUrl: devnet.url,
    rigsAddress: start.rigsAddress,
    events,
    ended: over,
    change: start.change,
    json: async (path) => (await fetch(url + path)).json(),
    call: (body, headers = {}) => fetch(`${url}/json_rpc`, { method: 'POST', body, headers }),
  }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-monitors-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A hwmon folder as on Linux: for each chip, its files and the PCI address of its card. */
export function hwmonFolder(chips: readonly { readonly pci?: string; readonly files: Record<string, string> }[]) {
  const folder = temporaryFolder()
  for (const [index, { pci, files }] of chips.entries()) {
    const chip = join(folder, 'hwmon', `hwmon${index}`)
    mkdirSync(chip, { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(chip, name), `${text}\n`)
    if (pci === undefined) continue
    mkdirSync(join(folder, 'devices', pci), { recursive: true })
    symlinkSync(join(folder, 'devices', pci), join(chip, 'device'))
  }
  return join(folder, 'hwmon')
}

/** Creates an executable `nvidia-smi` that runs this shell script. Returns the environment that finds it. */
export function nvidiaTool(script: string): NodeJS.ProcessEnv {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'nvidia-smi'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { PATH: `${folder}:${process.env.PATH}` }
}

export const ZEN = {
  files: {
    name: 'k10temp',
    temp1_label: 'Tctl',
    temp1_input: '71250',
    temp3_label: 'Tccd1',
    temp3_input: '80000',
  },
}

/**
 * A software GPU, with a tool that reports sensors of a card of that name at bus 5d; null if there is no driver. GPU
 * processes inherit this process's environment, so it stays set to the driver's until the test ends.
 */
export async function sensedCard(): Promise<{ name: string; setup: Pick<RunningOptions, 'gpu' | 'env'> } | null> {
  const driver = await testDriver()
  if (driver === null) return null
  const before = { ...process.env }
  Object.assign(process.env, driver.env)
  onTestFinished(() => {
    process.env = before
  })
  const { name } = driver.adapter
  const env = nvidiaTool(`echo '${name}, 00000000:5D:00.0, 57, 43, 212.5'`)
  const use = { which: 'all', neededBy: null, batchMs: 10, workgroup: undefined }
  return { name, setup: { env, gpu: { ...use, allowSoftware: true, retune: false, tuningFile: null } } }
}
