/** Verifier `allow` of node release 3.2. Its proof is the JSON of the only capability that it grants. */
import { FormatError } from '#ground/base/errors.ts'
import { type ExactJson, parseExactJson } from '#ground/base/json.ts'
import { Type } from '#ground/schema/typebox.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import { equalValues } from '#language/contracts/values/compare.ts'
import { CapabilityToken, type Value } from '#language/contracts/values/value.ts'
import { valueFromJson } from '#language/contracts/values/wire.ts'
import { type VerifierGas, VerifierRefusal } from './verifier.ts'

const GAS = 100

/** Wider than capabilities of signers: any name, and arguments are optional. */
const Capability = Type.Object({
  name: Type.String(),
  args: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Null()])),
})

/** @throws VerifierRefusal unless the capability of the proof is the granted one */
export function allow(proof: Value, granted: readonly CapabilityToken[], gas: VerifierGas): void {
  gas.charge(GAS)
  const proven = capabilityOf(proof)
  if (granted.length !== 1 || !equalValues(granted[0], proven)) {
    throw new VerifierRefusal('granted capability is not the one in the proof')
  }
}

function capabilityOf(proof: Value): CapabilityToken {
  if (typeof proof !== 'string') throw new VerifierRefusal('expected string literal in verifier arguments')
  const refusal = new VerifierRefusal(`argument was not a JSON-encoded capability: ${proof}`)
  try {
    const json = parseExactJson(proof)
    if (!validatorOf(Capability).accepts(json)) throw refusal
    const { name, args } = json as unknown as { readonly name: string; readonly args?: readonly ExactJson[] | null }
    return new CapabilityToken(name, (args ?? []).map(valueFromJson))
  } catch (error) {
    if (!(error instanceof FormatError || error instanceof SyntaxError)) throw error
    throw refusal
  }
}
