/** Paths of the interface of the node, its clock, and its proofs. */

import { creationTimeAt } from '#client/wallet/command.ts'
import type { KnownAccounts } from '#ground/schema/pacts.ts'
import type { NetworkView } from '#ground/schema/view.ts'
import { askNode } from './ask.ts'

/** Path of a chain in the interface of the node. */
export const chainPath = ({ product, name }: Pick<NetworkView, 'product' | 'name'>, chain: number) =>
  `/${product}/0.0/${name}/chain/${chain}`

/** Creation time of a new command by the clock of the node, in seconds. */
export async function creationSeconds(): Promise<number> {
  const { headers } = await fetch('/health-check', { cache: 'no-store', headers: { 'x-newcut-page': '1' } })
  return creationTimeAt(1000 * Number(headers.get('x-server-timestamp')) || Date.now())
}

/** A step whose result another chain is to know. */
export interface ProofRequest {
  readonly chain: number
  readonly requestKey: string
  readonly targetChain: number
}

/**
 * Proof of a step, as a continuation takes it.
 * @throws RefusedByNode while there is none
 */
export function proofOf(network: NetworkView, { chain, requestKey, targetChain }: ProofRequest): Promise<string> {
  return askNode<string>(`${chainPath(network, chain)}/pact/spv`, { requestKey, targetChainId: String(targetChain) })
}

/** The accounts that the node funded. Only browsers on its machine get them. */
export const publishedAccounts = () => askNode<KnownAccounts>('/devnet/accounts')
