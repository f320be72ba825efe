/** Failures of pacts, yields and their proofs. */
import { fatal, refusal } from './row.ts'

export const PACT_FAILURES = {
  NOT_IN_PACT: fatal(
    "Attempt to fetch defpact data failed because there's no defpact currently being executed.",
    'Attempted to fetch defpact data, but currently not within defpact execution',
  ),
  YIELD_OUTSIDE_PACT: fatal(
    'Failed to yield a value outside of a running defpact execution.',
    'Try to yield a value outside a running defpact execution',
  ),
  NO_ACTIVE_PACT: fatal(
    'No active defpact execution found in the environment.',
    'No active defpact execution in the environment',
  ),
  NO_YIELD: fatal(
    'No yield value found from the previous defpact step. Current step: {step} defpact id: {id}',
    'No yield value found from previous pact step. Current step: {step} defpact Id: {id}',
  ),
  INVALID_STEP: fatal(
    'Step does not match defpact properties: Requested: {step} Step count: {count}',
    'DefPactStep does not match defpact properties: requested: {step} step count:{count}',
  ),
  PACT_ID_MISMATCH: fatal(
    'Requested defpact id: {asked:20} does not match context defpact id: {found:20}',
    'Requested defpact id: {asked} does not match context defpact id: {found}',
  ),
  CROSS_CHAIN_CONTINUATION: fatal(
    'Cross-chain defpact continuation error: defpact id: {id:20}',
    'Crosschain defpact continuation error: defpact id:{step}',
  ),
  NESTED_ROLLBACK_MISMATCH: fatal(
    'Nested defpact execution failed for defpact id: {id:20} Parameter mismatch. ' +
      'Rollback: {rollback} Parent rollback: {parentRollback}',
    'Nested defpact execution failed, parameter mismatch: defpact id: {id} ' +
      'Rollback: {rollback} Parent rollback:{parentRollback}',
  ),
  NESTED_COUNT_MISMATCH: fatal(
    'Nested defpact execution failed for defpact id: {id:20} Parameter mismatch. ' +
      'Step count: {count} Parent step count: {parentCount}',
    'Nested defpact execution failed, parameter mismatch: PactId: {id} ' +
      'step count: {count} Parent step count: {parentCount}',
  ),
  NO_PREVIOUS_PACT: fatal(
    'No previous defpact execution found for defpact id:  {id:20}',
    'No previous defpact execution found for defpact id:  {id}',
  ),
  PACT_COMPLETED: fatal(
    'Requested defpact execution already completed for defpact id: {id:20}',
    'Requested defpact already completed:  defpact id:{id}',
  ),
  NESTED_NEVER_STARTED: fatal(
    'Requested nested defpact execution never started for defpact id: {id:20}',
    'Requested nested defpact never started: defpact id: {id}',
  ),
  NESTED_TWICE: fatal(
    'Requested nested defpact double execution failed for defpact id: {id:20}',
    'Requested nested defpact double execution: defpact id: {id}',
  ),
  PACT_RUNNING: fatal(
    'Another defpact execution context is already running in the environment for defpact id: {id:20}',
    'defpact execution context already in the environment:  defpact id: {id}',
  ),
  NO_ROLLBACK: fatal('Step has no rollback in defpact id: {id:20}', 'Step has no rollback: defpact id: {id}'),
  NO_PACT_NAMED: fatal(
    'No defpact id or execution environment supplied.',
    'No defpact id or execution environment supplied',
  ),
  ROLLBACK_MISMATCH: fatal(
    'Rollback mismatch in defpact step and defpact execution environment for defpact id: {id:20} ' +
      'Step rollback: {rollback} Execution environment rollback: {hasRollback}',
    'Rollback mismatch in DefPactStep and defpact execution environment: defpact id: {id} ' +
      'step rollback: {rollback} DefPactExec rollback: {hasRollback}',
  ),
  STEP_MISMATCH: fatal(
    'Step mismatch in DefPactStep and defpact execution environment for defpact id: {id:20} ' +
      'Step: {step} Execution environment step: {next}',
    'Step mismatch in DefPactStep and defpact execution environment: defpact id: {id} ' +
      'step: {step} DefPactExec step: {next}',
  ),
  NESTED_NOT_ADVANCED: fatal(
    'Nested defpact execution failed to advanced for defpact id: {id:20}',
    'Nested defpact not advanced {id}',
  ),
  PROVENANCE_MISMATCH: fatal(
    'Yield provenance does not match, received: {receivedProvenance} , expected: {expectedProvenance}',
    'Yield provenance does not match, received {shownReceived}, expected {shownExpected}',
  ),
  YIELD_WITH_ROLLBACK: fatal(
    'Program encountered an unhandled error: Cross-chain yield not allowed in step with rollback',
    'Program encountered an unhandled raised error: Cross-chain yield not allowed in step with rollback',
  ),
  NO_CALLING_MODULE: fatal(
    'Program encountered an unhandled error: no module call in stack',
    'Program encountered an unhandled raised error: no module call in stack',
  ),
  OTHER_PACT: refusal(
    'Pact guard failed because of an invalid pact id. Expected: {wanted:20}, but got: {found:20}',
    'Capability pact guard failed: invalid pact id, expected {wanted} got {found}',
  ),
}
