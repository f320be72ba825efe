/** Native functions of test files: transactions, environment, capabilities, pacts, gas. */
import { evalError } from '../errors.ts'
import { Fun, type PactState, type Run, type Yield } from '../machine/ast.ts'
import { functionOf } from '../machine/callables.ts'
import { grantForTest } from '../machine/capabilities.ts'
import type { BlockData, Message } from '../machine/environment.ts'
import { type Arguments, isObject, type Native, native } from '../machine/native.ts'
import { continuePact } from '../machine/pacts.ts'
import { asValue, type Term } from '../machine/term.ts'
import { Decimal } from '../values/decimal.ts'
import { hashText } from '../values/hash.ts'
import { formatValue } from '../values/print.ts'
import { CapabilityToken, Guard, type ObjectValue, Time, UNIT, type Value } from '../values/value.ts'
import { FLAGS, rulesWith } from './flags.ts'
import type { TestRun } from './test-run.ts'

type TestNative = Native<Run>

/** Parses signers or verifiers: a list of objects with a name in `field` and capabilities in `caps`. */
function capabilitiesByName(args: Arguments, field: string): Map<string, readonly CapabilityToken[]> {
  return new Map(
    args.list(0).map((item) => {
      const name = isObject(item) ? item.get(field) : undefined
      if (typeof name !== 'string') throw args.error(`${args.native} takes a list of objects with a field ${field}`)
      const tokens = (item as ObjectValue).get('caps') ?? []
      const isFit = Array.isArray(tokens) && tokens.every((token) => token instanceof CapabilityToken)
      if (!isFit) throw args.error(`${args.native}: caps is a list of capabilities`)
      return [name, tokens as readonly CapabilityToken[]] as const
    }),
  )
}

function environmentNatives(test: TestRun): TestNative[] {
  return [
    native('env-data', 1, 1, (args) => {
      test.changeMessage({ data: args.value(0) })
      return 'Setting transaction data'
    }),
    native('env-keys', 1, 1, (args) => {
      test.changeMessage({ signers: new Map(args.texts(0).map((key) => [key, []])) })
      return 'Setting transaction keys'
    }),
    native('env-sigs', 1, 1, (args) => {
      test.changeMessage({ signers: capabilitiesByName(args, 'key') })
      return 'Setting transaction signatures/caps'
    }),
    native('env-verifiers', 1, 1, (args) => {
      test.changeMessage({ verifiers: capabilitiesByName(args, 'name') })
      return 'Setting transaction verifiers/caps'
    }),
    native('env-hash', 1, 1, (args) => {
      test.changeMessage({ hash: args.text(0) })
      return 'Set tx hash'
    }),
    native('env-chain-data', 1, 1, (args) => {
      changeChain(test, args.object(0))
      return 'Updated public metadata'
    }),
    native('env-exec-config', 0, 1, (args) => {
      const names = args.has(0) ? args.texts(0) : []
      const known = names.filter((name) => FLAGS.has(name))
      test.changeBlock({ rules: rulesWith(test.evaluator.block.rules, new Set(known)) })
      return known
    }),
    native('env-namespace-policy', 2, 2, ({ all: [isOpen, policy] }) => {
      const fun = functionOf(policy)
      const namespacePolicy = fun instanceof Fun ? fun.qualified : null
      const { rules } = test.evaluator.block
      test.changeBlock({ rules: { ...rules, isRootOpen: isOpen === true, namespacePolicy } })
      return 'Installed namespace policy'
    }),
    native('sig-keyset', 0, 0, () => {
      const keys = [...test.evaluator.transaction.message.signers.keys()].sort()
      return new Guard({ kind: 'keyset', keys, predicate: 'keys-all' })
    }),
    native('format-address', 2, 2, (args) => `U${hashText(args.text(1))}`),
  ]
}

function changeChain(test: TestRun, data: ReadonlyMap<string, Value>): void {
  const { block, transaction } = test.evaluator
  const { chain } = block
  const { sender, gasLimit, gasPrice } = transaction.message
  const get = <T>(name: string, isRight: (value: Value) => boolean, otherwise: T): T => {
    const value = data.get(name)
    if (value === undefined) return otherwise
    if (!isRight(value)) throw evalError(`env-chain-data: wrong type of ${name}`)
    return value as T
  }
  const [isText, isInteger] = [(value: Value) => typeof value === 'string', (value: Value) => typeof value === 'bigint']
  const unknown = [...data.keys()].find((name) => !CHAIN_FIELDS.has(name))
  if (unknown !== undefined) throw evalError(`env-chain-data: there is no field ${unknown}`)
  const newChain: BlockData = {
    chainId: get('chain-id', isText, chain.chainId),
    blockHeight: get('block-height', isInteger, chain.blockHeight),
    blockTime: get('block-time', (value) => value instanceof Time, chain.blockTime),
    prevBlockHash: get('prev-block-hash', isText, chain.prevBlockHash),
  }
  const messageChanges: Partial<Message> = {
    sender: get('sender', isText, sender),
    gasLimit: get('gas-limit', isInteger, gasLimit),
    gasPrice: get('gas-price', (value) => value instanceof Decimal, gasPrice),
  }
  test.changeBlock({ chain: newChain })
  test.changeMessage(messageChanges)
}

const CHAIN_FIELDS = new Set([
  ...['chain-id', 'block-height', 'block-time', 'prev-block-hash', 'sender', 'gas-limit', 'gas-price'],
])

function transactionNatives(test: TestRun): TestNative[] {
  const end = (name: string, keeps: boolean, result: string) =>
    native(name, 0, 0, () => {
      if (!test.end(keeps)) throw evalError(`${name}: no transaction is in progress`)
      return result
    })
  return [
    native('begin-tx', 0, 1, () => {
      if (!test.begin()) throw evalError('begin-tx: a transaction is in progress already')
      return 'Begin Tx'
    }),
    end('commit-tx', true, 'Commit Tx'),
    end('rollback-tx', false, 'Rollback Tx'),
    native('load', 1, 2, (args) => {
      test.runFile(test.files.resolve(test.file, args.text(0)))
      return `Loading ${args.text(0)}...`
    }),
    native('print', 1, 1, (args) => {
      test.output.push(formatValue(asValue(args.all[0])))
      return UNIT
    }),
    native('env-events', 1, 1, (args) => {
      const { evaluator } = test
      const { events } = evaluator.transaction
      const shown = events.map(({ module, name, params, moduleHash }): Value => {
        return new Map<string, Value>([
          ['module-hash', moduleHash],
          ['name', `${module}.${name}`],
          ['params', params],
        ])
      })
      if (args.all[0] === true) events.length = 0
      return shown
    }),
    ...[
      'typecheck',
      'verify',
      'env-enable-repl-natives',
      'env-simulate-onchain',
      'env-dynref',
      'env-set-debug-flag',
    ].map((name) => native(name, 0, 3, () => UNIT)),
  ]
}

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
  ]
}

/** `(continue-pact step rollback id object)` */
function continuePactOf(test: TestRun, args: Arguments): Term {
  const { evaluator } = test
  const last = evaluator.program.lastPact
  const step = Number(args.integer(0))
  const id = args.has(2) ? args.text(2) : last?.id
  if (id === undefined) throw evalError('continue-pact: no pact was begun')
  const yielded = last?.yielded ?? null
  const resumed: Yield | null = args.has(3)
    ? { data: args.object(3), provenance: yielded?.provenance ?? null, source: yielded?.source ?? '' }
    : null
  const isKept = evaluator.transaction.state.get('pacts', id) !== undefined
  const proven: PactState | null = isKept || resumed === null || last?.id !== id ? null : last
  return continuePact(evaluator, { id, step, isRollback: args.all[1] === true, resumed, proven })
}

function pactNatives(test: TestRun): TestNative[] {
  return [
    native('continue-pact', 1, 4, (args) => continuePactOf(test, args)),
    native('pact-state', 0, 1, (args) => {
      const { evaluator } = test
      const last = evaluator.call.pact ?? evaluator.program.lastPact
      if (last === null) throw evalError('pact-state: no pact exec in context')
      const yielded: Value = last.yielded?.data ?? UNIT
      if (args.all[0] === true) evaluator.program.lastPact = null
      return new Map<string, Value>([
        ['pactId', last.id],
        ['yield', yielded],
        ['step', BigInt(last.step)],
      ])
    }),
  ]
}

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
