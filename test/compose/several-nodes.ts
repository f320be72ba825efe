/** A miner with several nodes over real HTTP: proxies to an embedded node that the test closes and reopens. */
import { onTestFinished } from 'vitest'
import { type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { runMiner } from '../../src/compose/miner.ts'
import type { MinerSetup, NodesSetup } from '../../src/compose/setup.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { type Gate, gateTo } from '../source/gate.ts'
import { until } from '../wait.ts'

export async function network(options: DevnetOptions = {}): Promise<number> {
  const devnet = await startDevnet({ port: 0, graph: 'pair', difficulty: 2_000n, blockDelayMs: 200, ...options })
  onTestFinished(() => devnet.close())
  return Number(new URL(devnet.url).port)
}

export async function gate(port: number, isOpen = true): Promise<Gate> {
  const made = await gateTo(port, isOpen)
  onTestFinished(() => made.shut())
  return made
}

/** A miner for these nodes, with its events. */
export function miner(
  urls: readonly [string, ...string[]],
  { source = {}, ...changes }: Partial<Pick<MinerSetup, 'http' | 'limits'>> & { source?: Partial<NodesSetup> } = {},
) {
  const events: MinerEvent[] = []
  const stop = new AbortController()
  const setup: MinerSetup = {
    source: {
      ...{ kind: 'nodes', urls, trust: { insecure: false }, failFast: false, failbackMs: 3_000 },
      payee: { account: null, predicate: 'keys-all', publicKeys: null },
      ...source,
    },
    search: { kind: 'own', threads: 1, kernel: 'js', priority: 'normal', gpu: null },
    http: { host: '127.0.0.1', port: 0, isRequired: true },
    limits: {},
    ...changes,
  }
  let face = ''
  let pause: () => void = () => undefined
  const ended: Promise<Snapshot> = runMiner(setup, {
    onEvent: (event) => void events.push(event),
    onStart: (start) => {
      face = start.api?.url ?? ''
      pause = () => start.miner.pause()
    },
    stopped: stop.signal,
  })
  ended.catch(() => undefined)
  onTestFinished(async () => {
    stop.abort()
    await ended.catch(() => undefined)
  })
  /** Resolves with the first matching event at or after index `first`. */
  const seen = async (isWanted: (event: MinerEvent) => boolean, first = 0): Promise<MinerEvent> => {
    const find = () => events.find((each, index) => index >= first && isWanted(each))
    await until(() => find() !== undefined)
    return find() as MinerEvent
  }
  return {
    events,
    ended,
    stop,
    seen,
    /** Resolves when the engines search work of this node. */
    workFrom: ({ url }: Gate, first = 0) => seen((each) => each.type === 'work' && each.issuer === url, first),
    /** Resolves when this node has a block of the miner in its chain. */
    blockAt: ({ url }: Gate, first = 0) => {
      const isBlock = (each: MinerEvent) =>
        each.type === 'solution' && each.verdict === 'accepted' && each.issuer === url
      return seen(isBlock, first)
    },
    said: (text: string) => seen((each) => 'message' in each && each.message.includes(text)),
    summary: async () => (await (await fetch(`${face}/api/summary`)).json()) as Snapshot,
    metrics: async () => (await fetch(`${face}/metrics`)).text(),
    /** Pauses the engines; the miner keeps watching its nodes. */
    pause: () => pause(),
    /** An answer of the page's gateway. */
    page: (path: string, body?: Buffer | string) => {
      const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream'
      const sent = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': type } }
      return fetch(`${face}/mine/${path}`, sent)
    },
  }
}

export const lost = ({ solutions }: Snapshot) => solutions.lost + solutions.rejected
