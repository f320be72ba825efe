/** Failures of running code: calls, types, capabilities and guards. */
import { fatal, refusal } from './row.ts'

const TEST_NATIVE =
  'repl native disallowed in module code. If you want to use this, enable them with (env-enable-repl-natives true)'

export const RUN_FAILURES = {
  NO_MODULE_MEMBER: fatal('Module member does not exist: {member}', 'Module member does not exist {member}'),
  NO_MODULE: fatal('Cannot find module: {module}'),
  ARRAY_BOUNDS: fatal(
    'Array index out of bounds. Length: {length}, Index: {index}',
    'Array index out of bounds. Length ({length}), Index ({index})',
  ),
  WRONG_ARGUMENTS: fatal(
    'Type error: failed to call native function {native}, with argument(s) of type(s): {types}',
    'Type error: failed to call native function {native} with argument(s) of type(s): {types}',
  ),
  NATIVE_FAILED: fatal(
    'Native execution failed for {native} with the message: {why}',
    'native execution failure, {native} failed with message: {why}',
  ),
  TEST_NATIVE_IN_MODULE: fatal(
    `Program encountered an unhandled error: ${TEST_NATIVE}`,
    `Program encountered an unhandled raised error: ${TEST_NATIVE}`,
  ),
  TOP_LEVEL_ONLY: fatal('Top-level call used in module: {native}', 'Top-level call used in module {native}'),
  NO_CLOSURE: fatal('Cannot apply value to a non-closure.', 'Cannot apply value to non-closure'),
  PARTIAL_CLOSURE: fatal(
    'Failed to apply a partial closure outside of the native callsite.',
    'Attempted to apply a closure outside of native callsite',
  ),
  TOO_MANY_ARGUMENTS: fatal(
    'Failed to apply a function or closure because there were too many arguments.',
    'Attempted to apply a closure to too many arguments',
  ),
  NO_VALUE_HERE: fatal(
    'Expected a Pact value, but got a closure or table reference.',
    'Expected Pact Value, got closure or table reference',
  ),
  RECURSION: fatal(
    'Recursion detected by the runtime in function: {name}',
    'Recursion detected by the runtime. Recursing in function: {name}',
  ),
  TYPE_MISMATCH: fatal(
    'Type check failed. The argument is  {found} but the expected type is  {shortType}',
    'Runtime typecheck failure, argument is {found} , but expected type {declaredType}',
  ),
  NO_BOOL: fatal('Expected Boolean value, but got: {type}', 'expected bool value, got {value}'),
  NO_STRING: fatal('Expected string value, but got: {type}', 'expected string value, got: {value}'),
  NO_FIELD: fatal('Key {field:10} not found in object.', 'Key "{field}" not found in object: {object}'),
  NO_ADMIN: fatal(
    'Module admin is necessary for operation but has not been acquired: {module}',
    'Module admin necessary for operation but has not been acquired:{module}',
  ),
  NOT_INSTALLED: fatal(
    'Managed capability {name} was not installed. ' +
      'Check the sigs field or the arguments to verify that the capability is specified correctly.',
    'Managed capability not installed: {token}',
  ),
  INSTALLED_BEFORE: fatal('Capability {name} already installed.', 'Capability already installed: {token}'),
  NOT_MANAGED: fatal(
    'Install capability failed. Capability is not declared as a managed capability and cannot be installed. {name}',
    'Install capability error: capability is not managed and cannot be installed: {name}',
  ),
  IN_DEFCAP: fatal('Form not allowed within a defcap declaration. {native}', 'Form illegal within defcap {native}'),
  EVENT_OF_OTHER_MODULE: fatal('Emitted event does not match module: {module}'),
  NO_EVENT: fatal('Invalid event capability: {name}', 'Invalid event capability {full}'),
  NOT_GRANTED: refusal(
    'The required capability has not been granted: {name}',
    'require-capability: not granted: {token}',
  ),
  USED_ONCE: refusal('Managed capabilities can only be used once.', 'One-shot managed capability used more than once'),
  GUARD_NOT_HELD: refusal('Capability not acquired: {name}', 'Capability not acquired: {guard}'),
  KEYSET_FAILURE: refusal('Keyset failure ( {predicate} ):  {keys}', 'Keyset failure ({predicate}): [{shownKeys}]'),
  VERIFIER_FAILURE: refusal('Verifier {name} failed with the message: {why}', 'Verifier failure {name}: {why}'),
  UNREADABLE: refusal('{native} failed. Invalid format or missing key.', '{native} failure'),
}
