/** Connects to the nodes of a miner and creates the source of work from one or several of them. */

import type { NodeClient } from '#client/node/client.ts'
import { genesisHeaderOf } from '#client/node/genesis-calls.ts'
import { onAbort } from '#client/node/http.ts'
import { sleep } from '#ground/base/clock.ts'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import type { ForkRules } from '#ground/chain/fork.ts'
import type { NetworkDefinition } from '#ground/chain/network.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { type MiningNode, miningNodeOf } from '#mining/source/node/mining-node.ts'
import { NodeSource } from '#mining/source/node/node-source.ts'
import type { NodesSource } from '#mining/source/nodes/nodes-source.ts'
import type { NodeNetwork } from '#mining/source/nodes/reached-node.ts'
import type { ChainChoice, Source } from '#mining/source/source.ts'
import { composeErrors } from '../errors.ts'
import { paidAccountOn } from '../payee.ts'
import type { NodesSetup } from '../setup.ts'
import { connect, connectOnce, type NodeAddress } from './connect.ts'
import { type ConnectedSource, checkChains, FAILBACK_MS } from './connected-source.ts'

/** Nodes that have answered. */
export interface ConnectedNodes {
  /** Client of the highest-priority node among them. */
  readonly client: NodeClient
  /** Clients of the nodes that answer now, the node of the current work first. */
  readonly clients: () => readonly NodeClient[]
  /** Requests a payload from the node of the current work, then from the others. */
  readonly payloads: Pick<NodeClient, 'payloadOutputs'>
  /** Creates the source of work for this account. */
  readonly sourceFor: (account: MinerAccount) => Source & ChainChoice & { readonly silentMs: number }
  readonly close: () => Promise<void>
}

/** How long the start waits for higher-priority nodes after the first answer. */
const GRACE_MS = 2_000
/** Upper bound of the backoff: mining starts with the first node that answers. */
const MAX_PAUSE_MS = 1_000
/** Silence, in block delays, after which an update stream is reopened; at least MIN_STALL_MS. */
const STALL_BLOCK_DELAYS = 5
const MIN_STALL_MS = 10_000

/**
 * Connects to the nodes, and creates the source for the setup's account.
 * @throws NewcutError, or the signal's reason
 */
export async function connectNodeSource(
  setup: NodesSetup,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<ConnectedSource> {
  const { client, clients, payloads, sourceFor, close } = await connectNodes(setup, onWaiting, signal)
  try {
    checkChains(setup.chains, client)
    await compareWithFiles(setup.networks ?? [], client, onWaiting, signal)
    const network = client.info.nodeVersion
    const account = paidAccountOn(network, setup.payee)
    const source = sourceFor(account)
    const silentMs = () => source.silentMs
    const node = { client, clients, payloads, account, embedded: null, silentMs }
    const reached = { source, choice: source, network, payee: account.account, node, attach: () => undefined, close }
    if (setup.pace === undefined) return reached
    return await (await import('./paced.ts')).paceNodes(setup, setup.pace, reached, signal)
  } catch (error) {
    await close()
    throw error
  }
}

/** Reports files of networks that do not fit the node. Mining needs none of them, so it goes on. */
async function compareWithFiles(
  files: readonly NetworkDefinition[],
  client: NodeClient,
  onProblem: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (files.length === 0) return
  const { nodeVersion: name } = client.info
  const file = files.find((each) => each.name === name)
  if (file === undefined) {
    const names = files.map((each) => each.name).join(', ')
    onProblem(`the node belongs to ${name}, but \`network-file\` describes ${names}: it has no effect`)
    return
  }
  try {
    const header = await genesisHeaderOf(client, { signal })
    const { genesisDifference } = await import('#language/copy/genesis-fetch.ts')
    const [property, told, seen] = genesisDifference(header, file) ?? []
    if (property === undefined) return
    onProblem(
      `the file of ${name} has ${property} ${told}, but its genesis header has ${seen}: no header will be right`,
    )
  } catch (error) {
    signal.throwIfAborted()
    onProblem(`the file of ${name} cannot be compared with the node: ${describeError(error)}`)
  }
}

/**
 * Waits for the first node that answers, and up to GRACE_MS longer for the others.
 * @param onWaiting called once, with the reason for waiting
 * @throws NewcutError BAD_OPTION for nodes of different networks, the errors of `connect` if all nodes failed for good,
 * or the signal's reason.
 */
export async function connectNodes(
  setup: Omit<NodesSetup, 'payee'>,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<ConnectedNodes> {
  const { urls: given, trust, networks, dial, failFast, maxWaitMs, confirmations, chains } = setup
  const reaching = { dial, failFast, maxWaitMs, networks }
  const shared = { clock: systemClock, random: Math.random, confirmations, chains }
  const miningNode = (client: NodeClient, account: MinerAccount): MiningNode => {
    const stallMs = setup.stallMs ?? usualStallMs(client.blockDelayMs)
    const forkRules = forkRulesOf(client, setup)
    return miningNodeOf({ client, account, clock: systemClock, stallMs, forkRules, forkVoteChoice: setup.forkWish })
  }
  if (given.length === 1) {
    const client = await connect({ url: given[0], trust, ...reaching }, onWaiting, signal)
    return {
      client,
      clients: () => [client],
      payloads: client,
      sourceFor: (account) => new NodeSource({ node: miningNode(client, account), ...shared }),
      close: () => client.close(),
    }
  }
  const addresses = given.map((url) => {
    const isTls = url.startsWith('https:')
    // Only TLS has a certificate.
    return { url, trust: isTls ? trust : { insecure: trust.insecure }, ...reaching, maxPauseMs: MAX_PAUSE_MS }
  })
  const urls = addresses.map(({ url }) => shownUrl(url))
  const twice = urls.find((url, i) => urls.indexOf(url) < i)
  if (twice !== undefined) {
    throw operatingError(composeErrors.nodeTwice, { url: twice })
  }
  // A single node needs none of these modules.
  const { NodesSource } = await import('#mining/source/nodes/nodes-source.ts')
  const { askNetwork: networkOf, reachedNodeOf } = await import('#mining/source/nodes/reached-node.ts')
  const answered = await firstAnswers(addresses, networkOf, onWaiting, signal)
  const [{ client, network }] = answered.flatMap((each) => each ?? [])
  const nodes = new AnsweredNodes(answered, client)
  try {
    refuseOthers(answered)
  } catch (error) {
    await nodes.close()
    throw error
  }
  const sourceFor = (account: MinerAccount) => {
    const reachedNode = (each: NodeClient) => reachedNodeOf(each, miningNode(each, account))
    const configured = addresses.map((each, i) => {
      const reached = answered[i] && reachedNode(answered[i].client)
      const again = async (ends: AbortSignal) => reachedNode(await connectOnce(each, ends))
      return { url: urls[i], reached, connect: again }
    })
    const { failbackMs = FAILBACK_MS, shareBlocks } = setup
    const source = new NodesSource({ nodes: configured, network, failbackMs, shareBlocks, ...shared })
    nodes.handOver(source)
    return source
  }
  const payloads: ConnectedNodes['payloads'] = {
    payloadOutputs: (...query) => firstAnswerOf(nodes.clients(), (each) => each.payloadOutputs(...query)),
  }
  return { client, clients: () => nodes.clients(), payloads, sourceFor, close: () => nodes.close() }
}

/**
 * Several nodes, in two states:
 * 1. At first they are those that answered at the start. `close` closes their clients.
 * 2. After `handOver`, the source owns them: it knows those that answer now, and closes them with itself.
 */
class AnsweredNodes {
  #owner: Pick<NodesSource, 'clients' | 'close'>

  /** @param first client of the highest-priority node among them */
  constructor(answered: readonly (AnsweringNode | null)[], first: NodeClient) {
    this.#owner = { clients: () => [first], close: () => closeAll(answered) }
  }

  /** Leaves the nodes to the source that was made from them. */
  handOver(source: NodesSource): void {
    this.#owner = source
  }

  clients(): readonly NodeClient[] {
    return this.#owner.clients()
  }

  close(): Promise<void> {
    return this.#owner.close()
  }
}

/** The fork vote of our work, and the epoch length of a development network. */
export type ForkSetup = Partial<Pick<NodesSetup, 'forkWish' | 'forkEpoch'>>

/**
 * @returns the fork rules of a node's network.
 * @throws NewcutError BAD_OPTION for options that these rules exclude
 */
export function forkRulesOf(client: NodeClient, { forkWish = 'node', forkEpoch }: ForkSetup): ForkRules {
  const { network, isKnown } = client.network
  if (!isKnown && forkWish !== 'node') {
    throw operatingError(composeErrors.unknownForkRules, { network: network.name })
  }
  if (forkEpoch === undefined) return network.forks
  if (network.isPublic) {
    throw operatingError(composeErrors.epochOfPublic, { network: network.name, blocks: network.forks.castingBlocks })
  }
  return { ...network.forks, castingBlocks: forkEpoch }
}

/**
 * @returns the first successful answer.
 * @throws the last failure if all nodes fail
 */
async function firstAnswerOf<T>(clients: readonly NodeClient[], call: (client: NodeClient) => Promise<T>): Promise<T> {
  let failure: unknown = operatingError(composeErrors.noNodeAnswers)
  for (const client of clients) {
    try {
      return await call(client)
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      failure = error
    }
  }
  throw failure
}

interface AnsweringNode {
  readonly client: NodeClient
  readonly network: NodeNetwork
}

async function closeAll(answered: readonly (AnsweringNode | null)[]): Promise<void> {
  await Promise.all(answered.map((each) => each?.client.close()))
}

function usualStallMs(blockDelayMs: number): number {
  return Math.max(MIN_STALL_MS, STALL_BLOCK_DELAYS * blockDelayMs)
}

/** The address without user and password, for messages. */
function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '')
}

/**
 * Connects to all nodes until each has answered or failed once and at least one has answered. Waits at most GRACE_MS
 * after the first answer.
 * @returns an entry for each node, null for those without an answer
 */
async function firstAnswers(
  setups: readonly NodeAddress[],
  networkOf: (client: NodeClient, signal: AbortSignal) => Promise<NodeNetwork>,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<(AnsweringNode | null)[]> {
  const enough = new AbortController()
  const forget = onAbort(signal, () => enough.abort(signal.reason))
  const answered: (AnsweringNode | null)[] = setups.map(() => null)
  const failures: string[] = []
  let isOver = false
  const attempts = setups.map((setup, i) => {
    let fail: () => void = () => undefined
    const failed = new Promise<void>((resolve) => {
      fail = resolve
    })
    const onFailure = (message: string) => {
      failures.push(message)
      fail()
    }
    const answer = connect(setup, onFailure, enough.signal).then(async (client) => {
      const network = await networkOf(client, enough.signal).catch(async (error) => {
        await client.close()
        throw error
      })
      // A late answer is dropped; the source connects again.
      if (isOver) await client.close()
      else answered[i] = { client, network }
    })
    return { answer, heardOf: Promise.race([answer.catch(() => undefined), failed]) }
  })
  const allHeardOf = Promise.all(attempts.map(({ heardOf }) => heardOf)).then(() => {
    if (!isOver && answered.every((each) => each === null)) onWaiting(failures.join('; '))
  })
  try {
    await Promise.any(attempts.map(({ answer }) => answer))
    await Promise.race([allHeardOf, sleep(systemClock, GRACE_MS, signal)])
    signal.throwIfAborted()
    return answered
  } catch (error) {
    await closeAll(answered)
    signal.throwIfAborted()
    // All nodes failed for good: report the error of the first one.
    throw error instanceof AggregateError ? error.errors[0] : error
  } finally {
    isOver = true
    forget()
    enough.abort()
  }
}

/** @throws NewcutError BAD_OPTION if the answered nodes belong to different networks */
function refuseOthers(answered: readonly (AnsweringNode | null)[]): void {
  const [first, ...others] = answered.flatMap((each) => each ?? [])
  const other = others.find(({ network }) => network.identity !== first.network.identity)
  if (other === undefined) return
  const [a, b] = [first, other].map(({ client, network }) => `${client.http.baseUrl} is of ${network.name}`)
  const isNameAlike = other.network.name === first.network.name
  const difference = isNameAlike ? ', with different graphs, difficulties or first blocks' : ''
  throw operatingError(composeErrors.differentNetworks, { nodes: `${a}, ${b}${difference}` })
}
