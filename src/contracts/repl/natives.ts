/** The functions of test files: transactions, the environment, capabilities, pacts, gas. */
import { evalError } from '../errors.ts'
import { Fun } from '../machine/definitions.ts'
import { asValue, type MachineCall } from '../machine/machine.ts'
import { continuePact, type PactState, type Yield } from '../machine/pacts.ts'
import type { Term } from '../machine/term.ts'
import { moduleArg, objectArg, textArg, textsArg, tokenArg } from '../natives/arguments-of.ts'
import type { Native } from '../natives/native.ts'
import { Decimal } from '../values/decimal.ts'
import { hashText } from '../values/hash.ts'
import { formatValue } from '../values/print.ts'
import { type CapabilityToken, Guard, Time, UNIT, type Value } from '../values/value.ts'
import type { TestRun } from './test-run.ts'

type TestNative = Native<MachineCall>

function native(name: string, arity: readonly [number, number], run: TestNative['run']): TestNative {
  return { name, arity, run }
}

/** Signers or verifiers: a list of objects with a name, and capabilities. */
function limited(name: string, field: string, term: Term): Map<string, readonly CapabilityToken[]> {
  if (!Array.isArray(term)) throw evalError(`${name} takes a list of objects`)
  return new Map(
    term.map((item: Value) => {
      const object = objectArg(name, item)
      const tokens = object.get('caps') ?? []
      if (!Array.isArray(tokens)) throw evalError(`${name}: caps is a list of capabilities`)
      return [textArg(name, object.get(field)), tokens.map((token: Value) => tokenArg(name, token))] as const
    }),
  )
}

function environmentNatives(run: TestRun): TestNative[] {
  return [
    native('env-data', [1, 1], ([data]) => {
      run.setEnvironment({ data: asValue(data) })
      return 'Setting transaction data'
    }),
    native('env-keys', [1, 1], ([keys]) => {
      run.setEnvironment({ signers: new Map(textsArg('env-keys', keys).map((key) => [key, []])) })
      return 'Setting transaction keys'
    }),
    native('env-sigs', [1, 1], ([signers]) => {
      run.setEnvironment({ signers: limited('env-sigs', 'key', signers) })
      return 'Setting transaction signatures/caps'
    }),
    native('env-verifiers', [1, 1], ([verifiers]) => {
      run.setEnvironment({ verifiers: limited('env-verifiers', 'name', verifiers) })
      return 'Setting transaction verifiers/caps'
    }),
    native('env-hash', [1, 1], ([hash]) => {
      run.setEnvironment({ hash: textArg('env-hash', hash) })
      return 'Set tx hash'
    }),
    native('env-chain-data', [1, 1], ([data]) => {
      run.setEnvironment({ chain: chainWith(run, objectArg('env-chain-data', data)) })
      return 'Updated public metadata'
    }),
    native('env-exec-config', [0, 1], ([flags]) => {
      const names = flags === undefined ? [] : textsArg('env-exec-config', flags)
      const { rules } = run.machine.environment
      run.setEnvironment({
        rules: {
          ...rules,
          areKeysetsInNamespaces: names.includes('RequireKeysetNs'),
          areKeysChecked: names.includes('EnforceKeyFormats'),
          areTypesChecked: !names.includes('DisableRuntimeRTC'),
        },
      })
      return names
    }),
    native('env-namespace-policy', [2, 2], ([isOpen, policy]) => {
      const namespacePolicy = policy instanceof Fun ? policy.qualified : null
      const { rules } = run.machine.environment
      run.setEnvironment({ rules: { ...rules, isRootOpen: isOpen === true, namespacePolicy } })
      return 'Installed namespace policy'
    }),
    native('sig-keyset', [0, 0], () => {
      const keys = [...run.machine.environment.signers.keys()].sort()
      return new Guard({ kind: 'keyset', keys, predicate: 'keys-all' })
    }),
    native('format-address', [2, 2], ([, key]) => `U${hashText(textArg('format-address', key))}`),
  ]
}

function chainWith(run: TestRun, data: ReadonlyMap<string, Value>) {
  const { chain } = run.machine.environment
  const get = <T>(name: string, isRight: (value: Value) => boolean, otherwise: T): T => {
    const value = data.get(name)
    if (value === undefined) return otherwise
    if (!isRight(value)) throw evalError(`env-chain-data: wrong type of ${name}`)
    return value as T
  }
  const [isText, isInteger] = [(value: Value) => typeof value === 'string', (value: Value) => typeof value === 'bigint']
  const unknown = [...data.keys()].find((name) => !CHAIN_FIELDS.has(name))
  if (unknown !== undefined) throw evalError(`env-chain-data: there is no field ${unknown}`)
  return {
    chainId: get('chain-id', isText, chain.chainId),
    blockHeight: get('block-height', isInteger, chain.blockHeight),
    blockTime: get('block-time', (value) => value instanceof Time, chain.blockTime),
    prevBlockHash: get('prev-block-hash', isText, chain.prevBlockHash),
    sender: get('sender', isText, chain.sender),
    gasLimit: get('gas-limit', isInteger, chain.gasLimit),
    gasPrice: get('gas-price', (value) => value instanceof Decimal, chain.gasPrice),
  }
}

const CHAIN_FIELDS = new Set([
  ...['chain-id', 'block-height', 'block-time', 'prev-block-hash', 'sender', 'gas-limit', 'gas-price'],
])

function transactionNatives(run: TestRun): TestNative[] {
  const end = (name: string, keeps: boolean, result: string) =>
    native(name, [0, 0], () => {
      if (!run.end(keeps)) throw evalError(`${name}: no transaction is in progress`)
      return result
    })
  return [
    native('begin-tx', [0, 1], () => {
      if (!run.begin()) throw evalError('begin-tx: a transaction is in progress already')
      return 'Begin Tx'
    }),
    end('commit-tx', true, 'Commit Tx'),
    end('rollback-tx', false, 'Rollback Tx'),
    native('load', [1, 2], ([path]) => {
      run.runFile(run.files.resolve(run.file, textArg('load', path)))
      return `Loading ${String(path)}...`
    }),
    native('print', [1, 1], ([value]) => {
      run.output.push(formatValue(asValue(value)))
      return UNIT
    }),
    native('env-events', [1, 1], ([clears]) => {
      const { machine } = run
      const events = machine.events.map(({ module, name, params, moduleHash }): Value => {
        return new Map<string, Value>([
          ['module-hash', moduleHash],
          ['name', `${module}.${name}`],
          ['params', params],
        ])
      })
      if (clears === true) machine.events = []
      return events
    }),
    ...[
      'typecheck',
      'verify',
      'env-enable-repl-natives',
      'env-simulate-onchain',
      'env-dynref',
      'env-set-debug-flag',
    ].map((name) => native(name, [0, 3], () => UNIT)),
  ]
}

function capabilityNatives(run: TestRun): TestNative[] {
  return [
    native('test-capability', [1, 1], ([token]) => {
      run.machine.capabilities.grantForTest(tokenArg('test-capability', token))
      return 'Capability granted'
    }),
    native('env-module-admin', [1, 1], ([ref]) => {
      const { name } = moduleArg('env-module-admin', ref)
      run.machine.admin.add(name)
      return `Acquired module admin for: ${name}`
    }),
  ]
}

function pactNatives(run: TestRun): TestNative[] {
  return [
    native('continue-pact', [1, 4], ([step, rollback, idTerm, object]) => {
      const { machine } = run
      const last = machine.lastPact
      const id = idTerm === undefined ? last?.id : textArg('continue-pact', idTerm)
      if (id === undefined) throw evalError('continue-pact: no pact was begun')
      if (typeof step !== 'bigint') throw evalError('continue-pact takes the number of a step')
      const resumed: Yield | null =
        object === undefined
          ? null
          : {
              data: objectArg('continue-pact', object),
              provenance: last?.yielded?.provenance ?? null,
              source: last?.yielded?.source ?? '',
            }
      const isKept = machine.state.get('pacts', id) !== undefined
      const proven: PactState | null = isKept || resumed === null || last?.id !== id ? null : last
      return continuePact(machine, { id, step: Number(step), isRollback: rollback === true, resumed, proven })
    }),
    native('pact-state', [0, 1], ([clears]) => {
      const { machine } = run
      const last = machine.pact ?? machine.lastPact
      if (last === null) throw evalError('pact-state: no pact exec in context')
      const yielded: Value = last.yielded?.data ?? UNIT
      if (clears === true) machine.lastPact = null
      return new Map<string, Value>([
        ['pactId', last.id],
        ['yield', yielded],
        ['step', BigInt(last.step)],
      ])
    }),
  ]
}

function gasNatives(run: TestRun): TestNative[] {
  return [
    native('env-gas', [0, 1], ([gas]) => {
      if (typeof gas !== 'bigint') return BigInt(Math.ceil(run.gas.used / 1000))
      run.gas.used = 1000 * Number(gas)
      return `Set gas to ${gas}`
    }),
    native('env-stackframe', [0, 0], () => run.machine.frames.map(({ fun }) => fun.qualified)),
    native('env-milligas', [0, 1], () => BigInt(run.gas.used)),
    native('env-set-milligas', [1, 1], ([gas]) => {
      run.gas.used = Number(gas)
      return `Set milligas to ${String(gas)}`
    }),
    native('env-gaslimit', [1, 1], ([limit]) => {
      run.gas.limit = 1000 * Number(limit)
      return `Set gas limit to ${String(limit)}`
    }),
    native('env-gasmodel', [0, 1], ([model]) => {
      if (model !== undefined) run.isGasCounted = textArg('env-gasmodel', model) === 'table'
      return run.isGasCounted ? 'table' : 'unit'
    }),
    ...['env-gasprice', 'env-gasrate', 'env-gaslog', 'env-ask-gasmodel', 'env-gasmodel-fixed'].map((name) =>
      native(name, [0, 2], () => UNIT),
    ),
  ]
}

export function testNatives(run: TestRun): readonly TestNative[] {
  return [
    ...environmentNatives(run),
    ...transactionNatives(run),
    ...capabilityNatives(run),
    ...pactNatives(run),
    ...gasNatives(run),
  ]
}
