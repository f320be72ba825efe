/** The miner from start to end, composed as the command does it: nodes, journal, source, loop. */
import { connectNodes } from '../../src/compose/source/nodes.ts'
// nodes.ts loads these on demand. Loading takes real time, and none may pass here.
import '../../src/mining/source/nodes/nodes-source.ts'
import '../../src/mining/source/nodes/reached-node.ts'
import type { ConnectorFactory } from '../../src/client/node/dial.ts'
import { openState } from '../../src/compose/state.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import type { Disk } from '../../src/mining/journal/disk.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import { Miner } from '../../src/mining/mine/miner.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import type { UnfinishedSolution } from '../../src/mining/mine/solution-steps.ts'
import type { Source, UpstreamStatus } from '../../src/mining/source/source.ts'
import { failure } from './connection.ts'
import type { SimulatedEngine } from './engine.ts'
import type { Site } from './site.ts'

const ACCOUNT = { account: 'k:miner', predicate: 'keys-all', publicKeys: ['00'.repeat(32)] }
const STALL_MS = 10_000

export interface ProcessOptions {
  readonly sites: readonly Site[]
  readonly engine: SimulatedEngine
  readonly disk: Disk
  readonly failbackMs: number
  readonly confirmations: number
  readonly onEvent: (event: MinerEvent) => void
  /** Called with the unfinished solutions of the journal. */
  readonly onUnfinished: (unfinished: readonly UnfinishedSolution[]) => void
  /** Called with unfinished solutions that could not be read at the start. */
  readonly onLeft: (unfinished: readonly UnfinishedSolution[]) => void
  /** Called if the miner ends by an error. */
  readonly onError: (error: unknown) => void
}

export class MinerProcess {
  readonly engine: SimulatedEngine
  /** The final snapshot, or null while the miner runs. */
  snapshot: Snapshot | null = null
  hasEnded = false
  readonly #options: ProcessOptions
  readonly #stop = new AbortController()
  #isDead = false
  #source: Source | null = null

  constructor(options: ProcessOptions) {
    this.#options = options
    this.engine = options.engine
    void this.#run()
      .catch((error) => {
        if (!this.#stop.signal.aborted) options.onError(error)
      })
      .finally(() => {
        this.hasEnded = true
      })
  }

  /** In order of priority; empty with a single node. */
  nodes(): readonly UpstreamStatus[] {
    return this.#source?.upstreams() ?? []
  }

  /** Stops as on Ctrl-C. */
  stop(): void {
    this.#stop.abort()
  }

  /**
   * Ends as on kill -9: nothing that it does from now has an effect outside. Its objects are closed all the same,
   * because they would live on in this process.
   */
  kill(): void {
    this.#isDead = true
    for (const { network } of this.#options.sites) {
      // Destroyed with an error, as the HTTP client does it; the client may throw if a connection ends without one.
      for (const { socket } of network.connections) socket.destroy(failure('ECONNABORTED', 'the miner is dead'))
    }
    this.#stop.abort()
  }

  readonly #dial: ConnectorFactory = (signal) => (target, callback) => {
    const site = this.#options.sites.find(({ hostname }) => hostname === target.hostname)
    if (site === undefined) throw new Error(`nobody asks for ${target.hostname}`)
    const refuse = () => callback(failure('ECONNREFUSED', 'the miner is dead'), null)
    if (this.#isDead) {
      queueMicrotask(refuse)
      return
    }
    site.network.dial(signal)(target, (...[error, socket]) => {
      if (error) callback(error, null)
      else if (!this.#isDead) callback(null, socket)
      else {
        socket.destroy()
        refuse()
      }
    })
  }

  async #run(): Promise<void> {
    const { sites, engine, disk, failbackMs, confirmations, onEvent, onUnfinished, onLeft } = this.#options
    const [url, ...others] = sites.map((site) => site.url)
    const reaching = { trust: { insecure: false }, failFast: false, dial: this.#dial }
    const setup = {
      kind: 'nodes',
      urls: [url, ...others],
      ...reaching,
      failbackMs,
      stallMs: STALL_MS,
      confirmations,
    } as const
    const nodes = await connectNodes(setup, () => undefined, this.#stop.signal)
    try {
      const tell = (event: MinerEvent) => {
        if (!this.#isDead) onEvent(event)
      }
      const of = { network: 'development', account: ACCOUNT.account, confirmations, clock: systemClock }
      const state = await openState(
        { folder: '/journal', isRequired: false },
        { ...of, onEvent: tell, disk, maxUnindexedBytes: 0 },
      )
      onUnfinished(state.unfinished)
      const source = nodes.sourceFor(ACCOUNT)
      this.#source = source
      const keep = (event: MinerEvent) => {
        state.onEvent(event)
        tell(event)
      }
      const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent: keep })
      miner.resumeUnfinished(state.unfinished)
      const left = state.readLater(this.#stop.signal).then((unfinished) => {
        if (!this.#isDead) onLeft(unfinished)
        miner.resumeUnfinished(unfinished)
      })
      left.catch((error) => this.#options.onError(error))
      this.snapshot = await miner.run(this.#stop.signal)
    } finally {
      await nodes.close()
    }
  }
}
