/** Checks of what the running code may do, by its mode. */
import { type ContractError, evalError, type TextPlace } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import type { AccessMode } from '../access-mode.ts'
import type { Module, Run } from '../ast.ts'

/** Mode of conditions and of user guards. They could not read tables before release 5.3. */
export function testMode({ block, call }: Run): AccessMode {
  return block.rules.isLanguage53 ? call.mode.readOnly : call.mode.systemOnly
}

/** @throws EvalError unless the running code may write, and list keys */
export function requireWrite(run: Run): void {
  if (run.call.mode.access !== 'all') throw accessError()
}

/** @throws EvalError unless the running code may read rows of tables */
export function requireRead(run: Run): void {
  if (run.call.mode.access === 'systemOnly') throw accessError()
}

function accessError(): ContractError {
  return databaseError(
    'Operation disallowed in read-only or sys-only mode',
    'Operation is not allowed in read-only or system-only mode.',
  )
}

/** Failure of a read or write. */
export function databaseError(message: string, wireMessage = message): ContractError {
  const prefix = 'Error during database operation: '
  return evalError(prefix + message, null, prefix + wireMessage)
}

/** @throws EvalError within the body of a capability */
export function refuseInCapability(run: Run, name: string, place: TextPlace): void {
  if (!run.call.mode.isInCapability) return
  throw failure('IN_DEFCAP', { native: name }, place)
}

/** Module of the running function, or null at the top level and while a module is loaded. */
export function callingModule({ call }: Run): Module | null {
  return call.frames.at(-1)?.module ?? null
}

/** @throws EvalError if a native stands outside of the body of a capability */
export function requireCapabilityBody(run: Run, native: string, place: TextPlace): void {
  if (run.call.frames.at(-1)?.kind !== 'defcap') throw nativeFailure(native, BODY_NEEDED, place)
}

const BODY_NEEDED = 'native must be called within a defcap body'

/** Refusal by a native. */
export function nativeFailure(native: string, message: string, place: TextPlace): ContractError {
  return evalError(
    `native execution failure, ${native} failed with message: ${message}`,
    place,
    `Native execution failed for ${native} with the message: ${message}`,
  )
}
