/** What verifiers are: checks of proofs in a command, each for the capabilities that the proof grants. */
import { equalValues } from '../../../contracts/values/equal.ts'
import type { CapabilityToken, Value } from '../../../contracts/values/value.ts'
import type { VerifierUse } from '../../command/command.ts'

/**
 * Checks that the proof proves these capabilities, all different from each other. Throws VerifierRefusal if it does not,
 * or if the gas does not suffice. Any other error is one of the verifier itself, as live nodes have them.
 */
export type Verifier = (proof: Value, granted: readonly CapabilityToken[], gas: VerifierGas) => void

/** A verifier refuses. The message is the text that the result of the command tells. */
export class VerifierRefusal extends Error {}

/** What is left of the gas of a command, in whole units. */
export class VerifierGas {
  #left: number

  constructor(left: number) {
    this.#left = left
  }

  get left(): number {
    return this.#left
  }

  /** Throws VerifierRefusal if less is left. */
  charge(gas: number): void {
    if (gas > this.#left) {
      throw new VerifierRefusal(
        `gas exhausted in verifier. attempted to charge ${gas} with only ${this.#left} remaining.`,
      )
    }
    this.#left -= gas
  }
}

/** The capabilities that the code can ask the verifiers of each name for. */
export function grantedByName(uses: readonly VerifierUse[]): ReadonlyMap<string, readonly CapabilityToken[]> {
  const byName = new Map<string, readonly CapabilityToken[]>()
  for (const { name, granted } of uses) byName.set(name, [...(byName.get(name) ?? []), ...granted])
  return byName
}

/** Each capability once. */
export function distinct(tokens: readonly CapabilityToken[]): CapabilityToken[] {
  return tokens.filter((token, i) => tokens.findIndex((other) => equalValues(token, other)) === i)
}
