/** Native that verifies proofs of other chains. */
import type { Run } from '../machine/ast.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import type { ObjectValue } from '../values/value.ts'
import { weigh } from './weight.ts'

/** Returns the result of the command that the proof proves. */
function verifySpv(args: Arguments<Run>): ObjectValue {
  const [type, proof] = [args.text(0), args.object(1)]
  weigh(proof, args as Arguments<never>)
  const { spv } = args.run.block
  const verified = spv === undefined ? { fault: 'SPV verification not supported' } : spv(type, proof)
  if ('fault' in verified) throw args.error(`SPV verification failure: ${verified.fault}`)
  return verified.value
}

export const PROOFS: readonly Native<Run>[] = [native('verify-spv', 2, 2, verifySpv)]
