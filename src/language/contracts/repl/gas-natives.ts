/** Natives of test files that set the model and the limit of gas, and read what was used. */
import type { Run } from '../machine/ast.ts'
import { type Native, native } from '../machine/native.ts'
import { UNIT, type Value } from '../values/value.ts'
import type { TestGas } from './test-gas.ts'

const TABLE = 'table-based cost model'
const FREE = 'free gas model'

/** @param gas gas of the test run */
export function gasNatives(gas: TestGas): Native<Run>[] {
  return [
    native('env-gas', 0, 1, (args) => {
      if (!args.has(0)) return BigInt(gas.gas)
      const wanted = args.integer(0)
      gas.used = 1000 * Number(wanted)
      return `Set gas to ${wanted}`
    }),
    native('env-milligas', 0, 0, () => BigInt(gas.used)),
    native('env-set-milligas', 1, 1, (args) => {
      gas.used = Number(args.integer(0))
      return `Set milligas to ${args.integer(0)}`
    }),
    native('env-gaslimit', 1, 1, (args) => {
      gas.limit = 1000 * Number(args.integer(0))
      return `Set gas limit to ${args.integer(0)}`
    }),
    native('env-gasmodel', 0, 1, (args) => {
      if (!args.has(0)) {
        return `Current gas model is '${gas.isTable ? 'table' : 'freeGasModel'}': ${gas.isTable ? TABLE : FREE}`
      }
      if (args.text(0) !== 'table') throw args.error(`env-gasmodel: the only model is "table", not "${args.text(0)}"`)
      gas.isTable = true
      return `Set gas model to ${TABLE}`
    }),
    native('env-gaslog', 0, 0, () => logOf(gas)),
    ...['env-gasprice', 'env-gasrate', 'env-ask-gasmodel', 'env-gasmodel-fixed'].map((name) =>
      native<Run>(name, 0, 2, () => UNIT),
    ),
  ]
}

/** The sum and all charges since the last call. The first call only begins the log. */
function logOf(gas: TestGas): readonly Value[] {
  const { log } = gas
  gas.log = []
  if (log === null) return ['Enabled gas log']
  const total = log.reduce((sum, { milligas }) => sum + milligas, 0)
  return [`TOTAL: ${total}mG`, ...log.map(({ text, milligas }) => `${text}: ${milligas}mG`)]
}
