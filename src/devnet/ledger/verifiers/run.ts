/** Runs the verifiers of a command before its code, as release 3.2 of the live node does. */
import { evalError } from '../../../contracts/errors.ts'
import type { Run } from '../../../contracts/machine/ast.ts'
import { compareText } from '../../../contracts/values/order.ts'
import type { VerifierUse } from '../../command/command.ts'
import { allow } from './allow.ts'
import { hyperlaneMessage } from './hyperlane-message.ts'
import { signedList } from './signed-list.ts'
import { distinct, type Verifier, VerifierGas, VerifierRefusal } from './verifier.ts'

const MILLIGAS = 1000

/** Those of a development network, in every release of the node. */
const verifiers: ReadonlyMap<string, Verifier> = new Map([
  ['allow', allow],
  ['hyperlane_v3_message', hyperlaneMessage],
  ['signed_list', signedList],
])

/**
 * Runs verifiers by name, those of one name from the last in the command to the first, and charges what they took at
 * once. Throws ContractError for the first that refuses.
 */
export function runVerifiers(run: Run, uses: readonly VerifierUse[]): void {
  if (uses.length === 0) return
  const before = run.transaction.gas.limit - run.transaction.gas.used
  const gas = new VerifierGas(Math.floor(before / MILLIGAS))
  const inOrder = [...uses].reverse().sort((one, other) => compareText(one.name, other.name))
  for (const use of inOrder) runVerifier(use, gas)
  run.charge(before - gas.left * MILLIGAS)
}

function runVerifier({ name, proof, granted }: VerifierUse, gas: VerifierGas): void {
  const verifier = verifiers.get(name)
  if (verifier === undefined) throw evalError(`verifier does not exist: ${name}`)
  try {
    verifier(proof, distinct(granted), gas)
  } catch (error) {
    // Live nodes catch whatever else goes wrong in a verifier, and tell nothing of it.
    throw evalError(error instanceof VerifierRefusal ? error.message : 'Uncaught exception in verifier')
  }
}
