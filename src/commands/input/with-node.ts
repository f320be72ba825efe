/** The connection to a node, for the commands that call contracts. */

import { NodeClient } from '#client/node/client.ts'
import { UnreachableError } from '#client/node/unreachable.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { operatingError, withHint } from '#ground/base/errors.ts'
import { readAuthorities } from './authorities.ts'
import { commandErrors } from './errors.ts'
import { networksOf } from './network-files.ts'

interface NodeValues {
  readonly node: string
  readonly insecure: boolean
  readonly ca: string | undefined
  readonly fingerprint: string | undefined
  readonly 'network-file'?: readonly string[] | undefined
}

/**
 * Connects to the node, runs `task`, and closes the connection. The signal aborts when the user stops the program. Later
 * errors do not count, and the exit code is 1. A node that does not answer is an error at once.
 */
export function withNode(
  config: { readonly values: NodeValues },
  { untilStopped }: Pick<CommandContext, 'untilStopped'>,
  task: (client: NodeClient, stopped: AbortSignal) => Promise<number>,
): Promise<number> {
  const { node, insecure, fingerprint } = config.values
  const ca = readAuthorities(config.values, node.startsWith('https:'))
  return untilStopped(async (stopped) => {
    let client: NodeClient | undefined
    try {
      const networks = await networksOf(config.values['network-file'])
      const trust = { insecure, ...(fingerprint !== undefined && { fingerprint }), ...(ca !== undefined && { ca }) }
      client = await connectToNode({ url: node, networks, ...trust }, stopped)
      return await task(client, stopped)
    } catch (error) {
      if (stopped.aborted) return 1
      throw error
    } finally {
      await client?.close()
    }
  })
}

async function connectToNode(
  options: Parameters<typeof NodeClient.connect>[0],
  stopped: AbortSignal,
): Promise<NodeClient> {
  try {
    return await NodeClient.connect(options, stopped)
  } catch (error) {
    if (!(error instanceof UnreachableError) || error.reason !== 'refused') throw error
    throw withHint(error, 'is a node running there? newcut devnet starts one; --node names another')
  }
}

/** @throws NewcutError BAD_OPTION for a chain that the network does not have. `flag`: such as `--chain` */
export function checkChain({ info }: NodeClient, chain: number, flag: string): void {
  if (info.nodeChains.includes(String(chain))) return
  const chains = info.nodeChains.map(Number)
  const range = `${Math.min(...chains)} to ${Math.max(...chains)}`
  throw operatingError(commandErrors.unknownChain, { flag, chain, network: info.nodeVersion, range })
}

/** The chains of the network, ascending. */
export function chainsOf({ info }: NodeClient): number[] {
  return info.nodeChains.map(Number).sort((a, b) => a - b)
}
