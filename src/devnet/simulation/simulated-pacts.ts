/** Named commands of a simulation, the pacts that they began or continued, and proofs of their results. */
import { decodeBase64Url } from '#ground/base/bytes.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import type { CommandToSimulate } from '#ground/schema/control.ts'
import type { PactState } from '#language/contracts/machine/ast.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import type { StepToRun } from './commands.ts'
import { InvalidSimulation } from './invalid-simulation.ts'
import type { ProofPlace, SimulatedProofs } from './simulated-proofs.ts'

/** The last step of a pact. */
interface SimulatedStep {
  readonly chain: number
  /** Request key of the command that ran it. */
  readonly requestKey: string
  readonly step: number
}

/** The step that a command ran, in its result. */
interface StepResult {
  readonly continuation: { readonly pactId: string; readonly step: number } | null
}

/** Where a command is to run. */
interface CommandPlace extends ProofPlace {
  /** Place in the request. */
  readonly at: string
}

/** Where a step is to run. */
interface StepPlace extends CommandPlace {
  readonly state: ReadableState
}

const decoder = new TextDecoder()

export class SimulatedPacts {
  readonly #proofs: SimulatedProofs
  /** Name of a command -> its request key. */
  readonly #named = new Map<string, string>()
  /** Request key -> pact that the command began or continued. */
  readonly #pactOf = new Map<string, string>()
  /** Pact id -> its last step. */
  readonly #steps = new Map<string, SimulatedStep>()

  constructor(proofs: SimulatedProofs) {
    this.#proofs = proofs
  }

  /** @throws InvalidSimulation if another command has this name */
  name(name: string, requestKey: string, at: string): void {
    if (this.#named.has(name)) throw new InvalidSimulation(`${at}/name: an earlier command has the name ${name} too`)
    this.#named.set(name, requestKey)
  }

  /** Takes the result of a command. @param output JSON text */
  note(requestKey: string, output: string, chain: number): void {
    const { continuation } = parsePlainJson(output) as StepResult
    if (continuation === null) return
    const { pactId, step } = continuation
    this.#pactOf.set(requestKey, pactId)
    this.#steps.set(pactId, { chain, requestKey, step })
  }

  /** Fields of the proof of the result of a named command, as `verify-spv` takes them. @throws InvalidSimulation */
  proofOf(name: string, place: CommandPlace): object {
    const key = this.#named.get(name)
    if (key === undefined) {
      const guess = suggestName(name, this.#named.keys())
      throw new InvalidSimulation(`${place.at}: no earlier command has the name ${JSON.stringify(name)}${guess}`)
    }
    const proof = this.#proofs.prove(key, place)
    if (proof === 'early') {
      const rule = 'a command has a proof in all blocks after its own, and none if no block took it'
      throw new InvalidSimulation(`${place.at}: ${JSON.stringify(name)} has no proof here: ${rule}`)
    }
    if (proof === null) {
      throw new InvalidSimulation(`${place.at}: the network has no way from the chain of ${name} to ${place.chain}`)
    }
    return parsePlainJson(decoder.decode(decodeBase64Url(proof, 'proof'))) as object
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

  #prove({ requestKey, chain }: SimulatedStep, place: StepPlace): string | null {
    const proof = this.#proofs.prove(requestKey, place)
    if (proof === 'early') {
      throw new InvalidSimulation(
        `${place.at}/continue: the step before is in the same block, on chain ${chain}: its proof holds from the next block on`,
      )
    }
    return proof
  }
}
