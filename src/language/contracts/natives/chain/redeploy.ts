/** Native that stores a module again without a change. */
import { evalError } from '../../errors.ts'
import type { Run } from '../../machine/ast.ts'
import { ofWrite } from '../../machine/gas/cost-names.ts'
import { PRICE } from '../../machine/gas/prices.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { requireWrite } from '../../machine/rights/access.ts'
import { UNIT, type Unit } from '../../values/value.ts'
import { executionFailure, requireTopLevel } from './top-level.ts'

/** The name of a module, or a namespace and a name. */
const MODULE_NAME =
  /^[\p{L}%#+\-_&$@<>=^?*!|/~][\p{L}\p{Nd}%#+\-_&$@<>=^?*!|/~]*(?:\.[\p{L}%#+\-_&$@<>=^?*!|/~][\p{L}\p{Nd}%#+\-_&$@<>=^?*!|/~]*)?$/u

/**
 * Stores a module as it is. Its hash, governance, tables and constants stay the same. Needs no permission and gives
 * none: the command does not become administrator of the module.
 */
function redeploy(args: Arguments<Run>): Unit {
  requireTopLevel(args)
  const { run, place } = args
  const name = args.text(0)
  if (!MODULE_NAME.test(name)) {
    throw executionFailure(args, 'invalid module name format')
  }
  const module = run.findModule(name, 'name')
  if (module === undefined) throw evalError(`Cannot find module: ${name}`, place)
  const bytes = module.image?.bytes ?? 0
  run.charge(PRICE.writeByte * bytes, ofWrite(bytes))
  requireWrite(run)
  run.transaction.state.put('modules', name, module)
  return UNIT
}

export const REDEPLOY: readonly Native<Run>[] = [native('static-redeploy', 1, 1, redeploy)]
