/** Continues a pact from the list: gets the proof, tries the step out, and sends it. */
import type { ListedPact, NextPactStep } from '#ground/schema/pacts.ts'
import type { NodeView } from '#ground/schema/view.ts'
import { askNode } from './ask.ts'
import type { Keyring } from './keyring.ts'
import { chainPath, creationSeconds, proofOf } from './node-calls.ts'
import { pageNonce, signedDraft } from './signing.ts'

/** Gas of a transfer's second step, as the gas stations of live networks allow it; gas of other steps. */
const TRANSFER_GAS = 850
const STEP_GAS = 10_000
const GAS_PRICE = '0.00000001'
const TTL_SECONDS = 600

export interface Completion {
  readonly pact: ListedPact
  readonly next: NextPactStep
  readonly isRollback: boolean
  /** Pays for gas. It signs if the page has its key. */
  readonly payer: string
}

interface TriedStep {
  readonly result: { readonly status: string; readonly error?: { readonly message: string } }
}

/**
 * Sends the next step, or the rollback of the last one.
 * @param onTold gets what happens
 * @returns the request key
 * @throws Error if it would fail, or if the node refuses it
 */
export async function sendNextStep(
  { pact, next, isRollback, payer }: Completion,
  { view: { network, status }, keyring }: { readonly view: NodeView; readonly keyring: Keyring },
  onTold: (text: string) => void,
): Promise<string> {
  const { chain, proofOf: proven } = next
  const isTransfer = isTransferName(pact.name)
  let proof: string | null = null
  if (proven !== null && !isRollback) {
    onTold(`fetches the proof from chain ${proven.chain}`)
    proof = await proofOf(network, { ...proven, targetChain: chain })
  }
  const step = isRollback ? next.step - 1 : next.step
  const key = keyring.find(payer)
  // Second steps of transfers need no signature but that for gas; other steps may need any.
  const capabilities = isTransfer ? [{ name: 'coin.GAS', args: [] }] : []
  const signed = await signedDraft({
    networkId: network.name,
    chain,
    payload: { pactId: pact.pactId, step, rollback: isRollback, data: '{}', proof },
    signers: key === undefined ? [] : [{ key, capabilities }],
    sender: payer,
    gasLimit: Math.min(isTransfer ? TRANSFER_GAS : STEP_GAS, status?.gas.blockLimit ?? STEP_GAS),
    gasPrice: higher(GAS_PRICE, status?.gas.minPrice ?? GAS_PRICE),
    ttl: TTL_SECONDS,
    creationTime: await creationSeconds(),
    nonce: pageNonce(),
  })
  const path = `${chainPath(network, chain)}/pact/api/v1`
  onTold('tries it out')
  const tried = await askNode<TriedStep | { readonly preflightResult: TriedStep }>(
    `${path}/local?preflight=true&signatureVerification=true`,
    signed,
  )
  const { result } = 'preflightResult' in tried ? tried.preflightResult : tried
  if (result.status !== 'success') throw new Error(`not sent, it would fail: ${result.error?.message ?? result.status}`)
  onTold('sends it')
  await askNode(`${path}/send`, { cmds: [signed] })
  return signed.hash
}

const higher = (a: string, b: string) => (Number(a) < Number(b) ? b : a)

/** Whether a pact is the transfer of a token between chains (`fungible-xchain-v1`). */
export const isTransferName = (name: string) => name.endsWith('.transfer-crosschain')
