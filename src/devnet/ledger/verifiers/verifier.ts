/** Interface of verifiers: each checks a proof of a command for the capabilities that the proof grants. */
import { equalValues } from '#language/contracts/values/compare.ts'
import type { CapabilityToken, Value } from '#language/contracts/values/value.ts'
import type { VerifierUse } from '../../command/command.ts'

/**
 * Checks that the proof proves these distinct capabilities. Any other error is a bug of the verifier that live nodes
 * share.
 * @throws VerifierRefusal if it does not, or if the gas is insufficient
 */
export type Verifier = (proof: Value, granted: readonly CapabilityToken[], gas: VerifierGas) => void

/** Refusal of a verifier. Its message is the text in the command result. */
export class VerifierRefusal extends Error {}

/** Remaining gas of a command, in whole units. */
export class VerifierGas {
  #left: number

  constructor(left: number) {
    this.#left = left
  }

  get left(): number {
    return this.#left
  }

  /** @throws VerifierRefusal if less is left */
  charge(gas: number): void {
    if (gas > this.#left) {
      throw new VerifierRefusal(
        `gas exhausted in verifier. attempted to charge ${gas} with only ${this.#left} remaining.`,
      )
    }
    this.#left -= gas
  }
}

/** Capabilities that the code can require from the verifiers of each name. */
export function grantedByName(uses: readonly VerifierUse[]): ReadonlyMap<string, readonly CapabilityToken[]> {
  const byName = new Map<string, readonly CapabilityToken[]>()
  for (const { name, granted } of uses) byName.set(name, [...(byName.get(name) ?? []), ...granted])
  return byName
}

/** Removes duplicate capabilities. */
export function distinctTokens(tokens: readonly CapabilityToken[]): CapabilityToken[] {
  return tokens.filter((token, i) => tokens.findIndex((other) => equalValues(token, other)) === i)
}
