/** Evaluates an expression in a frame of a paused program. It changes neither the state nor the gas of the program. */
import { ContractError } from '../contracts/errors.ts'
import { TOP_LEVEL_MODE } from '../contracts/machine/access-mode.ts'
import { FunctionDefinition, type Module, type Run } from '../contracts/machine/ast.ts'
import { Expander } from '../contracts/machine/expand/expander.ts'
import { Layer } from '../contracts/machine/state.ts'
import type { Term } from '../contracts/machine/term.ts'
import { type ExpandingRun, startTransaction } from '../contracts/run.ts'
import { readProgram } from '../contracts/syntax/program.ts'
import type { Frame } from './point.ts'

/** Limit of gas of an expression, in milligas: that of a block. Work has the same one, about a second. */
const MAX_MILLIGAS = 150_000_000
/** The function that the expression is code of, so that it may do what its module may. */
const WATCH = '#watch'

/** Value of an expression, or why it has none. */
export type Evaluation = { readonly value: Term } | { readonly fault: string }

/** @param run evaluator of the paused code. @throws MissingEntry if the state misses what the expression reads */
export function evaluateInFrame(run: Run, { point, env }: Frame, text: string): Evaluation {
  const module = point?.module ?? null
  const scratch = scratchOf(run, module)
  try {
    const [form, ...more] = readProgram(text)
    if (form === undefined || more.length > 0) return { fault: 'one expression is expected' }
    const expr = new Expander(scratch, module).expand(form, point?.scope ?? null)
    return { value: scratch.evaluate(expr, env) }
  } catch (error) {
    if (error instanceof ContractError) return { fault: error.message }
    throw error
  }
}

/** An evaluator with the rights and the variables of the paused one, on a temporary layer. */
function scratchOf(run: Run, module: Module | null): ExpandingRun {
  const { transaction, program, call, block } = run
  const gas = { used: 0, limit: MAX_MILLIGAS }
  const scratch = startTransaction({ block, message: transaction.message }, new Layer(transaction.state), gas)
  const { admin, installed, listed, hasInstalled } = transaction
  Object.assign(scratch.transaction, { admin: new Set(admin), installed, listed, hasInstalled })
  const { imports, namespace, loading, pact } = program
  Object.assign(scratch.program, { imports: new Map(imports), namespace, loading, pact: pact && { ...pact } })
  for (const { token, composed } of call.slots) scratch.call.slots.push({ token, composed: [...composed] })
  scratch.call.evaluated.push(...call.evaluated)
  scratch.call.mode = TOP_LEVEL_MODE
  scratch.call.step = call.step
  if (module !== null) {
    const marks = { managed: null, isEvent: false }
    scratch.call.frames.push(new FunctionDefinition(module, 'defun', WATCH, [], null, marks))
  }
  return scratch
}
