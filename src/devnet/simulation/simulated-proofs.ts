/** Proofs of the results of simulated commands, for other chains of the simulation. */
import type { Header } from '#ground/chain/header.ts'
import type { Network } from '#ground/chain/network.ts'
import { proveSimulated, type SimulatedOutput } from './proofs.ts'

/** A command in a complete block. */
interface ProvableOutput extends SimulatedOutput {
  /** Position of the block in the simulation. */
  readonly block: number
}

/** Where a proof is to hold. */
export interface ProofPlace {
  readonly chain: number
  /** Position of the block in the simulation. */
  readonly block: number
}

const decoder = new TextDecoder()

export class SimulatedProofs {
  readonly #network: Network
  readonly #heads: ReadonlyMap<number, Header>
  /** Request key -> the command in its block. */
  readonly #outputs = new Map<string, ProvableOutput>()
  /** Proof -> the chain where it holds, and JSON text of the result. */
  readonly #proofs = new Map<string, { readonly chain: number; readonly output: string }>()

  /** @param heads newest block of each chain below the simulated ones */
  constructor(network: Network, heads: ReadonlyMap<number, Header>) {
    this.#network = network
    this.#heads = heads
  }

  /** Takes a complete block. @param requestKeys its commands, in order */
  add(requestKeys: readonly string[], block: Omit<ProvableOutput, 'index'>): void {
    for (const [index, key] of requestKeys.entries()) this.#outputs.set(key, { ...block, index })
  }

  /**
   * Proves the result of a command.
   * @returns `early` if no block before this place has the command, and null if the network has no way to that chain
   */
  prove(requestKey: string, { chain, block }: ProofPlace): string | 'early' | null {
    const found = this.#outputs.get(requestKey)
    if (found === undefined || found.block >= block) return 'early'
    const proof = proveSimulated(this.#network, this.#heads, found, chain)
    const { output } = found.payload.transactions[found.index]
    if (proof !== null) this.#proofs.set(proof, { chain, output: decoder.decode(output) })
    return proof
  }

  /** JSON text of the result that a proof of this simulation proves to a chain; undefined for any other proof. */
  outputOf(proof: string, chain: number): string | undefined {
    const found = this.#proofs.get(proof)
    return found?.chain === chain ? found.output : undefined
  }
}
