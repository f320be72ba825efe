/** The verifier `allow` of release 3.2 of the live node: its proof is the JSON of the one capability that it grants. */
import { equalValues } from '../../../contracts/values/equal.ts'
import type { CapabilityToken, Value } from '../../../contracts/values/value.ts'
import { FormatError } from '../../../core/errors.ts'
import { parseExactJson } from '../../../core/json.ts'
import { tokenAt } from '../command.ts'
import { type VerifierGas, VerifierRefusal } from './verifier.ts'

const GAS = 100

/** Throws VerifierRefusal unless the capability in the proof is the one that is granted. */
export function allow(proof: Value, granted: readonly CapabilityToken[], gas: VerifierGas): void {
  gas.charge(GAS)
  const proven = capabilityFrom(proof)
  if (granted.length !== 1 || !equalValues(granted[0], proven)) {
    throw new VerifierRefusal('granted capability is not the one in the proof')
  }
}

function capabilityFrom(proof: Value): CapabilityToken {
  if (typeof proof !== 'string') throw new VerifierRefusal('expected string literal in verifier arguments')
  try {
    return tokenAt(parseExactJson(proof), 'proof')
  } catch (error) {
    if (!(error instanceof FormatError || error instanceof SyntaxError)) throw error
    throw new VerifierRefusal(`argument was not a JSON-encoded capability: ${proof}`)
  }
}
