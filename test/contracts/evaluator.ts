/** Runs code without test natives, as a node would. */
import { ContractError } from '../../src/contracts/errors.ts'
import { languageForms, nativesWith } from '../../src/contracts/language.ts'
import { type Environment, emptyEnvironment, type GasMeter } from '../../src/contracts/machine/environment.ts'
import { Evaluator } from '../../src/contracts/machine/evaluator.ts'
import { runText } from '../../src/contracts/machine/execute.ts'
import { Layer } from '../../src/contracts/machine/state.ts'
import type { Term } from '../../src/contracts/machine/term.ts'

const natives = nativesWith()

export const environment: Environment = {
  ...emptyEnvironment,
  data: new Map(),
  hash: 'hash-of-the-command',
  chain: { ...emptyEnvironment.chain, chainId: '0', blockHeight: 7n, sender: 'alice', gasLimit: 150_000n },
  rules: { ...emptyEnvironment.rules, areKeysChecked: false },
}

export function freeGas(): GasMeter {
  return { used: 0, limit: Number.POSITIVE_INFINITY }
}

export function evaluatorOn(state: Layer, gas: GasMeter = freeGas(), changes: Partial<Environment> = {}): Evaluator {
  return new Evaluator({ ...environment, ...changes }, state, gas, natives)
}

/** Runs a text on an evaluator. */
export function runOn(evaluator: Evaluator, text: string): Term {
  return runText(evaluator, languageForms, text)
}

/** What a text gives, or the error that it ends in. Throws what is no error of the language. */
export function outcome(
  evaluator: Evaluator,
  text: string,
): { readonly value: Term } | { readonly error: ContractError } {
  try {
    return { value: runOn(evaluator, text) }
  } catch (error) {
    if (error instanceof ContractError) return { error }
    throw error
  }
}

export { Layer }
