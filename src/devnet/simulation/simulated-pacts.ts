/** Pacts that commands of a simulation began or continued, and the proofs of their steps for other chains. */
import { parsePlainJson } from '#ground/base/json.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import type { Header } from '#ground/chain/header.ts'
import type { Network } from '#ground/chain/network.ts'
import type { CommandToSimulate } from '#ground/schema/control.ts'
import type { PactState } from '#language/contracts/machine/ast.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import type { StepToRun } from './commands.ts'
import { InvalidSimulation } from './invalid-simulation.ts'
import { proveSimulated, type SimulatedOutput } from './proofs.ts'

/** The last step of a pact. */
interface SimulatedStep {
  readonly chain: number
  /** Position of the block in the simulation. */
  readonly block: number
  readonly step: number
  /** JSON text of the result. */
  readonly output: string
  /** Set once its block is complete. */
  proven: SimulatedOutput | null
}

/** The step that a command ran, in its result. */
interface StepResult {
  readonly continuation: { readonly pactId: string; readonly step: number } | null
}

/** Where a step is to run. */
interface StepPlace {
  readonly at: string
  readonly chain: number
  /** Position of the block in the simulation. */
  readonly block: number
  readonly state: ReadableState
}

export class SimulatedPacts {
  readonly #network: Network
  readonly #heads: ReadonlyMap<number, Header>
  /** Name of a command -> its request key. */
  readonly #named = new Map<string, string>()
  /** Request key -> pact that the command began or continued. */
  readonly #pactOf = new Map<string, string>()
  /** Pact id -> its last step. */
  readonly #steps = new Map<string, SimulatedStep>()
  /** Proof -> JSON text of the result that it proves. */
  readonly #proofs = new Map<string, string>()

  /** @param heads newest block of each chain below the simulated ones */
  constructor(network: Network, heads: ReadonlyMap<number, Header>) {
    this.#network = network
    this.#heads = heads
  }

  /** @throws InvalidSimulation if another command has this name */
  name(name: string, requestKey: string, at: string): void {
    if (this.#named.has(name)) throw new InvalidSimulation(`${at}/name: an earlier command has the name ${name} too`)
    this.#named.set(name, requestKey)
  }

  /** Takes the result of a command. @param output JSON text */
  note(requestKey: string, output: string, { chain, block }: Pick<SimulatedStep, 'chain' | 'block'>): void {
    const { continuation } = parsePlainJson(output) as StepResult
    if (continuation === null) return
    const { pactId, step } = continuation
    this.#pactOf.set(requestKey, pactId)
    this.#steps.set(pactId, { chain, block, step, output, proven: null })
  }

  /** Takes the block that has these steps. @param requestKeys its commands, in order */
  complete(requestKeys: readonly string[], block: Omit<SimulatedOutput, 'index'>): void {
    for (const [index, key] of requestKeys.entries()) {
      const step = this.#steps.get(this.#pactOf.get(key) ?? '')
      if (step?.proven === null && step.chain === block.header.chainId) step.proven = { ...block, index }
    }
  }

  /** JSON text of the result that a proof of this simulation proves; undefined for any other proof. */
  outputOf(proof: string): string | undefined {
    return this.#proofs.get(proof)
  }

  /** The step that a command is to run. @throws InvalidSimulation */
  stepOf(
    { pact, step, rollback = false, proof }: NonNullable<CommandToSimulate['continue']>,
    place: StepPlace,
  ): StepToRun {
    const pactId = this.#idOf(pact, place.at)
    const last = this.#steps.get(pactId)
    const before = last?.step ?? place.state.get<PactState | null>('pacts', pactId)?.step ?? 0
    const own = last === undefined || last.chain === place.chain || rollback ? null : this.#prove(last, place)
    return { pactId, step: step ?? (rollback ? before : before + 1), rollback, proof: proof ?? own }
  }

  #idOf(pact: string, at: string): string {
    const key = this.#named.get(pact)
    // A command that failed began no pact: its continuation fails as on the network.
    if (key !== undefined) return this.#pactOf.get(key) ?? key
    if (/^[\w-]{43}$/.test(pact)) return pact
    const expected = 'neither the name of an earlier command nor the id of a pact'
    throw new InvalidSimulation(
      `${at}/continue/pact: ${JSON.stringify(pact)} is ${expected}${suggestName(pact, this.#named.keys())}`,
    )
  }

  #prove({ proven, output, chain, block }: SimulatedStep, place: StepPlace): string | null {
    if (proven === null || block === place.block) {
      throw new InvalidSimulation(
        `${place.at}/continue: the step before is in the same block, on chain ${chain}: its proof holds from the next block on`,
      )
    }
    const proof = proveSimulated(this.#network, this.#heads, proven, place.chain)
    if (proof !== null) this.#proofs.set(proof, output)
    return proof
  }
}
