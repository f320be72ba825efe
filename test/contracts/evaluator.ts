/** Runs code without the natives of the test runner, as a node does. */
import { ContractError } from '../../src/language/contracts/errors.ts'
import { language } from '../../src/language/contracts/language.ts'
import {
  type Environment,
  emptyEnvironment,
  freeGas,
  type GasMeter,
  type Message,
} from '../../src/language/contracts/machine/environment.ts'
import { Evaluator } from '../../src/language/contracts/machine/evaluate/evaluator.ts'
import { runText } from '../../src/language/contracts/machine/load/execute.ts'
import { newTransaction } from '../../src/language/contracts/machine/scopes.ts'
import { Layer } from '../../src/language/contracts/machine/state.ts'
import type { Term } from '../../src/language/contracts/machine/term.ts'
import type { Tracer } from '../../src/language/contracts/machine/tracer.ts'
import { TracingEvaluator } from '../../src/language/contracts/trace/tracing-evaluator.ts'

const { block, message } = emptyEnvironment

export const environment: Environment = {
  block: {
    chain: { ...block.chain, chainId: '0', blockHeight: 7n },
    rules: { ...block.rules, areKeysChecked: false },
  },
  message: { ...message, data: new Map(), hash: 'hash-of-the-command', sender: 'alice', gasLimit: 150_000n },
}

export function evaluatorOn(state: Layer, gas: GasMeter = freeGas(), changes: Partial<Message> = {}): Evaluator {
  return new Evaluator(language, environment.block, newTransaction({ ...environment.message, ...changes }, state, gas))
}

/** Like evaluatorOn, with a tracer. */
export function tracingEvaluatorOn(
  state: Layer,
  gas: GasMeter,
  changes: Partial<Message>,
  tracer: Tracer,
): TracingEvaluator {
  const transaction = newTransaction({ ...environment.message, ...changes }, state, gas)
  return new TracingEvaluator(language, environment.block, transaction, { tracer, probe: null })
}

/** Runs a text on an evaluator. */
export function runOn(evaluator: Evaluator, text: string): Term {
  return runText(evaluator, text)
}

/** The value of a text, or the contract error that it fails with. Rethrows any other error. */
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

export { freeGas, Layer }
