/** The part of the form that continues a pact: its id, the step, and the proof of the step before. */

import type { Payload } from '#client/wallet/command.ts'
import type { NetworkView } from '#ground/schema/view.ts'
import { element, write } from '../../kit/dom.ts'
import type { MessageData } from './argument-field.ts'
import { textOfError } from './ask.ts'
import { FieldFault, FieldReader } from './field-fault.ts'
import { faultIn, input, markFields, select, textarea } from './fields.ts'
import { fillChains } from './frame.ts'
import { proofOf } from './node-calls.ts'

const HERE = ''
const REQUEST_KEY = /^[\w-]{43}$/
/** Base64url of a proof; a proof has no other characters. */
const PROOF = /^[\w-]+={0,2}$/

export interface ContinuationOptions {
  readonly network: () => NetworkView | null
  /** Chain of the form, which runs the step. */
  readonly chain: () => number
  /** Called when a field gets another text. */
  readonly onChange: () => void
}

export class ContinuationFields {
  readonly #options: ContinuationOptions

  constructor(options: ContinuationOptions) {
    this.#options = options
    element('fetch-proof').addEventListener('click', () => void this.#fetchProof())
    select('proof-chain').addEventListener('change', () => this.#showProof())
    input('rollback').addEventListener('change', () => this.#showProof())
  }

  /** Fills the fields from a link. @param chains number of chains of the network */
  open(place: URLSearchParams, chains: number): void {
    fillChains('proof-chain', chains, place.get('source') ?? HERE, 'this chain')
    input('pact-id').value = place.get('pact') ?? ''
    input('step').value = place.get('step') ?? '1'
    input('rollback').checked = place.get('rollback') === 'true'
    input('proof-key').value = place.get('key') ?? ''
    this.#showProof()
  }

  /** Parameters of a link that fills the fields again. The proof is not among them. */
  get place(): Readonly<Record<string, string | null>> {
    const { isProven } = this
    return {
      pact: input('pact-id').value.trim(),
      step: input('step').value.trim(),
      rollback: input('rollback').checked ? 'true' : null,
      source: isProven ? select('proof-chain').value : null,
      key: isProven ? input('proof-key').value.trim() : null,
    }
  }

  /** Whether the step before ran on another chain. A rollback runs where its step ran. */
  get isProven(): boolean {
    return select('proof-chain').value !== HERE && !input('rollback').checked
  }

  #showProof(): void {
    element('proof-chain-part').hidden = input('rollback').checked
    element('proof-part').hidden = !this.isProven
  }

  /**
   * Reads the fields.
   * @throws FieldFault, with all that are wrong
   */
  read(data: MessageData): Payload {
    const reader = new FieldReader()
    const pactId = reader.take(readPactId, '')
    const step = reader.take(readStep, 0)
    const proof = reader.take(() => (this.isProven ? readProof() : null), null)
    reader.finish()
    return { pactId, step, data: JSON.stringify(data), rollback: input('rollback').checked, proof }
  }

  async #fetchProof(): Promise<void> {
    const network = this.#options.network()
    if (network === null) return
    const key = input('proof-key').value.trim() || input('pact-id').value.trim()
    const field = textarea('proof')
    field.value = ''
    this.#options.onChange()
    write('proof-told', 'fetching')
    element('proof-told').dataset.outcome = 'waiting'
    try {
      if (!REQUEST_KEY.test(key))
        throw faultIn('proof-key', 'expected the request key of the step before, 43 characters')
      const chain = Number(select('proof-chain').value)
      const targetChain = this.#options.chain()
      if (chain === targetChain) throw new Error(`no proof is needed: the step before ran on chain ${chain} too`)
      field.value = await proofOf(network, { chain, requestKey: key, targetChain })
      element('proof-told').dataset.outcome = 'success'
      write('proof-told', `chain ${chain} has run the step before, and chain ${targetChain} can verify it`)
    } catch (error) {
      element('proof-told').dataset.outcome = 'failure'
      if (error instanceof FieldFault) markFields(error)
      write('proof-told', textOfError(error))
    }
  }
}

/** @throws FieldFault */
function readPactId(): string {
  const text = input('pact-id').value.trim()
  if (text !== '') return text
  throw faultIn('pact-id', 'pact: expected its id, which is the request key of its first step')
}

/** @throws FieldFault */
function readStep(): number {
  const step = Number(input('step').value.trim() || Number.NaN)
  if (Number.isInteger(step) && step >= 0) return step
  throw faultIn('step', 'step: expected a whole number from 0')
}

/** @throws FieldFault */
function readProof(): string {
  const proof = textarea('proof').value.trim()
  if (PROOF.test(proof)) return proof
  if (proof !== '') throw faultIn('proof', 'proof: expected the text that POST /pact/spv returns')
  throw faultIn('proof', 'proof: fetch it first: the step before ran on another chain')
}
