/** A development node that judges the client that uses it. */

import type { ClientResult } from '#client/conformance/clients/judge.ts'
import { ClientServer } from '#client/conformance/clients/serve.ts'
import type { ClientSituation } from '#client/conformance/clients/situation-file.ts'
import type { ConformanceReport } from '#client/conformance/run.ts'
import { caseNeeds } from '#client/conformance/words.ts'
import type { Clock } from '#ground/base/clock.ts'
import { development } from '#ground/chain/network-data.ts'
import { definitionOf, type NetworkForm } from '#ground/chain/network-form.ts'
import { type Devnet, startDevnet } from '../devnet.ts'

/** Hashes of a solution on average: a thread finds about one a second, so requests come at a natural pace. */
const DIFFICULTY = 500_000n
/** Blocks of each chain at the start, so that lists and pages have something in them. */
const FIRST_BLOCKS = 3
/** Time between further blocks of each chain: streams have news, even of a client that sends no commands. */
const BLOCK_TIME_MS = 2000
/** Chains of every live network: clients have their number in their code. */
const GRAPH = 'twenty'

/** A report about a client. */
export interface ClientReport extends ConformanceReport {
  readonly cases: readonly ClientResult[]
}

export interface JudgingOptions {
  /** 0 takes any free port. */
  readonly port: number
  /** Network to serve; null for development. */
  readonly network: NetworkForm | null
  readonly situations: readonly ClientSituation[]
  readonly clock: Clock
}

/** Serves clients from its creation to `end`. */
export class JudgingNode {
  /** Address for the client, such as `http://127.0.0.1:1848`. */
  readonly url: string
  readonly #parts: JudgingParts
  #ending: Promise<ClientReport> | null = null

  constructor(url: string, parts: JudgingParts) {
    this.url = url
    this.#parts = parts
  }

  /** Number of requests so far. */
  get requests(): number {
    return this.#parts.server.judge.requests
  }

  /** Milliseconds since the last request; null before the first. */
  get idleMs(): number | null {
    const { clock, pace } = this.#parts
    return pace.lastMs === null ? null : clock.monotonicMs() - pace.lastMs
  }

  /** Ends the node, and decides situations that wait for the client. @returns the verdict, the same at each call */
  end(): Promise<ClientReport> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<ClientReport> {
    const { server, devnet, pace, clock, network } = this.#parts
    try {
      const cases = server.judge.verdict(clock.monotonicMs())
      await server.close()
      const offers = Object.fromEntries(caseNeeds.map((need) => [need, null])) as ClientReport['offers']
      return { node: this.url, network, packageVersion: '3.2', release: 'live 3.2', offers, cases }
    } finally {
      await pace.end()
      await devnet.close()
    }
  }
}

interface JudgingParts {
  readonly server: ClientServer
  readonly devnet: Devnet
  readonly pace: ClientPace
  readonly clock: Clock
  readonly network: string
}

/** Starts the node. Rejects with NewcutError PORT_BUSY. */
export async function startJudgingNode({
  port,
  network: form,
  situations,
  clock,
}: JudgingOptions): Promise<JudgingNode> {
  const devnet = await startDevnet({
    port: 0,
    ...(form === null ? { graph: GRAPH } : { networkName: form.name, networks: [form] }),
    difficulty: DIFFICULTY,
    autoMine: { kind: 'on-arrival', confirmations: 5 },
  })
  const network = form?.name ?? development.name
  const blockGas = (form === null ? null : definitionOf(form).blockGas) ?? development.blockGas
  const chains = devnet.cut.size
  const blocksEach = (count: number) =>
    devnet.mine(Object.fromEntries(Array.from({ length: chains }, (_, i) => [i, count])))
  const pace = new ClientPace(() => blocksEach(1))
  try {
    const server = new ClientServer({
      host: '127.0.0.1',
      port,
      node: devnet.url,
      situations,
      clock,
      served: { network, chains, blockGas },
      onRequest: ({ operation }) => pace.noteRequest(clock.monotonicMs(), operation?.id === 'work'),
    })
    const url = await server.listen()
    await blocksEach(FIRST_BLOCKS)
    return new JudgingNode(url, { server, devnet, pace, clock, network })
  } catch (error) {
    await pace.end()
    await devnet.close()
    throw error
  }
}

/** The times of requests. Blocks come regularly after the first one, never two tasks at once. */
class ClientPace {
  /** Time of the last request; null before the first. */
  lastMs: number | null = null
  readonly #makeBlocks: () => Promise<unknown>
  #timer: NodeJS.Timeout | null = null
  #running: Promise<unknown> | null = null
  // A miner makes the blocks itself: others would make its work stale.
  #isMiner = false

  constructor(makeBlocks: () => Promise<unknown>) {
    this.#makeBlocks = makeBlocks
  }

  noteRequest(nowMs: number, isForWork: boolean): void {
    this.lastMs = nowMs
    if (isForWork) this.#isMiner = true
    this.#timer ??= setInterval(() => {
      if (this.#isMiner) return
      this.#running ??= this.#makeBlocks().finally(() => {
        this.#running = null
      })
    }, BLOCK_TIME_MS)
  }

  /** Resolves once the last blocks are made. */
  async end(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#running
  }
}
