/** The first lines of a miner or a leader, and its control from keyboard and signals. */
import { availableParallelism, cpus } from 'node:os'
import type { MinerStart } from '#compose/miner.ts'
import { paidLine } from '#compose/payee.ts'
import type { MinerSetup } from '#compose/setup.ts'
import type { ConsoleView } from '#faces/cli/console.ts'
import { networkLine } from './network-lines.ts'

/** Version, fee and machine. */
export function firstLines(version: string): string[] {
  const processor = cpus()[0]?.model.trim() ?? process.arch
  return [
    `newcut ${version}, no fee: all blocks are yours`,
    `machine: ${processor}, ${availableParallelism()} threads, Node ${process.versions.node}`,
  ]
}

/** The HTTP addresses. */
export function faceLines(api: MinerStart['api']): string[] {
  if (api === null) return ['metrics: off']
  return [`metrics: ${api.url}/metrics, summary: ${api.url}/api/summary`, `dashboard: ${api.url}/`]
}

/** The sources of work and the payee, without passwords. */
export function sourceLines({ node, source: description, payee }: MinerStart, source: MinerSetup['source']): string[] {
  switch (source.kind) {
    case 'fleet':
      return [description, `paid: ${payee}, set by the leader`]
    case 'pools': {
      const [urls, users] = [source.pools.map(({ url }) => url), source.pools.map(({ user }) => user)]
      return [
        `${urls.length > 1 ? 'pools, in order of priority' : 'pool'}: ${urls.join(', ')}`,
        `paid: ${[...new Set(users)].join(', ')}, by the pool`,
      ]
    }
    case 'nodes':
      return node === null ? [] : nodeLines(node, source.urls)
    case 'embedded':
      return node === null ? [] : nodeLines(node, [])
  }
}

function nodeLines({ client, account, embedded }: NonNullable<MinerStart['node']>, urls: readonly string[]): string[] {
  const { nodeVersion, nodeChains, nodeBlockDelay } = client.info
  const seconds = client.blockDelayMs / 1000
  const delay =
    nodeBlockDelay === undefined ? `unknown block delay, assumed to be ${seconds} s,` : `block delay ${seconds} s`
  return [
    embedded === null
      ? `network: ${nodeVersion}, ${nodeChains.length} chains, ${delay} at ${client.http.baseUrl}`
      : networkLine(embedded),
    ...(urls.length > 1 ? [`nodes, in order of priority: ${urls.join(', ')}`] : []),
    paidLine(account),
  ]
}

export function journalLines(journal: MinerStart['journal']): string[] {
  if (journal === null) return []
  const { folder, unfinished } = journal
  if (unfinished === 0) return [`journal: ${folder}`]
  const solutions = unfinished === 1 ? 'solution' : 'solutions'
  return [`journal: ${folder}, with ${unfinished} ${solutions} of earlier runs to settle`]
}

/** Lets keys and SIGUSR1 control the miner. @returns a function that ends this. */
export function attendMiner(view: ConsoleView, { miner }: MinerStart): () => void {
  const toggle = () => (miner.paused ? miner.resume() : miner.pause())
  process.on('SIGUSR1', toggle)
  const leave = view.attend(miner)
  return () => {
    process.off('SIGUSR1', toggle)
    leave()
  }
}
