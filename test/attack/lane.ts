/** A lane: a node, the proxy in front of it, and a miner at the proxy. Lies run in it one after the other. */
import type { GraphName } from '../../src/ground/chain/graph.ts'
import { until } from '../wait.ts'
import { Ground } from './ground.ts'
import { type Miner, startMiner } from './miner.ts'
import { LyingProxy } from './proxy.ts'

const MAX_SOCKETS = 60
const MAX_LABEL_SETS = 250
const MAX_GROWTH_MIB = 250
/** Lines of each kind in a failure report. */
const REPORTED_LINES = 100
const REPORTED_CHARACTERS = 300

/** Control characters C0 (except line ends and tabs) and C1, and characters that change the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches output for control characters
const RAW = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/
/** The same characters escaped in JSON: a program that prints the decoded text prints them raw. */
const ESCAPED = /\\u00(?:0[0-8b-f]|1[0-9a-f]|7f|[89][0-9a-f])|\\[bf]/i
const STACK_TRACE =
  /^\s+at .+|\b(Uncaught|Unhandled|triggerUncaught\w*|(Type|Range|Reference|Syntax|Assertion)Error)\b/m

export class Lane {
  readonly ground: Ground
  readonly proxy: LyingProxy
  miner: Miner | null = null
  #blocksBefore = 0
  #memoryMiB: number | null = null
  #linesBefore = 0
  /** The condition that `until` waits for. */
  #awaited: string | null = null

  private constructor(ground: Ground, proxy: LyingProxy) {
    this.ground = ground
    this.proxy = proxy
  }

  static async open(graph?: GraphName, blockDelayMs?: number): Promise<Lane> {
    const ground = await Ground.start(graph, blockDelayMs)
    return new Lane(ground, await LyingProxy.start(ground.url))
  }

  /** Starts a miner in place of the previous one. */
  async start(args: readonly string[] = []): Promise<Miner> {
    await this.miner?.kill()
    this.#blocksBefore = this.ground.blocks.size
    this.#memoryMiB = null
    this.miner = startMiner(this.proxy.url, args)
    return this.miner
  }

  /** The running miner, or a new one once it mines. */
  async mining(): Promise<Miner> {
    const miner = this.miner?.end === null ? this.miner : await this.start()
    const blocks = this.ground.blocks.size
    await this.until('blocks before the lie', () => this.ground.blocks.size >= blocks + 3)
    this.#memoryMiB ??= miner.memoryMiB
    this.#linesBefore = miner.lines.length
    return miner
  }

  /** Waits for the condition; fails if the miner exits first. */
  async until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
    this.#awaited = what
    await until(async () => {
      if (await check()) return true
      if (this.miner === null || this.miner.end === null) return false
      await this.miner.ended
      throw this.failure(`the miner ended (${JSON.stringify(this.miner.end)}) instead of: ${what}`)
    })
    this.#awaited = null
  }

  /** Waits until every chain gets a new block. */
  async everyChainMoves(): Promise<void> {
    const before = this.ground.moves()
    await this.until(
      'a block on every chain, now that the node is honest',
      () => this.ground.unmovedSince(before).length === 0,
    )
  }

  /** Checks the invariants that hold whatever the node does. */
  async expectSane(): Promise<void> {
    const { miner } = this
    if (miner === null) return
    this.#expectCleanOutput(miner)
    this.#expectTruth(miner)
    if (this.proxy.mostSockets > MAX_SOCKETS) {
      throw this.failure(`${this.proxy.mostSockets} connections at once, at most ${MAX_SOCKETS} expected`)
    }
    const grownMiB = (miner.memoryMiB ?? 0) - (this.#memoryMiB ?? miner.memoryMiB ?? 0)
    if (grownMiB > MAX_GROWTH_MIB) throw this.failure(`memory grew by ${Math.round(grownMiB)} MiB`)
    const metrics = await miner.fetchPath('/metrics')
    const labelSets = metrics?.text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length ?? 0
    if (labelSets > MAX_LABEL_SETS) throw this.failure(`/metrics has ${labelSets} lines`)
    const summary = (await miner.fetchPath('/api/summary'))?.text ?? ''
    if (RAW.test(summary) || ESCAPED.test(summary)) throw this.failure(`/api/summary: control characters: ${summary}`)
  }

  #expectCleanOutput(miner: Miner): void {
    if (STACK_TRACE.test(miner.err)) throw this.failure('a stack trace on standard error')
    for (const text of [miner.err, miner.out]) {
      const [raw] = RAW.exec(text) ?? ESCAPED.exec(text) ?? []
      if (raw !== undefined) throw this.failure(`a control character in the output: ${JSON.stringify(raw)}`)
    }
  }

  #expectTruth(miner: Miner): void {
    const real = this.ground.blocks
    const invented = miner.lines.filter(({ claims, hash }) => claims && !real.has(hash ?? ''))
    if (invented.length > 0) throw this.failure(`called accepted, but on no chain: ${invented[0].line}`)
    const accepted = miner.lines.findLast((said) => said.accepted !== null)?.accepted ?? 0
    const mined = real.size - this.#blocksBefore
    if (accepted > mined) throw this.failure(`${accepted} blocks accepted, but the chains got ${mined}`)
  }

  /** An error whose text includes the report. */
  failure(message: string): Error {
    return new Error(`${message}\n${this.report()}`)
  }

  /** The observations so far and the pending condition, as text. */
  report(): string {
    const { miner, proxy, ground } = this
    const brief = (line: string) => JSON.stringify(line.slice(0, REPORTED_CHARACTERS))
    const since = miner?.lines.slice(this.#linesBefore) ?? []
    const complaints = since.filter(({ kind }) => kind === 'complaint').slice(-REPORTED_LINES)
    const err = (miner?.err ?? '').trim().split('\n').slice(0, REPORTED_LINES)
    const lines = [
      ...(this.#awaited === null ? [] : [`  still waiting for: ${this.#awaited}`]),
      `  asked: ${JSON.stringify(Object.fromEntries(proxy.asked))}, connections: ${proxy.sockets} (most ${proxy.mostSockets})`,
      `  blocks on the chains: ${ground.blocks.size}; the miner ended: ${JSON.stringify(miner?.end ?? null)}`,
      `  lines by kind: ${JSON.stringify(countKinds(since))}`,
      ...complaints.map(({ line }) => `  complaint: ${brief(line)}`),
      ...since.slice(-REPORTED_LINES).map(({ line }) => `  output: ${brief(line)}`),
      ...err.map((line) => `  error: ${brief(line)}`),
      ...proxy.history.slice(-REPORTED_LINES).map((line) => `  node: ${line}`),
    ]
    return lines.join('\n')
  }

  async close(): Promise<void> {
    await this.miner?.kill()
    await this.proxy.close()
    await this.ground.close()
  }
}

function countKinds(said: readonly { readonly kind: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of said) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** Lends lanes to tests, so that several run at once. A lane mines at full speed and closes after its last test. */
export class Lanes {
  readonly #graph: GraphName | undefined
  readonly #free: Lane[] = []
  readonly #all = new Set<Lane>()
  /** Tests that have not started. */
  #awaited: number

  constructor(tests: number, graph?: GraphName) {
    this.#awaited = tests
    this.#graph = graph
  }

  /** Runs a test with a lane of its own. After a failure the lane gets a new miner. */
  async use(run: (lane: Lane) => Promise<void>): Promise<void> {
    this.#awaited--
    const lane = this.#free.pop() ?? (await this.#open())
    try {
      await run(lane)
    } catch (error) {
      lane.proxy.end()
      await lane.miner?.kill()
      throw error
    } finally {
      if (this.#awaited > 0) this.#free.push(lane)
      else await this.#close(lane)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((lane) => this.#close(lane)))
  }

  async #close(lane: Lane): Promise<void> {
    this.#all.delete(lane)
    await lane.close()
  }

  async #open(): Promise<Lane> {
    const lane = await Lane.open(this.#graph)
    this.#all.add(lane)
    return lane
  }
}
