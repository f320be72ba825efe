/** `print` of networks whose node allows it. It costs no gas, and has no effect on the state. */
import type { Run } from '../../machine/ast.ts'
import { PRINT } from '../../machine/environment.ts'
import { type Native, native } from '../../machine/native.ts'
import { UNIT } from '../../values/value.ts'

/** Takes any value or function. Fails where the rules of the block do not allow it. */
export const PRINTING: Native<Run> = native(PRINT, 1, 1, (args) => {
  const { run, place } = args
  const [term] = args.all
  const { print, rules } = run.block
  if (rules.isPrintAllowed !== true)
    throw args.error('print needs a development node that is started with --allow-print')
  print?.put(term, run.module?.name ?? null, place.line + 1)
  return UNIT
})
