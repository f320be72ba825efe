/** Runs code of contracts: what others need of the evaluator. */
import { language, printingLanguage } from './language.ts'
import type { Environment, GasMeter } from './machine/environment.ts'
import { Evaluator } from './machine/evaluate/evaluator.ts'
import type { ExpansionProbe } from './machine/expand/probe.ts'
import { newTransaction } from './machine/scopes.ts'
import type { Layer } from './machine/state.ts'
import type { Tracer } from './machine/tracer.ts'
import { TracingEvaluator } from './trace/tracing-evaluator.ts'

export { continuePact } from './machine/evaluate/pacts.ts'
export type { ExpandingRun } from './machine/expand/expander.ts'
export { runForms, runText } from './machine/load/execute.ts'
export {
  grantForTest,
  grantWithoutBody,
  withCapability,
  withGranted,
} from './machine/rights/capabilities.ts'
export { asValue, type Term } from './machine/term.ts'
export type { Tracer } from './machine/tracer.ts'

/** A tracer that may also follow code which is expanded meanwhile. */
export interface TransactionTracer extends Tracer {
  /** Default: nothing follows it. */
  readonly probe?: ExpansionProbe | null
}

/**
 * Begins one transaction, in the language that the rules of its block allow. It writes to the layer.
 * @param gas counts milligas, and has their limit
 */
export function startTransaction(
  { block, message }: Environment,
  layer: Layer,
  gas: GasMeter,
  tracer: TransactionTracer | null = null,
): Evaluator {
  const transaction = newTransaction(message, layer, gas)
  const spoken = block.rules.isPrintAllowed === true ? printingLanguage : language
  if (tracer === null) return new Evaluator(spoken, block, transaction)
  return new TracingEvaluator(spoken, block, transaction, { tracer, probe: tracer.probe ?? null })
}
