/** Failures of running code. */
import { fatal } from './row.ts'

const TEST_NATIVE =
  'repl native disallowed in module code. If you want to use this, enable them with (env-enable-repl-natives true)'

export const RUN_FAILURES = {
  NO_MODULE_MEMBER: fatal('Module member does not exist: {member}', 'Module member does not exist {member}'),
  NO_MODULE: fatal('Cannot find module: {module}'),
  TEST_NATIVE_IN_MODULE: fatal(
    `Program encountered an unhandled error: ${TEST_NATIVE}`,
    `Program encountered an unhandled raised error: ${TEST_NATIVE}`,
  ),
  NATIVE_FAILED: fatal(
    'Native execution failed for {native} with the message: {why}',
    'native execution failure, {native} failed with message: {why}',
  ),
}
