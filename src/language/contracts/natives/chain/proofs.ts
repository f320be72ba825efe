/** Native that verifies proofs of other chains. */
import type { Run } from '../../machine/ast.ts'
import { weightOf } from '../../machine/gas/bounds.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import type { ObjectValue } from '../../values/value.ts'

/** Work of each character of a proof: decoding it, and hashing the output and the steps. */
const CHARACTER_WORK = 10

/** Returns the result of the command that the proof proves. */
function verifySpv(args: Arguments<Run>): ObjectValue {
  const [type, proof] = [args.text(0), args.object(1)]
  args.work(CHARACTER_WORK * weightOf(proof))
  const { spv } = args.run.block
  const verified = spv === undefined ? { fault: 'SPV verification not supported' } : spv(type, proof)
  if ('fault' in verified) throw args.error(`SPV verification failure: ${verified.fault}`)
  return verified.value
}

export const PROOFS: readonly Native<Run>[] = [native('verify-spv', 2, 2, verifySpv)]
