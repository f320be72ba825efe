/** The first lines of a miner or a leader, and its control from keyboard and signals. */
import { availableParallelism, cpus } from 'node:os'
import type { Face } from '../cli/console.ts'
import type { Devnet } from '../compose/devnet.ts'
import type { MinerStart } from '../compose/miner.ts'
import { paidLine } from '../compose/payee.ts'
import { networkLine } from './network.ts'

/** Version, fee and machine. */
export function firstLines(version: string): string[] {
  const processor = cpus()[0]?.model.trim() ?? process.arch
  return [
    `newcut ${version}, no fee: all blocks are yours`,
    `machine: ${processor}, ${availableParallelism()} threads, Node ${process.versions.node}`,
  ]
}

/** What is served over HTTP. */
export function faceLines(api: MinerStart['api']): string[] {
  if (api === null) return ['metrics: off']
  return [`metrics: ${api.url}/metrics, summary: ${api.url}/api/summary`, `dashboard: ${api.url}/`]
}

/** The network, its nodes, and who is paid. */
export function nodeLines(
  { client, account }: NonNullable<MinerStart['node']>,
  devnet: Devnet | null,
  nodes: readonly string[] = [],
): string[] {
  const { nodeVersion, nodeChains, nodeBlockDelay } = client.info
  const seconds = client.blockDelayMs / 1000
  const delay =
    nodeBlockDelay === undefined ? `block delay not told, taken for ${seconds} s,` : `block delay ${seconds} s`
  return [
    devnet === null
      ? `network: ${nodeVersion}, ${nodeChains.length} chains, ${delay} at ${client.http.baseUrl}`
      : networkLine(devnet),
    ...(nodes.length > 1 ? [`nodes, in order of priority: ${nodes.join(', ')}`] : []),
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

/** Keys and SIGUSR1 control the miner until the function returned is called. */
export function attended(face: Face, { miner }: MinerStart): () => void {
  const toggle = () => (miner.paused ? miner.resume() : miner.pause())
  process.on('SIGUSR1', toggle)
  const leave = face.attend(miner)
  return () => {
    process.off('SIGUSR1', toggle)
    leave()
  }
}
