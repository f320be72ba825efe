/**
 * Gas and rewards (PROTOCOL.md E.4): the payer buys the whole gas limit before a command runs, and gets the rest back afterwards.
 */

import { concatBytes, decodeHash } from '#ground/base/bytes.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { REWARD_PLACES, rewardUnitsAt } from '#ground/chain/reward.ts'
import { evalError } from '#language/contracts/errors.ts'
import type { Run } from '#language/contracts/machine/ast.ts'
import {
  type BlockScope,
  type EmittedEvent,
  type Environment,
  emptyEnvironment,
  freeGas,
  type Message,
} from '#language/contracts/machine/environment.ts'
import type { Layer } from '#language/contracts/machine/state.ts'
import { asValue, startTransaction, withCapability, withGranted } from '#language/contracts/run.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import { hashBytes } from '#language/contracts/values/hash.ts'
import { type CapabilityToken, Guard, type Value } from '#language/contracts/values/value.ts'
import type { Command } from '../command/command.ts'
import { type BlockContext, blockDataOf } from './block-context.ts'
import type { CommandFollower } from './command-trace.ts'
import { blockRules, callCoin, coinToken } from './runner.ts'
import { grantedByName } from './verifiers/verifier.ts'

/** Limit of buying gas, in thousandths of gas. */
const BUYING_LIMIT = 1_500_000
/** Decimal places of an amount of coins. */
const COIN_PLACES = 12

const encoder = new TextEncoder()
const BOUGHT = encoder.encode('-buygas')

/** Data that the code of a command can read. */
export function environmentOf(context: BlockContext, command: Command): Environment {
  const { payload, verifiers, key, meta } = command
  const { sender, gasLimit, gasPrice } = meta
  return {
    block: blockScopeOf(context),
    message: {
      data: payload.data,
      signers: signersOf(context, command),
      verifiers: grantedByName(verifiers),
      hash: key,
      sender,
      gasLimit: BigInt(gasLimit),
      gasPrice,
    },
  }
}

const scopes = new WeakMap<BlockContext, BlockScope>()

/** The scope that all commands of a block share. */
function blockScopeOf(context: BlockContext): BlockScope {
  const before = scopes.get(context)
  if (before !== undefined) return before
  const { rules, spv, print, isPrintAllowed = false } = context
  const scope = {
    chain: blockDataOf(context),
    rules: { ...blockRules(rules), isPrintAllowed },
    ...(spv !== undefined && { spv }),
    ...(print !== undefined && { print }),
  }
  scopes.set(context, scope)
  return scope
}

/** Signers count by public key since release 5.4.1 of the language, and before by their address if they name one. */
function signersOf({ rules }: BlockContext, command: Command): Message['signers'] {
  return rules.isLanguage541 ? command.grants : command.grantsByAddress
}

/** Price of an amount of gas, rounded to the precision of a coin. */
export function gasFeeOf(gas: number, { meta }: Pick<Command, 'meta'>): Decimal {
  const price = meta.gasPrice.mul(Decimal.of(BigInt(gas)))
  return price.places <= COIN_PLACES ? price : price.round(COIN_PLACES).normalise()
}

/**
 * Takes the price of the gas limit of a command from its payer.
 * @returns the milligas that this takes: they are part of the gas of the command, as on live nodes
 * @throws ContractError
 */
export function buyGas(
  layer: Layer,
  context: BlockContext,
  command: Command,
  trace: CommandFollower | null = null,
): number {
  const { block, message } = environmentOf(context, command)
  const gas = { used: 0, limit: BUYING_LIMIT }
  const evaluator = startTransaction({ block, message: new Purchase(message, command) }, layer, gas, trace?.tracer)
  const buy = () => {
    callCoin(evaluator, 'buy-gas', [command.meta.sender, gasFeeOf(command.meta.gasLimit, command)])
  }
  const payFor = () => withGranted(evaluator, [coinToken('GAS')], () => withPayer(evaluator, gasPayerOf(command), buy))
  if (trace === null) payFor()
  else trace.part('buy gas', gas, payFor)
  return gas.used
}

/** The message of a command while its gas is bought. Verifiers run later. */
class Purchase implements Message {
  readonly data: Value
  readonly signers: Message['signers']
  readonly verifiers: Message['verifiers'] = new Map()
  readonly sender: string
  readonly gasLimit: bigint
  readonly gasPrice: Decimal
  readonly #key: string

  constructor(message: Message, command: Command) {
    this.data = dataForPayer(command)
    this.signers = payingSignersOf(message, command)
    this.sender = message.sender
    this.gasLimit = message.gasLimit
    this.gasPrice = message.gasPrice
    this.#key = command.key
  }

  /** Computed on access: hardly any paying contract reads it. */
  get hash(): string {
    return hashBytes(concatBytes(decodeHash(this.#key), BOUGHT))
  }
}

/** Whether a capability lets a contract pay the gas of others. */
export const isGasPayer = ({ name }: CapabilityToken) => name.endsWith('.GAS_PAYER')

/**
 * Capability of the contract that pays.
 * @returns null if the sender pays
 * @throws ContractError if there are several
 */
function gasPayerOf({ grants }: Command): CapabilityToken | null {
  const payers: CapabilityToken[] = []
  for (const tokens of grants.values()) for (const token of tokens) if (isGasPayer(token)) payers.push(token)
  if (payers.length > 1) throw evalError('Multiple gas payer capabilities')
  return payers[0] ?? null
}

function withPayer(run: Run, payer: CapabilityToken | null, buy: () => void): void {
  if (payer === null) buy()
  else withCapability(run, payer, buy, { byLedger: true })
}

/** While gas is bought, a signature for coin.GAS also covers the debit. */
function payingSignersOf({ signers }: Message, { meta }: Command): Message['signers'] {
  const paying = new Map<string, readonly CapabilityToken[]>()
  for (const [key, tokens] of signers) {
    const pays = tokens.some(({ name }) => name === 'coin.GAS')
    paying.set(key, pays ? [...tokens, coinToken('DEBIT', meta.sender)] : tokens)
  }
  return paying
}

/** Data for a contract that pays: it may inspect the command. */
function dataForPayer({ payload }: Command): Value {
  const user = payload.data instanceof Map ? (payload.data as ReadonlyMap<string, Value>) : new Map<string, Value>()
  const about: (readonly [string, Value])[] =
    payload.kind === 'exec'
      ? [
          ['tx-type', 'exec'],
          ['exec-code', [payload.code.text]],
          ['exec-user-data', payload.data],
        ]
      : [
          ['tx-type', 'cont'],
          ['cont-pact-id', payload.pactId],
          ['cont-step', BigInt(payload.step)],
          ['cont-is-rollback', payload.isRollback],
          ['cont-user-data', payload.data],
          ['cont-has-proof', payload.proof !== null],
        ]
  return new Map<string, Value>([...user, ...about])
}

/**
 * Pays the miner for the used gas, and refunds the rest.
 * @returns the events
 * @throws ContractError
 */
export function redeemGas(
  layer: Layer,
  context: BlockContext,
  command: Command,
  {
    miner,
    gas,
    trace,
  }: { readonly miner: MinerAccount; readonly gas: number; readonly trace?: CommandFollower | undefined },
): readonly EmittedEvent[] {
  const fee = new Map<string, Value>([['fee', gasFeeOf(gas, command)]])
  const { block, message } = environmentOf(context, command)
  const settling = { ...message, data: fee, signers: new Map(), verifiers: new Map() }
  const evaluator = startTransaction({ block, message: settling }, layer, freeGas(), trace?.tracer)
  const paid = gasFeeOf(command.meta.gasLimit, command)
  const redeem = () =>
    withGranted(evaluator, [coinToken('GAS')], () =>
      callCoin(evaluator, 'redeem-gas', [miner.account, guardOf(miner), command.meta.sender, paid]),
    )
  if (trace === undefined) redeem()
  else trace.part('redeem gas', null, redeem)
  return evaluator.transaction.events
}

/** Guard of the account of a miner. */
function guardOf({ predicate, publicKeys }: MinerAccount): Guard {
  return new Guard({ kind: 'keyset', keys: [...new Set(publicKeys)].sort(), predicate })
}

/**
 * Pays the reward of a block.
 * @returns what the contract returns, and the events
 * @throws ContractError
 */
export function payReward(
  layer: Layer,
  context: BlockContext,
  miner: MinerAccount,
  reward: Decimal,
): { readonly value: Value; readonly events: readonly EmittedEvent[] } {
  const message = { ...emptyEnvironment.message, hash: context.parentHash, sender: 'coinbase' }
  const evaluator = startTransaction({ block: blockScopeOf(context), message }, layer, freeGas())
  const granted = { COINBASE: coinToken('COINBASE'), DEBIT: coinToken('DEBIT', miner.account) }
  const tokens = context.rules.coinbase.grants.map((name) => granted[name])
  const value = withGranted(evaluator, tokens, () =>
    asValue(callCoin(evaluator, 'coinbase', [miner.account, guardOf(miner), reward])),
  )
  return { value, events: evaluator.transaction.events }
}

/**
 * Reward in coins of a block at this height of one of `chains` chains: the table of the network by height, divided
 * among its chains (PROTOCOL.md E.4).
 * @throws RangeError for genesis blocks
 */
export function rewardAt(height: bigint, chains: number): Decimal {
  const all = new Decimal(rewardUnitsAt(height), REWARD_PLACES)
  return all
    .div(Decimal.of(BigInt(chains)))
    .round(COIN_PLACES)
    .normalise()
}
