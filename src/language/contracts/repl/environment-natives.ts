/** Natives of test files that set the message and the block. */

import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { parseExactJson } from '#ground/base/json.ts'
import { txFailure } from '../errors.ts'
import { failure } from '../failures/failure.ts'
import { FunctionDefinition, type Run } from '../machine/ast.ts'
import { functionOf } from '../machine/callables.ts'
import type { BlockData, Message } from '../machine/environment.ts'
import { type Arguments, isObject, type Native, native } from '../machine/native.ts'
import { Decimal } from '../values/decimal.ts'
import { CapabilityToken, Guard, Time, type Value } from '../values/value.ts'
import { valueFromJson, valueToJson } from '../values/wire.ts'
import { FLAGS, rulesWith } from './flags.ts'
import type { TestRun } from './test-run.ts'

type CapabilityTokens = readonly CapabilityToken[]

/**
 * Reads signers or verifiers: a list of objects with a name in `field` and capabilities in `caps`.
 * @returns null if an item is anything else
 */
function tokensByName(args: Arguments, field: string): Map<string, CapabilityTokens> | null {
  const found = new Map<string, CapabilityTokens>()
  for (const item of args.list(0)) {
    const [name, tokens] = isObject(item) ? [item.get(field), item.get('caps')] : []
    if (typeof name !== 'string' || !Array.isArray(tokens)) return null
    if (!tokens.every((token) => token instanceof CapabilityToken)) return null
    found.set(name, tokens as CapabilityTokens)
  }
  return found
}

/**
 * Sends a value through JSON, as the data of a command: an object with keys becomes a keyset.
 * @returns the value itself if JSON cannot represent it
 */
function throughJson(value: Value): Value {
  try {
    return valueFromJson(parseExactJson(valueToJson(value)))
  } catch (error) {
    if (error instanceof FormatError) return value
    throw error
  }
}

/**
 * Normal form of a hash.
 * @throws TxFailure if the text is not base64url
 */
function hashFrom(args: Arguments): string {
  const text = args.text(0)
  try {
    return encodeBase64Url(decodeBase64Url(text))
  } catch (error) {
    if (error instanceof FormatError) throw txFailure(`env-hash takes base64url text without padding, not ${text}`)
    throw error
  }
}

function configure(test: TestRun, args: Arguments): Value {
  const names = args.texts(0)
  const unknown = names.filter((name) => !FLAGS.has(name))
  if (unknown.length > 0) test.output.push(`Warning: unknown flags of env-exec-config: ${unknown.join(', ')}`)
  const known = names.filter((name) => FLAGS.has(name))
  test.changeBlock({ rules: rulesWith(test.evaluator.block.rules, new Set(known)) })
  return known
}

function setPolicy(test: TestRun, args: Arguments<Run>): string {
  const isOpen = args.bool(0)
  const policy = functionOf(args.fn(1))
  if (!(policy instanceof FunctionDefinition) || policy.kind !== 'defun')
    throw txFailure('invalid namespace manager function type')
  if (policy.params.length !== 2) {
    const why = 'Namespace manager function has invalid argument length'
    throw failure('NATIVE_FAILED', { native: args.native, why }, args.place)
  }
  const { rules } = test.evaluator.block
  test.changeBlock({ rules: { ...rules, isRootOpen: isOpen, namespacePolicy: policy.qualified } })
  return 'Installed namespace policy'
}

function changeChain(test: TestRun, data: ReadonlyMap<string, Value>): void {
  const chain: { -readonly [K in keyof BlockData]?: BlockData[K] } = {}
  const message: { -readonly [K in keyof Message]?: Message[K] } = {}
  for (const [name, value] of data) {
    if (name === 'chain-id' && typeof value === 'string') chain.chainId = value
    else if (name === 'block-height' && typeof value === 'bigint') chain.blockHeight = value
    else if (name === 'block-time' && value instanceof Time) chain.blockTime = value
    else if (name === 'prev-block-hash' && typeof value === 'string') chain.prevBlockHash = value
    else if (name === 'sender' && typeof value === 'string') message.sender = value
    else if (name === 'gas-limit' && typeof value === 'bigint') message.gasLimit = value
    else if (name === 'gas-price' && value instanceof Decimal) message.gasPrice = value
    else throw txFailure(`envChainData: bad public metadata value for key: ${name}`)
  }
  test.changeBlock({ chain: { ...test.evaluator.block.chain, ...chain } })
  test.changeMessage(message)
}

export function environmentNatives(test: TestRun): Native<Run>[] {
  return [
    native('env-data', 1, 1, (args) => {
      test.changeMessage({ data: throughJson(args.value(0)) })
      return 'Setting transaction data'
    }),
    native('env-keys', 1, 1, (args) => {
      test.changeMessage({ signers: new Map(args.texts(0).map((key) => [key, []])) })
      return 'Setting transaction keys'
    }),
    native('env-sigs', 1, 1, (args) => {
      const signers = tokensByName(args, 'key')
      if (signers === null) throw txFailure("env-sigs: Expected object with 'key': string, 'caps': [capability]")
      test.changeMessage({ signers })
      return 'Setting transaction signatures/caps'
    }),
    native('env-verifiers', 1, 1, (args) => {
      const verifiers = tokensByName(args, 'name')
      if (verifiers === null) {
        const why = "Expected object with 'name': string, 'caps': [capability]"
        throw failure('NATIVE_FAILED', { native: args.native, why }, args.place)
      }
      test.changeMessage({ verifiers })
      return 'Setting transaction verifiers/caps'
    }),
    native('env-hash', 1, 1, (args) => {
      const hash = hashFrom(args)
      test.changeMessage({ hash })
      return `Set tx hash to ${args.text(0)}`
    }),
    native('env-chain-data', 1, 1, (args) => {
      changeChain(test, args.object(0))
      return 'Updated public metadata'
    }),
    native('env-exec-config', 1, 1, (args) => configure(test, args)),
    native('env-namespace-policy', 2, 2, (args) => setPolicy(test, args)),
    native('sig-keyset', 0, 0, () => {
      const keys = [...test.evaluator.transaction.message.signers.keys()].sort()
      return new Guard({ kind: 'keyset', keys, predicate: 'keys-all' })
    }),
  ]
}
