/** Native functions of test files: transactions, environment, capabilities, pacts, gas. */
import { failure } from '../failures/failure.ts'
import type { Run } from '../machine/ast.ts'
import { type Native, native } from '../machine/native.ts'
import { grantForTest } from '../machine/rights/capabilities.ts'
import { UNIT } from '../values/value.ts'
import { environmentNatives } from './environment-natives.ts'
import { forkNative } from './fork-native.ts'
import { gasNatives } from './gas-natives.ts'
import { GENERATORS } from './generators.ts'
import { pactNatives } from './pact-natives.ts'
import type { TestRun } from './test-run.ts'
import { transactionNatives } from './transaction-natives.ts'
import { VERSION } from './version.ts'

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

function stackNative(test: TestRun): TestNative {
  return native('env-stackframe', 0, 0, () => test.evaluator.call.frames.map(({ qualified }) => qualified))
}

export function testNatives(test: TestRun): readonly TestNative[] {
  return [
    ...VERSION,
    ...environmentNatives(test),
    ...transactionNatives(test),
    forkNative(test),
    ...capabilityNatives(test),
    ...pactNatives(test),
    stackNative(test),
    ...gasNatives(test.gas),
    ...GENERATORS,
  ]
}
