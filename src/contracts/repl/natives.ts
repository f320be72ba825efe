/** Native functions of test files: transactions, environment, capabilities, pacts, gas. */
import { failure } from '../failures/failure.ts'
import type { Run } from '../machine/ast.ts'
import { grantForTest } from '../machine/capabilities.ts'
import { type Native, native } from '../machine/native.ts'
import { UNIT } from '../values/value.ts'
import { environmentNatives } from './environment-natives.ts'
import { pactNatives } from './pact-natives.ts'
import type { TestRun } from './test-run.ts'
import { transactionNatives } from './transaction-natives.ts'

type TestNative = Native<Run>

function capabilityNatives(test: TestRun): TestNative[] {
  return [
    native('test-capability', 1, 1, (args) => {
      grantForTest(test.evaluator, args.token(0))
      return UNIT
    }),
    native('env-module-admin', 1, 1, (args) => {
      const { name } = args.module(0)
      test.evaluator.transaction.admin.add(name)
      return `Acquired module admin for: ${name}`
    }),
    native('env-enable-repl-natives', 1, 1, (args) => {
      test.areNativesInModules = args.bool(0)
      return `repl natives ${test.areNativesInModules ? 'enabled' : 'disabled'}`
    }),
    native('env-set-debug-flag', 1, 1, (args) => {
      const flag = args.text(0).trim()
      if (DEBUG_FLAGS.has(flag)) return UNIT
      throw failure('NATIVE_FAILED', { native: args.native, why: `unrecognized flag in env-set-debug: ${flag}` })
    }),
    native('typecheck', 1, 1, (args) => {
      const name = args.text(0)
      if (test.evaluator.findModule(name) === undefined) throw failure('NO_MODULE', { module: name }, args.place)
      return UNIT
    }),
    // The original test runner no longer proves properties; older test files still ask for it.
    native('verify', 1, 1, () => UNIT),
  ]
}

/** Flags of traces. The traces themselves are left out here. */
const DEBUG_FLAGS = new Set(['lexer', 'parser', 'desugar', 'all', 'none'])

function gasNatives(test: TestRun): TestNative[] {
  return [
    native('env-gas', 0, 1, ({ all: [gas] }) => {
      if (typeof gas !== 'bigint') return BigInt(Math.ceil(test.gas.used / 1000))
      test.gas.used = 1000 * Number(gas)
      return `Set gas to ${gas}`
    }),
    native('env-stackframe', 0, 0, () => test.evaluator.call.frames.map(({ qualified }) => qualified)),
    native('env-milligas', 0, 1, () => BigInt(test.gas.used)),
    native('env-set-milligas', 1, 1, (args) => {
      test.gas.used = Number(args.integer(0))
      return `Set milligas to ${args.integer(0)}`
    }),
    native('env-gaslimit', 1, 1, (args) => {
      test.gas.limit = 1000 * Number(args.integer(0))
      return `Set gas limit to ${args.integer(0)}`
    }),
    native('env-gasmodel', 0, 1, (args) => {
      if (args.has(0)) test.isGasCounted = args.text(0) === 'table'
      return test.isGasCounted ? 'table' : 'unit'
    }),
    ...['env-gasprice', 'env-gasrate', 'env-gaslog', 'env-ask-gasmodel', 'env-gasmodel-fixed'].map((name) =>
      native(name, 0, 2, () => UNIT),
    ),
  ]
}

export function testNatives(test: TestRun): readonly TestNative[] {
  return [
    ...environmentNatives(test),
    ...transactionNatives(test),
    ...capabilityNatives(test),
    ...pactNatives(test),
    ...gasNatives(test),
  ]
}
