/** Runs the verifiers of a command before its code, as node release 3.2 does. */

import { type VerifierName, verifierNames } from '#ground/chain/network.ts'
import { evalError } from '#language/contracts/errors.ts'
import type { Run } from '#language/contracts/machine/ast.ts'
import { compareText } from '#language/contracts/values/compare.ts'
import type { VerifierUse } from '../../command/command.ts'
import { allow } from './allow.ts'
import { hyperlaneMessage } from './hyperlane-message.ts'
import { signedList } from './signed-list.ts'
import { distinctTokens, type Verifier, VerifierGas, VerifierRefusal } from './verifier.ts'

const MILLIGAS = 1000

/** All verifiers, the same in every node release. */
const verifiers: Readonly<Record<VerifierName, Verifier>> = {
  allow,
  hyperlane_v3_message: hyperlaneMessage,
  signed_list: signedList,
}

/**
 * Runs verifiers ordered by name, and those of one name in reverse order of the command. Charges their gas together
 * afterwards.
 * @param allowed names of the verifiers of the network at this height; null for all
 * @throws ContractError of the first that refuses
 */
export function runVerifiers(run: Run, uses: readonly VerifierUse[], allowed: readonly string[] | null): void {
  if (uses.length === 0) return
  const before = run.transaction.gas.limit - run.transaction.gas.used
  const gas = new VerifierGas(Math.floor(before / MILLIGAS))
  const inOrder = [...uses].reverse().sort((one, other) => compareText(one.name, other.name))
  for (const use of inOrder) runVerifier(use, gas, allowed)
  run.charge(before - gas.left * MILLIGAS)
}

function runVerifier({ name, proof, granted }: VerifierUse, gas: VerifierGas, allowed: readonly string[] | null): void {
  const known = verifierNames.find((each) => each === name)
  if (known === undefined || (allowed !== null && !allowed.includes(known)))
    throw evalError(`verifier does not exist: ${name}`)
  try {
    verifiers[known](proof, distinctTokens(granted), gas)
  } catch (error) {
    // Live nodes catch all other errors of a verifier, and hide their text.
    throw evalError(error instanceof VerifierRefusal ? error.message : 'Uncaught exception in verifier')
  }
}
