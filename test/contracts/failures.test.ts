/** Texts of failures: each row of the tables, as test files and live nodes word it. */
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { failuresDocument } from '../../scripts/docs/failures.ts'
import { ContractError, evalError } from '../../src/language/contracts/errors.ts'
import { failure } from '../../src/language/contracts/failures/failure.ts'
import { FAILURES, type FailureKey } from '../../src/language/contracts/failures/tables.ts'
import { hashText } from '../../src/language/contracts/values/hash.ts'
import { MODULE_HASH, provoked } from './provoked.ts'

const LONG = 'a-key-of-many-characters'

const ID = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g'
const SHORT = 'DldRwCblQ7Loqy6wYJna...'
/** Id of `(m.plain)` within the pact of that id. */
const NESTED = hashText(`${ID}:{"args":[],"def":"m.plain"}`)

/** Code that provokes a failure, with the values of its texts. Values are those of the wire, then of test files. */
const PROVOKED: Partial<Record<FailureKey, readonly [code: string, runner: string, wire: string]>> = {
  ARRAY_BOUNDS: [
    '(at 2 [1])',
    'Array index out of bounds. Length (1), Index (2)',
    'Array index out of bounds. Length: 1, Index: 2',
  ],
  WRONG_ARGUMENTS: [
    '(+ m [1])',
    'Type error: failed to call native function + with argument(s) of type(s): modref, list',
    'Type error: failed to call native function +, with argument(s) of type(s): modref, list',
  ],
  NATIVE_FAILED: [
    '(env-set-debug-flag "x")',
    'native execution failure, env-set-debug-flag failed with message: unrecognized flag in env-set-debug: x',
    'Native execution failed for env-set-debug-flag with the message: unrecognized flag in env-set-debug: x',
  ],
  TEST_NATIVE_IN_MODULE: [
    '(module n G (defcap G () true) (defun f () (print 1)))',
    'Program encountered an unhandled raised error: repl native disallowed in module code. ' +
      'If you want to use this, enable them with (env-enable-repl-natives true)',
    'Program encountered an unhandled error: repl native disallowed in module code. ' +
      'If you want to use this, enable them with (env-enable-repl-natives true)',
  ],
  NO_MODULE: ['(typecheck "nobody")', 'Cannot find module: nobody', 'Cannot find module: nobody'],
  TOO_MANY_ARGUMENTS: [
    '(m.f "a" "b")',
    'Attempted to apply a closure to too many arguments',
    'Failed to apply a function or closure because there were too many arguments.',
  ],
  NO_CLOSURE: ['(let ((x 1)) (x 2))', 'Cannot apply value to non-closure', 'Cannot apply value to a non-closure.'],
  TYPE_MISMATCH: [
    '(m.f [1])',
    'Runtime typecheck failure, argument is list , but expected type string',
    'Type check failed. The argument is  list but the expected type is  string',
  ],
  NO_BOOL: ['(if 1 2 3)', 'expected bool value, got 1', 'Expected Boolean value, but got: integer'],
  NO_STRING: ['(enforce false 1)', 'expected string value, got: 1', 'Expected string value, but got: integer'],
  NO_FIELD: [
    `(at "${LONG}" {"a": 1})`,
    `Key "${LONG}" not found in object: {"a": 1}`,
    'Key a-key-of-m... not found in object.',
  ],
  NO_ADMIN: [
    '(commit-tx) (write m.t "a" {"a": 1})',
    'Module admin necessary for operation but has not been acquired:m',
    'Module admin is necessary for operation but has not been acquired: m',
  ],
  NOT_INSTALLED: [
    '(m.use-managed)',
    'Managed capability not installed: (m.MANAGED 1)',
    'Managed capability m.MANAGED was not installed. ' +
      'Check the sigs field or the arguments to verify that the capability is specified correctly.',
  ],
  INSTALLED_BEFORE: [
    '(install-capability (m.MANAGED 1)) (install-capability (m.MANAGED 1))',
    'Capability already installed: (m.MANAGED 1)',
    'Capability m.MANAGED already installed.',
  ],
  NOT_MANAGED: [
    '(install-capability (m.PLAIN "a"))',
    'Install capability error: capability is not managed and cannot be installed: m.PLAIN',
    'Install capability failed. Capability is not declared as a managed capability and cannot be installed. m.PLAIN',
  ],
  NO_EVENT: ['(m.emit)', `Invalid event capability m.PLAIN.{${MODULE_HASH}}`, 'Invalid event capability: m.PLAIN'],
  EVENT_OF_OTHER_MODULE: [
    '(acquire-module-admin m) (emit-event (m.EVENT))',
    'Emitted event does not match module: m',
    'Emitted event does not match module: m',
  ],
  OTHER_FIELDS: [
    '(insert m.t "b" {"b": 1})',
    'Attempted insert failed due to schema mismatch. Expected: {"a": integer}, received {"b": 1}',
    'Insert failed because of a schema mismatch with m.s',
  ],
  NOT_GRANTED: [
    '(m.need)',
    'require-capability: not granted: (m.PLAIN "a")',
    'The required capability has not been granted: m.PLAIN',
  ],
  USED_ONCE: [
    '(install-capability (m.AUTO)) (m.use-auto) (m.use-auto)',
    'One-shot managed capability used more than once',
    'Managed capabilities can only be used once.',
  ],
  GUARD_NOT_HELD: [
    '(m.held)',
    'Capability not acquired: CapabilityGuard {name: m.PLAIN,args: ["a"],pactId: }',
    'Capability not acquired: m.PLAIN',
  ],
  KEYSET_FAILURE: [
    '(env-data {"k": ["0123456789abc", "short"]}) (enforce-guard (read-keyset "k"))',
    'Keyset failure (keys-all): [01234567..., short...]',
    'Keyset failure ( keys-all ):  0123456789..., short',
  ],
  UNREADABLE: ['(read-integer "x")', 'read-integer failure', 'read-integer failed. Invalid format or missing key.'],
  NO_ROW: [
    `(read m.t "${LONG}")`,
    `No value found in table m_t for key: ${LONG}`,
    'No value found in table m_t for key: a-key-of-m...',
  ],
  ROW_EXISTS: [
    '(insert m.t "a" {"a": 1})',
    'Error during database operation: Value already found while in Insert mode in table m_t at key "a"',
    'Error during database operation: Insert failed because the value already exists in the table: m_t at key "a"',
  ],
  NO_ROW_TO_UPDATE: [
    '(update m.t "b" {"a": 1})',
    'Error during database operation: No row found during update in table m_t at key b',
    'Error during database operation: Update failed because no row was found in table: m_t at key "b"',
  ],
  NO_TABLE: [
    '(read m.u "a")',
    'Error during database operation: Table m_u not found',
    'Error during database operation: Table access failed because table m_u was not found.',
  ],
  TABLE_EXISTS: [
    '(create-table m.t)',
    'Error during database operation: Table m_t already exists',
    'Error during database operation: Creation of user table m_t failed because the table already exists.',
  ],
  READ_ONLY: [
    '(enforce (= "" (write m.t "a" {"a": 1})) "")',
    'Error during database operation: Operation disallowed in read-only or sys-only mode',
    'Error during database operation: Operation is not allowed in read-only or system-only mode.',
  ],
  NO_TRANSACTION: [
    '(commit-tx) (rollback-tx)',
    'Error during database operation: No Transaction currently in progress, cannot execute "rollback"',
    'Error during database operation: Cannot execute rollback because no transaction is currently in progress.',
  ],
  NO_KEYSET: [
    '(keyset-ref-guard "nobody")',
    "Cannot find keyset in database: 'nobody",
    'Cannot find keyset in the database: nobody',
  ],
  WRONG_KEYSET: [
    '(env-exec-config ["EnforceKeyFormats"]) (env-data {"k": ["x"]}) (read-keyset "k")',
    'Invalid keyset format: KeySet {keys: [x],pred: keys-all}',
    'Invalid keyset format. Check that keys have the right length and signature scheme.',
  ],
  OUTSIDE_NAMESPACE: [
    '(env-exec-config ["RequireKeysetNs"]) (env-data {"k": ["x"]}) (define-keyset "k" (read-keyset "k"))',
    'Cannot define keyset outside of a namespace',
    'Cannot define keyset outside of a namespace.',
  ],
  NO_NAMESPACE: ['(namespace "nobody")', 'Namespace not found: nobody', 'Namespace not found: nobody'],
  CLOSED_ROOT: [
    '(defun no (a b) true) (env-namespace-policy false no) (module n G (defcap G () true))',
    'Namespace installation error: cannot install in root namespace',
    'Namespace installation failed. Cannot install modules in the root namespace.',
  ],
  NOT_IN_PACT: [
    '(pact-id)',
    'Attempted to fetch defpact data, but currently not within defpact execution',
    "Attempt to fetch defpact data failed because there's no defpact currently being executed.",
  ],
  YIELD_OUTSIDE_PACT: [
    '(yield {"a": 1})',
    'Try to yield a value outside a running defpact execution',
    'Failed to yield a value outside of a running defpact execution.',
  ],
  NO_ACTIVE_PACT: [
    '(resume {"a" := a} a)',
    'No active defpact execution in the environment',
    'No active defpact execution found in the environment.',
  ],
  NO_YIELD: [
    '(m.unyielded) (continue-pact 1)',
    `No yield value found from previous pact step. Current step: 1 defpact Id: ${ID}`,
    `No yield value found from the previous defpact step. Current step: 1 defpact id: ${ID}`,
  ],
  INVALID_STEP: [
    '(m.plain) (continue-pact 2)',
    'DefPactStep does not match defpact properties: requested: 2 step count:2',
    'Step does not match defpact properties: Requested: 2 Step count: 2',
  ],
  NESTED_ROLLBACK_MISMATCH: [
    '(m.mixed)',
    `Nested defpact execution failed, parameter mismatch: defpact id: ${ID} Rollback: True Parent rollback:False`,
    `Nested defpact execution failed for defpact id: ${SHORT} Parameter mismatch. Rollback: True Parent rollback: False`,
  ],
  NESTED_COUNT_MISMATCH: [
    '(m.counts)',
    `Nested defpact execution failed, parameter mismatch: PactId: ${ID} step count: 3 Parent step count: 2`,
    `Nested defpact execution failed for defpact id: ${SHORT} Parameter mismatch. Step count: 3 Parent step count: 2`,
  ],
  NO_PREVIOUS_PACT: [
    '(continue-pact 1 false "nobody")',
    'No previous defpact execution found for defpact id:  nobody',
    'No previous defpact execution found for defpact id:  nobody',
  ],
  PACT_COMPLETED: [
    '(m.plain) (continue-pact 1) (continue-pact 1)',
    `Requested defpact already completed:  defpact id:${ID}`,
    `Requested defpact execution already completed for defpact id: ${SHORT}`,
  ],
  NESTED_NEVER_STARTED: [
    '(m.twice)',
    `Requested nested defpact never started: defpact id: ${NESTED}`,
    `Requested nested defpact execution never started for defpact id: ${NESTED.slice(0, 20)}...`,
  ],
  NESTED_TWICE: [
    '(m.late) (continue-pact 1)',
    `Requested nested defpact double execution: defpact id: ${NESTED}`,
    `Requested nested defpact double execution failed for defpact id: ${NESTED.slice(0, 20)}...`,
  ],
  PACT_RUNNING: [
    '(m.plain) (m.plain)',
    `defpact execution context already in the environment:  defpact id: ${ID}`,
    `Another defpact execution context is already running in the environment for defpact id: ${SHORT}`,
  ],
  NO_ROLLBACK: [
    '(m.plain) (continue-pact 0 true)',
    `Step has no rollback: defpact id: ${ID}`,
    `Step has no rollback in defpact id: ${SHORT}`,
  ],
  NO_PACT_NAMED: [
    '(continue-pact 1)',
    'No defpact id or execution environment supplied',
    'No defpact id or execution environment supplied.',
  ],
  ROLLBACK_MISMATCH: [
    '(m.plain) (continue-pact 1 true)',
    `Rollback mismatch in DefPactStep and defpact execution environment: defpact id: ${ID} ` +
      'step rollback: True DefPactExec rollback: False',
    `Rollback mismatch in defpact step and defpact execution environment for defpact id: ${SHORT} ` +
      'Step rollback: True Execution environment rollback: False',
  ],
  STEP_MISMATCH: [
    '(m.plain) (continue-pact 0)',
    `Step mismatch in DefPactStep and defpact execution environment: defpact id: ${ID} step: 0 DefPactExec step: 1`,
    `Step mismatch in DefPactStep and defpact execution environment for defpact id: ${SHORT} ` +
      'Step: 0 Execution environment step: 1',
  ],
  NESTED_NOT_ADVANCED: [
    '(m.forgets) (continue-pact 1)',
    `Nested defpact not advanced ${ID}`,
    `Nested defpact execution failed to advanced for defpact id: ${SHORT}`,
  ],
  YIELD_WITH_ROLLBACK: [
    '(m.back)',
    'Program encountered an unhandled raised error: Cross-chain yield not allowed in step with rollback',
    'Program encountered an unhandled error: Cross-chain yield not allowed in step with rollback',
  ],
  NO_CALLING_MODULE: [
    '(m.plain) (yield {"a": 1} "7")',
    'Program encountered an unhandled raised error: no module call in stack',
    'Program encountered an unhandled error: no module call in stack',
  ],
  OTHER_PACT: [
    '(m.guarded) (env-hash (hash "x")) (let ((g (at "g" (at "yield" (pact-state true))))) (do (m.plain) (enforce-guard g)))',
    `Capability pact guard failed: invalid pact id, expected ${ID} got ${hashText('x')}`,
    `Pact guard failed because of an invalid pact id. Expected: ${SHORT}, but got: ${hashText('x').slice(0, 20)}...`,
  ],
}

describe('the texts of a failure', () => {
  it.each(Object.entries(PROVOKED))('%s fails with the texts of runner and node', (_, [code, runner, wire]) => {
    expect(provoked(code)).toEqual([runner, wire])
  })

  it('the texts of a failure are made when they are read', () => {
    let shown = 0
    const error = failure('NO_FIELD', { field: 'a', object: () => `${++shown}` })
    expect(shown).toBe(0)
    expect(error.message).toBe('Key "a" not found in object: 1')
    expect(error.wireMessage).toBe('Key a not found in object.')
    expect(shown).toBe(1)
  })

  it('the texts of a failure cut values by characters, not by code units', () => {
    expect(failure('NO_ROW', { table: 't', key: '\u{1f600}'.repeat(11) }).wireMessage).toBe(
      `No value found in table t for key: ${'\u{1f600}'.repeat(10)}...`,
    )
  })

  it('the text of a failure names chain and hash of a yield that was meant for another chain', () => {
    const [runner, wire] = provoked('(env-chain-data {"chain-id": "1"}) (m.crossing) (continue-pact 1)')
    const [, received, wanted] = /^Yield provenance does not match, received (.*), expected (.*)$/.exec(runner) ?? []
    expect(received).toMatch(/^\(Provenance 7 [\w-]{43}\)$/)
    expect(wanted).toBe(`[${received.replace('7', '1')}]`)
    expect(wire).toMatch(
      /^Yield provenance does not match, received: Provenance 7 [\w-]{20}\.\.\. , expected: Provenance 1 [\w-]{20}\.\.\.$/,
    )
  })
})

describe('an execution error with one text', () => {
  it('an execution error with one text gets the wording of test files from the tables', () => {
    const error = evalError('Cannot apply value to a non-closure.')
    expect(error.message).toBe('Cannot apply value to non-closure')
    expect(error.wireMessage).toBe('Cannot apply value to a non-closure.')
  })

  it('an execution error keeps a text that the tables do not have', () => {
    expect(evalError('something else').message).toBe('something else')
  })

  it('an execution error keeps the text of a failed enforce, whatever it says', () => {
    const text = 'Cannot apply value to a non-closure.'
    expect(new ContractError('TxFailure', text).message).toBe(text)
    expect(provoked(`(enforce false "${text}")`)).toEqual([text, text])
  })

  it('an execution error keeps a wording of its own', () => {
    expect(evalError('a', null, 'Cannot apply value to a non-closure.').message).toBe('a')
  })
})

it('each failure has one name for each of its texts', () => {
  for (const wording of ['wire', 'runner'] as const) {
    const texts = Object.values(FAILURES).map((row) => row[wording])
    expect(new Set(texts).size).toBe(texts.length)
  }
})

it('CONTRACT-ERRORS.md matches the tables; npm run docs:tables rewrites it', async () => {
  const path = fileURLToPath(new URL('../../docs/CONTRACT-ERRORS.md', import.meta.url))
  await expect(failuresDocument()).toMatchFileSnapshot(path)
})
